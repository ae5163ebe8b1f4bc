"""What other libraries answer, called directly and without Assay: what the verdicts of `real_models.py` are compared with."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Feed = dict[str, Array]

VACUOUS = 1e-9
"""Relative L2 distance within which answers to other inputs are the same answers."""


def independent(path: Path, feeds: Sequence[Feed]) -> dict[str, list[Feed]]:
    """By library: ONNX Runtime without optimisation and OpenVINO without dynamic quantization; where one of them cannot, the
    reference evaluator of the package `onnx`, too."""
    answers: dict[str, list[Feed]] = {}
    evaluators: dict[str, Callable[[Path, Sequence[Feed]], list[Feed]]] = {
        "onnxruntime": by_onnxruntime, "openvino": by_openvino, "onnx": by_onnx,
    }  # fmt: skip
    for peer, evaluate in evaluators.items():
        if len(answers) == 2:
            break
        try:
            answers[peer] = evaluate(path, feeds)
        except Exception as error:  # noqa: BLE001 - whatever a runtime raises: then it is no witness
            print(f"  {peer} cannot: {' '.join(str(error).split())[:120]}", file=sys.stderr)
    return answers


def by_onnxruntime(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return [dict(zip(names, session.run(None, feed), strict=True)) for feed in feeds]


def by_openvino(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import onnx
    import openvino

    options = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    compiled = openvino.Core().compile_model(str(path), "CPU", options)
    names = [value.name for value in onnx.load(str(path), load_external_data=False).graph.output]
    ports = [next(name for name in port.names if name in feeds[0]) for port in compiled.inputs]
    answers = []
    for feed in feeds:
        given = compiled([feed[name] for name in ports])
        answers.append({name: np.array(given[place]) for place, name in enumerate(names)})
    return answers


def by_onnx(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = onnx.load(str(path))
    opset = next((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), 1)
    evaluator = ReferenceEvaluator(model, new_ops=_grids() if opset < GRIDS_IN_ONNX else None)
    return [dict(zip(evaluator.output_names, evaluator.run(None, feed), strict=True)) for feed in feeds]


GRIDS_IN_ONNX = 19
"""From this opset on the reference evaluator knows QuantizeLinear and DequantizeLinear (onnx 1.23)."""


def _grids() -> list[Any]:
    """Both as the standard defines them before that, in numpy."""
    from onnx.reference.op_run import OpRun

    def along(parameter: Array, x: Array, axis: int) -> Array:
        return (
            parameter.reshape([-1 if at == axis % x.ndim else 1 for at in range(x.ndim)])
            if parameter.size > 1
            else parameter
        )

    class QuantizeLinear(OpRun):  # type: ignore[misc]
        def _run(self, x: Array, scale: Array, zero: Array | None = None, axis: int = 1, **_: Any) -> tuple[Array]:
            zero = np.zeros(scale.shape, np.uint8) if zero is None else zero
            ends = np.iinfo(zero.dtype)
            steps = np.rint(x / along(scale, x, axis)) + along(zero.astype(np.float32), x, axis)
            return (np.clip(steps, ends.min, ends.max).astype(zero.dtype),)

    class DequantizeLinear(OpRun):  # type: ignore[misc]
        def _run(self, x: Array, scale: Array, zero: Array | None = None, axis: int = 1, **_: Any) -> tuple[Array]:
            start = 0 if zero is None else along(zero.astype(np.int64), x, axis)
            return (((x.astype(np.int64) - start) * along(scale, x, axis)).astype(scale.dtype),)

    return [QuantizeLinear, DequantizeLinear]


def rounded(path: Path, feeds: Sequence[Feed], precision: str) -> tuple[float | None, float | None]:
    """How far the answers move, by ONNX Runtime in float32, where every weight is rounded to that type and nothing else is, and where
    every value that a node gives may be rounded as well: the most of it over four GRIDS, since one rounding is one of many. A weight is
    an initializer or the value of a Constant node, in the graph and in its branches and bodies."""
    if precision not in SIGNIFICANT_BITS:
        return None, None
    exact = by_onnxruntime(path, feeds)
    pairs = [_rounded_on(grid, path, feeds, precision, exact) for grid in GRIDS]
    weights, values = ([one for one in side if one is not None] for side in zip(*pairs, strict=True))
    return max(weights, default=None), max([*weights, *values], default=None) if values else None


def _rounded_on(
    grid: float, path: Path, feeds: Sequence[Feed], precision: str, exact: Sequence[Feed]
) -> tuple[float | None, float | None]:
    import onnx

    model = onnx.load(str(path))
    for tensor in _constants(model.graph):
        _round_weight(tensor, precision, grid)
    weights = _moved(model, feeds, exact)
    try:
        model = onnx.shape_inference.infer_shapes(model)
    except Exception:  # noqa: BLE001 - whatever the inference raises: values without a known type are not rounded
        return weights, None
    _round_values(model.graph, precision, grid)
    return weights, _moved(model, feeds, exact)


SIGNIFICANT_BITS = {"float16": 11, "bfloat16": 8}
GRIDS = (1.0, 1.1, 1.3, 1.7)
"""A value is rounded as so many times itself, and divided again: as coarsely, and elsewhere."""


def _moved(model: Any, feeds: Sequence[Feed], exact: Sequence[Feed]) -> float | None:
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        try:
            return apart(by_onnxruntime(Path(file.name), feeds), exact)
        except Exception:  # noqa: BLE001 - a weight that overflows, or what a runtime raises: then it is no witness
            return None


def _round_weight(tensor: Any, precision: str, grid: float) -> None:
    import ml_dtypes
    import onnx
    from onnx import numpy_helper

    kinds: dict[str, Any] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
    if tensor.data_type == onnx.TensorProto.FLOAT:
        weights = (numpy_helper.to_array(tensor) * np.float32(grid)).astype(kinds[precision]).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(np.asarray(weights / np.float32(grid)), tensor.name))


def _round_values(graph: Any, precision: str, grid: float) -> None:
    """After each node, what it gives in float32 is rounded to so many bits: c x - (c x - x), c = 2 ** (24 - bits) + 1 (Dekker 1971,
    Numer. Math. 18, 224, splitting of Veltkamp). Subnormals and overflow of the type are not modelled."""
    import onnx
    from onnx import helper, numpy_helper

    float32 = onnx.TensorProto.FLOAT
    typed = {value.name for value in [*graph.value_info, *graph.output] if value.type.tensor_type.elem_type == float32}
    factor, scale = f"{graph.name}.split.factor", f"{graph.name}.split.grid"
    stored = {factor: 2 ** (24 - SIGNIFICANT_BITS[precision]) + 1, scale: grid}
    nodes = [
        helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, np.float32)))
        for name, value in stored.items()
    ]
    for node in graph.node:
        nodes.append(node)
        for attribute in node.attribute:
            for body in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                _round_values(body, precision, grid)
        for place, name in enumerate(node.output):
            if name in typed and node.op_type != "Constant":
                given, wide, scaled, rest, near = (
                    f"{name}.{part}" for part in ("exact", "wide", "scaled", "rest", "near")
                )
                node.output[place] = given
                nodes += [
                    helper.make_node("Mul", [given, scale], [wide]),
                    helper.make_node("Mul", [wide, factor], [scaled]),
                    helper.make_node("Sub", [scaled, wide], [rest]),
                    helper.make_node("Sub", [scaled, rest], [near]),
                    helper.make_node("Div", [near, scale], [name]),
                ]
    del graph.node[:]
    graph.node.extend(nodes)


def _constants(graph: Any) -> Iterator[Any]:
    """Every stored tensor of the graph: initializers, values of Constant nodes, and those of its subgraphs."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                yield attribute.t
            for body in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                yield from _constants(body)


