"""Small sound models of many kinds: what mutations start from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import ModelProto, numpy_helper

from assay.testing.broken_models.craft import HEAD, external, loop, text, with_weight


def _convolution() -> ModelProto:
    model = text(
        "g (float[N,3,8,8] x) => (float[N,4] y) <int64[2] s = {-1, 4}> { [c] h = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w, b) "
        '[r] a = Relu(h) [p] p = MaxPool<kernel_shape = [2, 2], auto_pad = "SAME_UPPER">(a) [g] q = GlobalAveragePool(p) '
        "[f] y = Reshape(q, s) }"
    )
    draw = np.random.default_rng(1)
    for name, shape in (("w", (4, 3, 3, 3)), ("b", (4,))):
        model.graph.initializer.append(numpy_helper.from_array(draw.normal(size=shape).astype(np.float32), name))
    return model


def _quantized() -> ModelProto:
    return text(
        "g (float[N,3] x) => (float[N,3] y) <float[3] s = {0.1, 0.2, 0.3}, uint8[3] z = {0, 128, 255}> "
        "{ [q] h = QuantizeLinear<axis = 1>(x, s, z) [d] y = DequantizeLinear<axis = 1>(h, s, z) }"
    )


def _branches() -> ModelProto:
    return text(
        "g (bool c, float[2] x) => (float[2] y) { [if] y = If<then_branch = t () => (float[2] p) { [a] p = Relu(x) }, "
        "else_branch = e () => (float[2] q) { [b] q = Neg(x) }>(c) }"
    )


def _shapes() -> ModelProto:
    return text(
        "g (float[N,4] x) => (float[a,b] y) <int64 i = {1}, int64[1] axes = {0}, int64[1] minus = {-1}> { [s] s = Shape(x) "
        "[g] n = Gather<axis = 0>(s, i) [u] u = Unsqueeze(n, axes) [c] t = Concat<axis = 0>(minus, u) [r] y = Reshape(x, t) }"
    )


def _function() -> ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F<slope = 0.5>(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F <slope> (a) => (b) { [f] b = LeakyRelu<alpha: float = @slope>(a) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


def _recurrent() -> ModelProto:
    return text(
        "g (float[T,N,3] x, float[1,8,3] w, float[1,8,2] r) => (float[a,b,c,d] y) { [l] y = LSTM<hidden_size = 2>(x, w, r) }"
    )


def good_models(folder: Path) -> list[Path]:
    """Written into `folder`, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    models = {
        "convolution": _convolution(),
        "quantized": _quantized(),
        "branches": _branches(),
        "shapes": _shapes(),
        "function": _function(),
        "recurrent": _recurrent(),
        "loop": loop("int64 trips = {10}, bool yes = {1}", "trips, yes"),
        "weight": with_weight(np.ones((2, 3), np.float32)),
        "external": external(folder, "w.bin", offset="0", length="24"),
    }
    paths = []
    for name, model in models.items():
        paths.append(folder / f"{name}.onnx")
        paths[-1].write_bytes(model.SerializeToString())
    return paths
