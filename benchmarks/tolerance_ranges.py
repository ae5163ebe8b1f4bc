"""Outputs over many orders of magnitude (probabilities, powers): right engines called wrong, and wrong quiet elements that are seen.

`python benchmarks/tolerance_ranges.py [--seeds FIRST LAST]`. Each seed is a small network before one of ten ends, with 20 to 3000
outputs and weights of one of five sizes; ONNX Runtime and OpenVINO in float32 are right. What ONNX Runtime answers is then made wrong where
it is quiet: two columns exchanged, one zeroed, all below a quantile zeroed, or a hundredth too large.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper, numpy_helper

from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs

Array = np.ndarray[Any, Any]
ENDS: dict[str, str] = {
    "softmax": "y = Softmax<axis = -1>(m)",
    "exp": "y = Exp(m)",
    "sigmoid": "y = Sigmoid(m)",
    "power": "y = Pow(m, six)",
    "eighth": "p = Mul(m, m) q = Mul(p, p) y = Mul(q, q)",
    "relu and power": "p = Relu(m) y = Pow(p, five)",
    "reciprocal": "p = Exp(m) y = Reciprocal(p)",
    "masked softmax": "p = Add(m, mask) y = Softmax<axis = -1>(p)",
    "exp and what it is of": "p = Exp(m) y = Sub(p, m)",
    "product of two": "p = Softmax<axis = -1>(m) q = Softmax<axis = -1>(l) r = Mul(p, q) y = Add(r, little)",
}
"""Behind `l`, a product with weights, and `m`, the same with a bias."""
QUANTILES = (0.1, 0.3, 0.5)


def network(end: str, seed: int) -> tuple[onnx.ModelProto, list[Array]]:
    random = np.random.default_rng(seed)
    outputs, batch = int(random.choice([20, 100, 500, 3000])), int(random.choice([1, 4]))
    size = float(random.choice([0.2, 0.4, 0.6, 1.0, 2.0]))
    stored: dict[str, Array] = {
        "w": random.normal(size=(32, 32)) / 4,
        "v": random.normal(size=(32, outputs)) * size,
        "bias": random.normal(size=outputs) * size,
        "mask": np.where(random.uniform(size=outputs) < 0.3, -30.0, 0.0),
        "five": np.array(5.0),
        "six": np.array(6.0),
        "little": np.array(1e-12),
    }
    nodes = onnx.parser.parse_graph(
        "g (float[N] x) => (float[N] y) { a = MatMul(x, w) b = Relu(a) l = MatMul(b, v) m = Add(l, bias) "
        + ENDS[end]
        + " }"
    ).node
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (batch, 32))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (batch, outputs))],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in stored.items() if name in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return model, [random.normal(size=(batch, 32)).astype(np.float32) for _ in range(2)]


def by_onnxruntime(model: onnx.ModelProto, samples: list[Array]) -> list[Array]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return [session.run(None, {"x": sample})[0] for sample in samples]


def by_openvino(model: onnx.ModelProto, samples: list[Array]) -> list[Array]:
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    return [compiled([sample])[0] for sample in samples]


def wrong(answers: list[Array]) -> Iterator[tuple[str, list[Array]]]:
    """Answers in which something changes: there are none where what is quiet is zero anyway."""
    sizes = np.abs(np.concatenate(answers))
    order = np.argsort(sizes.mean(axis=0))
    for quantile in QUANTILES:
        column, next_column = (int(order[int(quantile * order.size) + more]) for more in (0, 1))
        below = float(np.quantile(sizes, quantile))
        exchanged, zeroed = ([answer.copy() for answer in answers] for _ in range(2))
        for mine, other, answer in zip(exchanged, zeroed, answers, strict=True):
            mine[:, [column, next_column]] = answer[:, [next_column, column]]
            other[:, column] = 0.0
        yield "exchanged", exchanged
        yield "zeroed", zeroed
        yield "all below zeroed", [np.where(np.abs(answer) < below, 0.0, answer) for answer in answers]
        yield "a hundredth too large", [np.where(np.abs(answer) < below, 1.01 * answer, answer) for answer in answers]


def budget(answers: list[Array], tolerance: DerivedTolerance) -> float:
    return float(judge_outputs([{"y": answer} for answer in answers], None, tolerance)["y"].metrics["budget_used"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 20), metavar=("FIRST", "LAST"))
    seeds = range(*parser.parse_args().seeds)
    engines: tuple[Callable[[onnx.ModelProto, list[Array]], list[Array]], ...] = (by_onnxruntime, by_openvino)
    for end in ENDS:
        right, seen, tried = [], Counter[str](), Counter[str]()
        for seed in seeds:
            model, samples = network(end, seed)
            tolerance = derive_model(model, [{"x": sample} for sample in samples], "float32")
            answers = [engine(model, samples) for engine in engines]
            right += [budget(answer, tolerance) for answer in answers]
            for kind, changed in wrong(answers[0]):
                if any((one != other).any() for one, other in zip(changed, answers[0], strict=True)):
                    tried[kind] += 1
                    seen[kind] += budget(changed, tolerance) > 1.0
        figures = ", ".join(f"{kind} {seen[kind]}/{count}" for kind, count in tried.items())
        alarms = sum(used > 1.0 for used in right)
        print(
            f"{end}: {len(right)} right, {alarms} called wrong, largest budget {max(right):.2f}; seen: {figures}",
            flush=True,
        )


if __name__ == "__main__":
    main()