def nearest(own: Sequence[Feed], peers: dict[str, list[Feed]]) -> tuple[float | None, str]:
    """The smallest over the peers of the largest distance of any output, and that peer."""
    if not own or not peers:
        return None, ""
    return min((apart(own, answers), peer) for peer, answers in peers.items())


def apart(own: Sequence[Feed], other: Sequence[Feed]) -> float:
    """Relative L2 distance, the largest over outputs; infinite for other names or sizes."""
    worst = 0.0
    for name in own[0]:
        square = norm = 0.0
        for mine, theirs in zip(own, other, strict=True):
            if name not in theirs or mine[name].shape != theirs[name].shape:
                return float("inf")
            a, b = mine[name].astype(np.float64), theirs[name].astype(np.float64)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            with np.errstate(invalid="ignore"):
                square += float(np.sum(np.where(same, 0.0, a - b) ** 2))
            norm += float(np.nansum(b**2))
        worst = max(worst, (square / norm) ** 0.5 if norm else float(square > 0))
    return worst


def vacuous(path: Path, feeds: Sequence[Feed], peers: dict[str, list[Feed]]) -> bool:
    """Whether other inputs have the same answers, by an independent engine: then agreement proves nothing."""
    if not peers:
        return False
    peer = next(iter(peers))
    evaluate = {"onnxruntime": by_onnxruntime, "openvino": by_openvino, "onnx": by_onnx}[peer]
    try:
        return apart(evaluate(path, [_altered(feed) for feed in feeds]), peers[peer]) <= VACUOUS
    except Exception:  # noqa: BLE001 - other inputs need not be ones that the model takes
        return False


def _altered(feed: Feed) -> Feed:
    """Real numbers at 0.7 of their size, whole ones in the reverse order: each stays within the range of all."""
    return {
        name: array * array.dtype.type(0.7) if array.dtype.kind == "f" else array[..., ::-1].copy() if array.ndim else array
        for name, array in feed.items()
    }  # fmt: skip
