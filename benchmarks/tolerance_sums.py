"""Products and convolutions of K terms, K from 16 to 65,536: correct kernels called wrong, one lost term and tf32 inputs caught.

`python benchmarks/tolerance_sums.py`. Kernels: ONNX Runtime and OpenVINO in float32, OpenVINO in bfloat16, and numpy sums
one after the other (the worst order) with float32 accumulation and inputs and outputs in float32, bfloat16 or float16.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement

Array = np.ndarray[Any, Any]
ROWS = 64
TYPES = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "float16": np.float16}


def product(terms: int, seed: int) -> tuple[onnx.ModelProto, Array, Array]:
    """x (64, K) times a stored (K, 64): 4,096 sums."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((ROWS, terms)).astype(np.float32)
    w = random.standard_normal((terms, ROWS)).astype(np.float32)
    return _model("MatMul", x, w, [ROWS, ROWS]), x, w


def convolution(terms: int, seed: int) -> tuple[onnx.ModelProto, Array, Array]:
    """A picture of K channels, a stored kernel of 1x1 (3x3 where K is a multiple of 9 would be another K): 4,096 sums."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((1, terms, 8, 8)).astype(np.float32)
    w = random.standard_normal((ROWS, terms, 1, 1)).astype(np.float32)
    return _model("Conv", x, w, [1, ROWS, 8, 8]), x, w


def _model(operator: str, x: Array, w: Array, shape: list[int]) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", "w"], ["y"])],
        "sum",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(x.shape))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(w, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def one_after_the_other(x: Array, w: Array, dtype: Any) -> Array:
    """Inputs in `dtype`, float32 sums in order, the result in `dtype`."""
    left, right = x.astype(dtype).astype(np.float32), w.astype(dtype).astype(np.float32)
    if x.ndim == 4:
        left, right = left.reshape(x.shape[1], 64).T, right.reshape(ROWS, -1).T
    total = np.zeros((left.shape[0], right.shape[1]), np.float32)
    for k in range(left.shape[1]):
        total += left[:, k, None] * right[None, k]
    total = total.astype(dtype).astype(np.float32)
    return total.T.reshape(1, ROWS, 8, 8) if x.ndim == 4 else total


def rounded(array: Array, bits: int) -> Array:
    mantissa, exponent = np.frexp(array.astype(np.float64))
    return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent).astype(np.float32)


def runtime(model: onnx.ModelProto, x: Array) -> Array:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    (y,) = onnxruntime.InferenceSession(model.SerializeToString(), settings).run(None, {"x": x})
    return np.asarray(y)


def openvino(precision: str) -> Callable[[onnx.ModelProto, Array], Array]:
    def run(model: onnx.ModelProto, x: Array) -> Array:
        import openvino as ov

        core = ov.Core()
        config = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 1}
        compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", config)
        return np.array(compiled([x])[0])

    return run


def lost_term(w: Array, convolution_: bool) -> Array:
    other = w.copy()
    other[(slice(None), -1) if convolution_ else -1] = 0
    return other


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=65536)
    most = parser.parse_args().most
    wrong = correct = 0
    caught: dict[str, list[int]] = {"lost term": [0, 0], "tf32 inputs": [0, 0]}
    print(f"{'operator':12} {'K':>6}  kernel: largest of norm/4, element/4, slice/6")
    for name, make in (("MatMul", product), ("Conv", convolution)):
        for terms in (16, 64, 256, 1024, 4096, 16384, 65536):
            if terms > most:
                continue
            model, x, w = make(terms, terms)
            line = []
            for precision in TYPES:
                profile = derive_model(model, [{"x": x}], precision)
                kernels: dict[str, Callable[[], Array]] = {
                    "in order": lambda: one_after_the_other(x, w, TYPES[precision])  # noqa: B023
                }
                if precision == "float32":
                    kernels |= {"ort": lambda: runtime(model, x), "openvino": lambda: openvino("f32")(model, x)}  # noqa: B023
                if precision == "bfloat16":
                    kernels |= {"openvino": lambda: openvino("bf16")(model, x)}  # noqa: B023
                for kernel, run in kernels.items():
                    judged = judge_outputs([{"y": run()}], None, profile)["y"]
                    correct += 1
                    wrong += _budget(judged) > 1
                    line.append(f"{precision} {kernel} {_budget(judged):.2f}")
                if precision != "float32":
                    continue
                for defect, y in (
                    ("lost term", runtime(make_with(name, x, lost_term(w, name == "Conv")), x)),
                    ("tf32 inputs", runtime(make_with(name, x, rounded(w, 11)), rounded(x, 11))),
                ):
                    caught[defect][1] += 1
                    caught[defect][0] += _budget(judge_outputs([{"y": y}], None, profile)["y"]) > 1
            print(f"{name:12} {terms:6}  {', '.join(line)}", flush=True)
    print(f"correct kernels called wrong: {wrong} of {correct}, 4,096 elements each")
    for defect, (caught_count, total) in caught.items():
        print(f"float32, {defect}: caught {caught_count} of {total}")


def make_with(operator: str, x: Array, w: Array) -> onnx.ModelProto:
    shape = [1, ROWS, 8, 8] if operator == "Conv" else [ROWS, ROWS]
    return _model(operator, x, w, shape)


def _budget(judged: OutputJudgement) -> float:
    return judged.metrics["budget_used"]


if __name__ == "__main__":
    main()
