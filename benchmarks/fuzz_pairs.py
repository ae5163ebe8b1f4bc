"""Which operators does an optimiser rewrite together? The data that `assay.generators.near_misses` draws from.

Of each ordered pair of forms the graph before and after the optimiser of ONNX Runtime is compared by its counts of operators; what each
operator becomes alone is taken off. Prints JSON:

    python benchmarks/fuzz_pairs.py > packages/assay/src/assay/generators/data/rewritten_pairs.json
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import onnx

from assay import plugins
from assay.generators.build import Build
from assay.generators.compose import finished, grow
from assay.generators.draws import Draws
from assay.generators.operators import forms
from assay.generators.schemas import NotMade

OPSETS = (12, 13, 17, 21)
DRAWS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
OPERATORS = (
    *(
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Pow",
        "Sqrt",
        "Neg",
        "Abs",
        "Exp",
        "Log",
        "Erf",
        "Tanh",
        "Sigmoid",
        "Relu",
        "LeakyRelu",
        "Clip",
        "Gelu",
    ),
    *(
        "Softmax",
        "LogSoftmax",
        "ReduceMean",
        "ReduceSum",
        "ReduceMax",
        "LayerNormalization",
        "BatchNormalization",
        "InstanceNormalization",
    ),
    *(
        "MatMul",
        "Gemm",
        "Conv",
        "ConvTranspose",
        "MaxPool",
        "AveragePool",
        "GlobalAveragePool",
        "Pad",
        "Resize",
        "Transpose",
        "Reshape",
    ),
    *(
        "Flatten",
        "Squeeze",
        "Unsqueeze",
        "Concat",
        "Split",
        "Slice",
        "Gather",
        "Expand",
        "Tile",
        "Where",
        "Cast",
        "Shape",
        "Identity",
    ),
    *(
        "Dropout",
        "Not",
        "And",
        "Equal",
        "Less",
        "Greater",
        "ArgMax",
        "TopK",
        "DepthToSpace",
        "SpaceToDepth",
        "CumSum",
        "Einsum",
        "HardSwish",
    ),
    *(
        "Elu",
        "PRelu",
        "Softplus",
        "HardSigmoid",
        "Mish",
        "Sum",
        "Min",
        "Max",
        "Mean",
        "QuantizeLinear",
        "DequantizeLinear",
        "ScatterND",
    ),
)
"""Those that fusions and eliminations speak of, with their kin."""


def main() -> None:
    flow = plugins.find_flow("onnxruntime-extended")
    backend = plugins.load("assay.backends", "onnxruntime")()
    backend.prepare()
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    names = [name for name in forms() if name in OPERATORS]
    alone: dict[str, set[tuple[tuple[str, int], ...]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)

        def effect(operators: list[str], draw: int) -> tuple[tuple[str, int], ...] | None:
            draws = Draws("pairs", 1, draw, 0)
            build = Build(draws, OPSETS[draw % len(OPSETS)], reuse=100)
            left = iter(operators)
            try:
                made = grow(build, len(operators), lambda *_: next(left))
                case = finished(build, made, 0)
            except (NotMade, StopIteration):
                return None
            model = onnx.load_from_string(case.model)
            before = Counter(node.op_type for node in model.graph.node)
            if len(model.graph.node) != len(operators) or (len(operators) == 2 and not _reads(model)):
                return None
            (place / "m.onnx").write_bytes(case.model)
            try:
                after = onnx.load(str(backend.after_passes(place / "m.onnx", flow, place)))
            except Exception:  # noqa: BLE001  a form that it does not take
                return None
            after_count = Counter(node.op_type for node in after.graph.node)
            keys = sorted({*before, *after_count})
            return tuple((key, after_count[key] - before[key]) for key in keys if after_count[key] != before[key])

        for name in names:
            alone[name] = {result for draw in range(DRAWS) if (result := effect([name], draw)) is not None}
        after: dict[str, list[str]] = {}
        for first in names:
            for second in names:
                for draw in range(DRAWS):
                    result = effect([first, second], draw)
                    if result and result not in _sums(alone[first], alone[second]):
                        after.setdefault(first, []).append(second)
                        break
    lines = (f"  {json.dumps(first)}: {json.dumps(seconds)}" for first, seconds in sorted(after.items()))
    print("{\n" + ",\n".join(lines) + "\n}")


def _reads(model: onnx.ModelProto) -> bool:
    first, second = model.graph.node
    return any(name in first.output for name in second.input)


def _sums(
    first: set[tuple[tuple[str, int], ...]], other: set[tuple[tuple[str, int], ...]]
) -> set[tuple[tuple[str, int], ...]]:
    together = set(first) | set(other)
    for mine in first:
        for theirs in other:
            total = Counter(dict(mine))
            for key, count in theirs:
                total[key] += count
            together.add(tuple((key, total[key]) for key in sorted(total) if total[key]))
    return together


if __name__ == "__main__":
    main()
