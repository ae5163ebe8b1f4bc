"""The oracle on a convolution net of 25 million parameters at 224x224, and what deriving its tolerance costs beside it.

`python benchmarks/tolerance_oracle.py`. The net has the shape of the residual network of 50 layers (He et al. 2015), weights
drawn from a seed. Wall and processor seconds; the goal is below 60 s for the oracle on two cores.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.tolerance.derive import derive_model


class _Builder:
    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.parameters = 0

    def weight(self, array: np.ndarray[Any, Any]) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        self.parameters += array.size
        return name

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=f"{operator}_{name}", **attributes))
        return name

    def convolution(self, x: str, into: int, out: int, size: int, stride: int, *, relu: bool = True) -> str:
        scale = np.sqrt(2.0 / (into * size * size))
        kernel = self.weight(self.random.standard_normal((out, into, size, size)) * scale)
        y = self.node("Conv", [x, kernel], kernel_shape=[size] * 2, strides=[stride] * 2, pads=[size // 2] * 4)
        parameters = [1 + 0.1 * self.random.standard_normal(out) for _ in range(2)]
        names = [self.weight(array) for array in (parameters[0], 0.1 * self.random.standard_normal(out))]
        names += [self.weight(array) for array in (0.1 * self.random.standard_normal(out), np.abs(parameters[1]))]
        y = self.node("BatchNormalization", [y, *names])
        return self.node("Relu", [y]) if relu else y


def residual_50(seed: int) -> tuple[onnx.ModelProto, int]:
    """1x3x224x224 to 1,000 scores."""
    b = _Builder(seed)
    x = b.convolution("x", 3, 64, 7, 2)
    x = b.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    into = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            y = b.convolution(x, into, width, 1, 1)
            y = b.convolution(y, width, width, 3, step)
            y = b.convolution(y, width, 4 * width, 1, 1, relu=False)
            side = b.convolution(x, into, 4 * width, 1, step, relu=False) if block == 0 else x
            x = b.node("Relu", [b.node("Add", [y, side])])
            into = 4 * width
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x])])
    last = b.weight(b.random.standard_normal((1000, into)) / np.sqrt(into))
    b.nodes.append(helper.make_node("Gemm", [x, last, b.weight(np.zeros(1000))], ["y"], transB=1))
    graph = helper.make_graph(
        b.nodes,
        "residual",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 224, 224])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1000])],
        b.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), b.parameters


def main() -> None:
    model, parameters = residual_50(50)
    x = np.random.default_rng(1).standard_normal((1, 3, 224, 224)).astype(np.float32)
    print(f"{parameters / 1e6:.1f} million parameters, {len(model.graph.node)} nodes")
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    wall, cpu = time.perf_counter(), time.process_time()
    WideEvaluator(copy).evaluate({"x": x.astype(np.float64)})
    oracle = time.process_time() - cpu
    print(f"oracle: {time.perf_counter() - wall:.1f} s, {oracle:.1f} s of processor time")
    wall, cpu = time.perf_counter(), time.process_time()
    profile = derive_model(model, [{"x": x}], "float32")
    spent = time.process_time() - cpu
    print(
        f"derivation: {time.perf_counter() - wall:.1f} s, {spent:.1f} s of processor time, {spent / oracle:.1f} times the "
        f"oracle; { ({name: round(value, 1) for name, value in profile.header.seconds.items()}) }"
    )
    print(f"self-test: {[(attempt.defect, round(attempt.budget, 1)) for attempt in profile.header.selftest]}")


if __name__ == "__main__":
    main()
