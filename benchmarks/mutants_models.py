"""Small seeded float32 models of the usual families, for the benchmarks of the gate. Opset 20, batch 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]


class Builder:
    """A graph written down from its input to its output; weights from one seed, scaled so that activations keep their size."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: dict[str, Array] = {}

    def constant(self, array: Array) -> str:
        name = f"k{len(self.weights)}"
        self.weights[name] = array
        return name

    def weight(self, *shape: int, fan: int = 0) -> str:
        fan = fan or int(np.prod(shape[1:])) or 1
        return self.constant((self.rng.normal(size=shape) * np.sqrt(1.6 / fan)).astype(np.float32))

    def around(self, size: int, centre: float = 0.0) -> str:
        return self.constant((centre + 0.1 * self.rng.normal(size=size)).astype(np.float32))

    def numbers(self, *values: int) -> str:
        return self.constant(np.asarray(values, np.int64))

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        stem = f"v{len(self.nodes)}"
        names = [stem, *(f"{stem}_{n}" for n in range(1, outputs))]
        self.nodes.append(
            helper.make_node(kind, list(inputs), names, name=f"{kind.lower()}{len(self.nodes)}", **attributes)
        )
        return stem

    def conv(self, x: str, ins: int, outs: int, size: int = 3, group: int = 1, axes: int = 2, **attributes: Any) -> str:
        w = self.weight(outs, ins // group, *([size] * axes))
        pads = [size // 2] * 2 * axes
        return self.add("Conv", x, w, self.around(outs), pads=pads, group=group, **attributes)

    def norm(self, x: str, size: int) -> str:
        variance = self.constant((1 + 0.3 * self.rng.random(size)).astype(np.float32))
        return self.add("BatchNormalization", x, self.around(size, 1.0), self.around(size), self.around(size), variance)

    def linear(self, x: str, ins: int, outs: int) -> str:
        return self.add("Add", self.add("MatMul", x, self.weight(ins, outs, fan=ins)), self.around(outs))

    def layer_norm(self, x: str, size: int) -> str:
        return self.add("LayerNormalization", x, self.around(size, 1.0), self.around(size))

    def done(self, result: str, shape: list[int]) -> ModelProto:
        graph = helper.make_graph(
            [*self.nodes, helper.make_node("Identity", [result], ["y"])], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(array, name) for name, array in self.weights.items()],
        )  # fmt: skip
        import onnx

        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        made = onnx.shape_inference.infer_shapes(made, data_prop=True)
        del made.graph.value_info[:]
        onnx.checker.check_model(made)
        return made


def residual(seed: int) -> ModelProto:
    b = Builder(seed)
    x = b.add("Relu", b.norm(b.conv("x", 3, 16), 16))
    for _ in range(6):
        inner = b.add("Relu", b.norm(b.conv(x, 16, 16), 16))
        x = b.add("Relu", b.add("Add", b.norm(b.conv(inner, 16, 16), 16), x))
    x = b.add("GlobalAveragePool", b.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    return b.done(b.linear(b.add("Flatten", x), 16, 10), [1, 3, 16, 16])


def depthwise(seed: int) -> ModelProto:
    b = Builder(seed)
    x = b.conv("x", 3, 16)
    for _ in range(4):
        x = b.add("HardSwish", b.norm(b.conv(x, 16, 16, group=16), 16))
        x = b.add("HardSwish", b.norm(b.conv(x, 16, 16, size=1), 16))
        gate = b.conv(b.add("Relu", b.conv(b.add("GlobalAveragePool", x), 16, 4, size=1)), 4, 16, size=1)
        x = b.add("Mul", x, b.add("HardSigmoid", gate))
    return b.done(b.linear(b.add("Flatten", b.add("GlobalAveragePool", x)), 16, 10), [1, 3, 16, 16])


def transformer(seed: int, length: int = 12, width: int = 32, heads: int = 4, layers: int = 3) -> ModelProto:
    b = Builder(seed)
    x = b.add("Add", "x", b.weight(length, width, fan=4))
    mask = b.constant(np.triu(np.full((length, length), -1e4, np.float32), 1))
    scale = b.constant(np.asarray((width // heads) ** 0.5, np.float32))
    root, one, half = (b.constant(np.asarray(v, np.float32)) for v in (2**0.5, 1.0, 0.5))
    split, join = b.numbers(0, 0, heads, width // heads), b.numbers(0, 0, width)
    for _ in range(layers):
        h = b.layer_norm(x, width)
        q, k, v = (b.add("Reshape", b.linear(h, width, width), split) for _ in range(3))
        q, v = (b.add("Transpose", one_, perm=[0, 2, 1, 3]) for one_ in (q, v))
        scores = b.add("Div", b.add("MatMul", q, b.add("Transpose", k, perm=[0, 2, 3, 1])), scale)
        mixed = b.add("MatMul", b.add("Softmax", b.add("Add", scores, mask), axis=-1), v)
        mixed = b.add("Reshape", b.add("Transpose", mixed, perm=[0, 2, 1, 3]), join)
        x = b.add("Add", x, b.linear(mixed, width, width))
        h = b.linear(b.layer_norm(x, width), width, 4 * width)
        erf = b.add("Add", b.add("Erf", b.add("Div", h, root)), one)
        x = b.add("Add", x, b.linear(b.add("Mul", b.add("Mul", h, erf), half), 4 * width, width))
    return b.done(b.layer_norm(x, width), [1, length, width])


def unet(seed: int) -> ModelProto:
    b = Builder(seed)
    twice = b.constant(np.asarray([1, 1, 2, 2], np.float32))
    top = b.add("LeakyRelu", b.norm(b.conv("x", 3, 8), 8), alpha=0.1)
    low = b.add("AveragePool", top, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    low = b.add("LeakyRelu", b.norm(b.conv(low, 8, 16), 16), alpha=0.1)
    up = b.add("Resize", low, "", twice, mode="linear")
    back = b.add("ConvTranspose", low, b.weight(16, 8, 2, 2, fan=64), b.around(8), strides=[2, 2], kernel_shape=[2, 2])
    joined = b.add("Concat", top, back, b.conv(up, 16, 8), axis=1)
    return b.done(b.conv(b.add("Relu", b.norm(b.conv(joined, 24, 8), 8)), 8, 4, size=1), [1, 3, 16, 16])


def audio(seed: int) -> ModelProto:
    b = Builder(seed)
    x = b.add("Elu", b.conv("x", 1, 8, size=5, axes=1, strides=[2]))
    for dilation in (1, 2, 4):
        w = b.weight(8, 8, 3)
        h = b.add("Conv", x, w, b.around(8), pads=[dilation, dilation], dilations=[dilation])
        x = b.add("Add", x, b.add("Tanh", b.add("InstanceNormalization", h, b.around(8, 1.0), b.around(8))))
    x = b.add("ReduceMean", x, b.numbers(2), keepdims=0)
    return b.done(b.add("LogSoftmax", b.linear(x, 8, 12), axis=-1), [1, 1, 64])


def recurrent(seed: int, length: int = 10, width: int = 16) -> ModelProto:
    b = Builder(seed)
    w, r = b.weight(1, 4 * width, 8, fan=8), b.weight(1, 4 * width, width, fan=width)
    y = b.add(
        "LSTM", "x", w, r, b.constant((0.1 * b.rng.normal(size=(1, 8 * width))).astype(np.float32)), hidden_size=width
    )
    y = b.add("Squeeze", y, b.numbers(1))
    w, r = b.weight(1, 3 * width, width, fan=width), b.weight(1, 3 * width, width, fan=width)
    y = b.add(
        "GRU", y, w, r, b.constant((0.1 * b.rng.normal(size=(1, 6 * width))).astype(np.float32)), hidden_size=width
    )
    return b.done(b.linear(b.add("Squeeze", y, b.numbers(1)), width, 6), [length, 1, 8])


def mixer(seed: int, patches: int = 16, width: int = 24) -> ModelProto:
    b = Builder(seed)
    x = b.linear("x", width, width)
    for _ in range(3):
        h = b.add("Transpose", b.layer_norm(x, width), perm=[0, 2, 1])
        h = b.linear(b.add("Gelu", b.linear(h, patches, 32)), 32, patches)
        x = b.add("Add", x, b.add("Transpose", h, perm=[0, 2, 1]))
        x = b.add("Add", x, b.linear(b.add("Gelu", b.linear(b.layer_norm(x, width), width, 48)), 48, width))
    return b.done(b.linear(b.add("ReduceMean", x, b.numbers(1), keepdims=0), width, 10), [1, patches, width])


def sampler(seed: int) -> ModelProto:
    b = Builder(seed)
    x = b.conv("x", 2, 6)
    grid = b.add("Tanh", b.add("Transpose", b.conv(x, 6, 2), perm=[0, 2, 3, 1]))
    y = b.add("GridSample", x, grid, mode="linear", padding_mode="zeros")
    weights = b.add("Softmax", b.conv(y, 6, 6), axis=1)
    return b.done(b.add("Clip", b.add("Mul", y, weights), b.constant(np.float32(-1.0)), b.constant(np.float32(1.5))),
                  [1, 2, 14, 14])  # fmt: skip


def products(seed: int, terms: int = 16384) -> ModelProto:
    """A long sum that is not scaled down, as a classifier over many features has it, and one of what came out."""
    b = Builder(seed)
    w = b.constant(b.rng.normal(size=(terms, 32)).astype(np.float32))
    y = b.add("MatMul", "x", w)
    return b.done(b.add("MatMul", y, b.constant(b.rng.normal(size=(32, 32)).astype(np.float32))), [16, terms])


MODELS: dict[str, Callable[[int], ModelProto]] = {
    build.__name__: build
    for build in (residual, depthwise, transformer, unet, audio, recurrent, mixer, sampler, products)
}
