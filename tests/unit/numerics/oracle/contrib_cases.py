"""Operators of com.microsoft with inputs and attributes, to be compared with unoptimised ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper, numpy_helper

from assay.ports import Tensor

_RANDOM = np.random.default_rng(20)


@dataclass(frozen=True)
class Case:
    """`fed` are inputs of the model, `stored` its initializers, None one that is left out; in the order of `order`."""

    operator: str
    inputs: tuple[Tensor | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    stored: tuple[int, ...] = ()
    outputs: tuple[str, ...] = ("Y",)
    opset: int = 17
    domain: str = "com.microsoft"
    declared: bool = False
    """Whether the model says its sizes; else they are left open."""

    def feeds(self) -> dict[str, Tensor]:
        return {f"x{at}": one for at, one in enumerate(self.inputs) if one is not None and at not in self.stored}

    def model(self) -> ModelProto:
        names = ["" if one is None else f"x{at}" for at, one in enumerate(self.inputs)]
        node = helper.make_node(self.operator, names, list(self.outputs), domain=self.domain, **self.attributes)
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape if self.declared else [None] * one.ndim
            )
            for name, one in self.feeds().items()
        ]
        stored = [numpy_helper.from_array(one, f"x{at}") for at in self.stored if (one := self.inputs[at]) is not None]
        outputs = [onnx.ValueInfoProto(name=name) for name in self.outputs if name]
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        graph = helper.make_graph([node], "case", inputs, outputs, stored)
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def real(*shape: int) -> Tensor:
    return _RANDOM.standard_normal(shape).astype(np.float32)


def whole(*shape: int, dtype: type = np.uint8) -> Tensor:
    info = np.iinfo(dtype)
    return _RANDOM.integers(info.min, info.max + 1, shape).astype(dtype)


def one(value: float, dtype: type = np.float32) -> Tensor:
    return np.array(value, dtype)


def cases() -> Iterator[Case]:
    yield from _activations()
    yield from _normalizations()
    yield from _attention()
    yield from _heads()
    yield from _rotary()
    yield from _grouped()
    yield from _tables()
    yield from _computed()
    yield from _products()
    yield from _few_bits()
    yield from _experts()
    yield from _quantized()
    yield from _pools()
    yield from _recurrent()
    yield from _moving()


def _activations() -> Iterator[Case]:
    for opset in (13, 17, 20):
        yield Case("Gelu", (real(3, 8),), opset=opset)
        yield Case("BiasGelu", (real(3, 8), real(8)), opset=opset)
        yield Case("FastGelu", (real(3, 8),), opset=opset)
        yield Case("FastGelu", (real(3, 8), real(8)), opset=opset)
    yield Case("QuickGelu", (real(3, 8),))
    yield Case("QuickGelu", (real(3, 8),), {"alpha": 1.0})


def _normalizations() -> Iterator[Case]:
    x, skip, scale, bias = real(2, 5, 16), real(2, 5, 16), real(16), real(16)
    for opset in (13, 17, 18):
        all_four = ("Y", "", "", "S")
        yield Case("SkipLayerNormalization", (x, skip, scale), opset=opset)
        yield Case(
            "SkipLayerNormalization", (x, skip, scale, bias, real(16)), {"epsilon": 0.1}, outputs=all_four, opset=opset
        )
        yield Case("SkipSimplifiedLayerNormalization", (x, skip, scale, bias), outputs=all_four, opset=opset)
        yield Case("SkipSimplifiedLayerNormalization", (x, skip, scale), {"epsilon": 0.1}, opset=opset)
        yield Case("SimplifiedLayerNormalization", (x, scale), {"axis": -1}, opset=opset, domain="")
        yield Case(
            "SimplifiedLayerNormalization", (x, real(5, 16)), {"axis": 1, "epsilon": 0.1}, opset=opset, domain=""
        )
        yield Case("LayerNormalization", (x, scale, bias), {"axis": 2}, opset=opset, domain="")
        yield Case("LayerNormalization", (x, scale, bias), outputs=("Y", "M", "I"), opset=opset, domain="")
        ids = np.array([[1, 2, 0], [3, 3, 1]], np.int32)
        tables = (real(6, 16), real(4, 16), real(2, 16))
        mask = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
        stored = (2, 3, 4, 5, 6)
        segmented = (ids, ids % 2, *tables, scale, bias, mask)
        yield Case("EmbedLayerNormalization", segmented, stored=stored, outputs=("Y", "M", "S"), opset=opset)
        placed = (ids, None, *tables[:2], None, scale, bias, None, ids)
        yield Case("EmbedLayerNormalization", placed, stored=stored, outputs=("Y", "M"), opset=opset)


def _attention() -> Iterator[Case]:
    """Two heads of four, rows of three tokens."""
    x, weights, bias, heads = real(2, 3, 6), real(6, 24), real(24), {"num_heads": 2}
    lengths, shown = np.array([2, 3], np.int32), np.array([[1, 1, 0], [1, 0, 1]], np.int32)
    square = np.array([[[1, 0, 0], [1, 1, 0], [1, 1, 1]]] * 2, np.int32)
    for mask in (None, shown, square):
        for causal in (0, 1):
            attributes = {**heads, "unidirectional": causal, "mask_filter_value": -50.0}
            yield Case("Attention", (x, weights, bias, mask), attributes, stored=(1, 2))
    yield Case("Attention", (x[:1], weights, bias, lengths[:1]), heads, stored=(1, 2))
    yield Case("Attention", (x, weights, bias, None, None, real(2, 2, 3, 3)), {**heads, "scale": 0.3}, stored=(1, 2))
    past = real(2, 2, 2, 4, 4)
    yield Case(
        "Attention", (x, weights, bias, None, past), {**heads, "unidirectional": 1}, stored=(1, 2), outputs=("Y", "P")
    )
    uneven = {**heads, "qkv_hidden_sizes": [8, 8, 4]}
    yield Case("Attention", (x, real(6, 20), real(20)), uneven, stored=(1, 2))
    for dtype in (np.uint8, np.int8):
        grids = (one(0.02), one(0.01), None, one(120, np.uint8), one(0 if dtype is np.int8 else 118, dtype))
        quantized = (whole(2, 3, 6), whole(6, 24, dtype=dtype), bias, *grids)
        yield Case("QAttention", quantized, heads, stored=(1, 2))
        yield Case("QAttention", (*quantized[:5], shown, *quantized[6:]), {**heads, "unidirectional": 1}, stored=(1, 2))


def _heads() -> Iterator[Case]:
    query, keys, values, heads = real(2, 3, 8), real(2, 5, 8), real(2, 5, 8), {"num_heads": 2}
    shown = np.array([[1, 1, 0, 1, 1], [1, 0, 1, 1, 0]], np.int32)
    yield Case("MultiHeadAttention", (query, keys, values), heads, declared=True)
    yield Case(
        "MultiHeadAttention", (query, keys, values, real(24)), {**heads, "scale": 0.5}, stored=(3,), declared=True
    )
    yield Case("MultiHeadAttention", (query, keys, values, None, shown), heads, declared=True)
    yield Case("MultiHeadAttention", (query, keys, values, None, None, real(2, 2, 3, 5)), heads, declared=True)
    yield Case("MultiHeadAttention", (query, real(2, 2, 5, 4), real(2, 2, 5, 4)), heads, declared=True)
    past = (real(2, 2, 4, 4), real(2, 2, 4, 4))
    same = (query, real(2, 3, 8), real(2, 3, 8), None, None, None, *past)
    for causal in (0, 1):
        attributes = {**heads, "unidirectional": causal}
        yield Case("MultiHeadAttention", same, attributes, outputs=("Y", "K", "V"), declared=True)


def _rotary() -> Iterator[Case]:
    tables = (real(9, 4), real(9, 4))
    placed, first = np.array([[0, 1, 2], [4, 2, 8]], np.int64), np.array([3], np.int64)
    for interleaved in (0, 1):
        attributes = {"interleaved": interleaved}
        for positions in (placed, first):
            yield Case("RotaryEmbedding", (real(2, 3, 16), positions, *tables), attributes, stored=(2, 3))
            yield Case("RotaryEmbedding", (real(2, 2, 3, 8), positions, *tables), attributes, stored=(2, 3))
    part = {"rotary_embedding_dim": 8, "num_heads": 2}
    yield Case("RotaryEmbedding", (real(2, 3, 24), placed, *tables), part, stored=(2, 3), declared=True)


def _grouped() -> Iterator[Case]:
    """Four heads of sixteen share two of keys and values; a prompt, then tokens behind a cache of four."""
    heads = {"num_heads": 4, "kv_num_heads": 2}
    outputs = ("Y", "K", "V")

    def inputs(new: int, before: int, lengths: list[int], *, packed: bool = False) -> tuple[Tensor | None, ...]:
        rows = len(lengths)
        sides = (real(rows, new, 128), None, None) if packed else tuple(real(rows, new, size) for size in (64, 32, 32))
        past = (real(rows, 2, before, 16), real(rows, 2, before, 16)) if before else (None, None)
        return (*sides, *past, np.array(lengths, np.int32), one(max(lengths) + 1, np.int32))

    tables = (real(9, 8), real(9, 8))
    for attributes in ({}, {"scale": 0.3, "softcap": 2.0}, {"local_window_size": 2}, {"causal": 0}):
        for given in (inputs(5, 0, [4, 4]), inputs(1, 4, [4, 4]), inputs(3, 4, [6], packed=True)):
            yield Case("GroupQueryAttention", given, {**heads, **attributes}, outputs=outputs, declared=True)
    # Rows of different lengths: the shorter one has places left.
    yield Case("GroupQueryAttention", inputs(1, 4, [2, 4]), heads, outputs=outputs, declared=True)
    for interleaved in (0, 1):
        turned = {**heads, "do_rotary": 1, "rotary_interleaved": interleaved}
        for given in (inputs(5, 0, [4, 4]), inputs(1, 4, [3, 4]), inputs(3, 4, [6], packed=True)):
            yield Case("GroupQueryAttention", (*given, *tables), turned, (7, 8), outputs=outputs, declared=True)
    for shape in ((1, 4, 3, 7), (1, 1, 3, 7)):
        added = (*inputs(3, 4, [6]), None, None, None, real(*shape))
        yield Case("GroupQueryAttention", added, heads, outputs=outputs, declared=True)
    for given in (inputs(5, 0, [4, 4]), inputs(1, 4, [2, 4]), inputs(3, 4, [6], packed=True)):
        sunk = (*given, *[None] * 4, real(4) + 1)
        yield Case("GroupQueryAttention", sunk, {**heads, "softcap": 2.0}, outputs=outputs, declared=True)
        yield Case("GroupQueryAttention", given, {**heads, "smooth_softmax": 1}, outputs=outputs, declared=True)


def _tables() -> Iterator[Case]:
    ids = np.array([[1, 2, 0], [3, 3, 1]], np.int32)
    for dtype in (np.uint8, np.int8):
        tables = tuple(whole(*shape, dtype=dtype) for shape in ((6, 16), (4, 16), (2, 16), (16,), (16,)))
        scales = tuple(one(0.01 * (at + 1)) for at in range(5))
        zeros = tuple(one(at, dtype) for at in range(5))
        mask = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
        outputs, stored = ("Y", "M"), tuple(at for at in range(2, 18) if at != 7)
        both = (ids, ids % 2, *tables, mask, *scales, *zeros)
        yield Case("QEmbedLayerNormalization", both, stored=stored, outputs=outputs)
        alone = (ids, None, *tables[:2], None, *tables[3:], None)
        rest = (*scales[:2], None, *scales[3:], *zeros[:2], None, *zeros[3:])
        yield Case("QEmbedLayerNormalization", (*alone, *rest), {"epsilon": 0.1}, stored=stored, outputs=outputs)
    places, packed, scales = np.array([[2, 0], [4, -1]], np.int64), whole(5, 16), real(5, 2)
    blocks = {"bits": 4, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    yield Case("GatherBlockQuantized", (packed, places, scales), blocks, stored=(0, 2))
    yield Case("GatherBlockQuantized", (packed, places, scales, whole(5, 1)), blocks, stored=(0, 2, 3))
    yield Case(
        "GatherBlockQuantized", (whole(5, 32), places, scales, whole(5, 2)), {**blocks, "bits": 8}, stored=(0, 2, 3)
    )
    yield Case("CDist", (real(4, 6), real(3, 6)), {"metric": "euclidean"})
    yield Case("CDist", (real(4, 6), real(3, 6)), {"metric": "sqeuclidean"})


def _computed() -> Iterator[Case]:
    """The larger diagonal makes the matrices far from singular."""
    yield Case("Inverse", (real(2, 3, 4, 4) + 3 * np.eye(4, dtype=np.float32),))
    inside = np.array([[0.11, 0.21, 0.8, 0.9], [0, 0, 1, 1], [0.72, 0.6, 0.2, 0.13]], np.float32)
    beyond = np.array([[-0.3, 0.2, 0.8, 1.4]], np.float32)
    for mode in ("bilinear", "nearest"):
        for regions, sizes in ((inside, (3, 4)), (beyond, (4, 3)), (inside, (1, 2))):
            batch = np.arange(len(regions), dtype=np.int32) % 2
            inputs = (real(2, 3, 6, 5), regions, batch, np.array(sizes, np.int32))
            yield Case("CropAndResize", inputs, {"mode": mode, "extrapolation_value": 2.5})


def _products() -> Iterator[Case]:
    for a, b, attributes in (
        (real(3, 4), real(4, 5), {"alpha": 0.5}),
        (real(4, 3), real(4, 5), {"transA": 1}),
        (real(2, 3, 4), real(2, 5, 4), {"transB": 1, "alpha": 2.0}),
        (real(6, 2, 3, 4), real(6, 2, 4, 5), {}),
        (real(3, 2, 4), real(2, 4, 5), {"transBatchA": 1}),
        (real(4, 2, 3), real(2, 4, 5), {"transBatchA": 1, "transA": 1}),
        (real(2, 3, 4), real(4, 2, 5), {"transBatchB": 1}),
        (real(2, 2, 3, 4), real(4, 2, 2, 5), {"transBatchB": 1}),
    ):
        yield Case("FusedMatMul", (a, b), attributes)
    yield Case("TransposeMatMul", (real(4, 3), real(4, 5)), {"transA": 1, "alpha": 3.0})
    yield Case("FusedGemm", (real(3, 4), real(4, 5), real(5)), {"activation": "Relu"})
    leaky = {"activation": "LeakyRelu", "activation_alpha": 0.3, "transB": 1, "alpha": 0.5, "beta": 2.0}
    yield Case("FusedGemm", (real(3, 4), real(5, 4), real(5)), leaky)
    x, w = real(1, 4, 7, 7), real(6, 4, 3, 3)
    window = {"pads": [1, 1, 1, 1], "strides": [2, 2], "kernel_shape": [3, 3]}
    yield Case("FusedConv", (x, w), {**window, "activation": "Relu"}, stored=(1,))
    yield Case("FusedConv", (x, w, real(6), real(1, 6, 4, 4)), {**window, "activation": "Relu"}, stored=(1,))
    for activation, parameters in (
        ("Clip", [0.0, 0.4]),
        ("HardSigmoid", [0.2, 0.5]),
        ("LeakyRelu", [0.1]),
        ("Tanh", []),
    ):
        attributes = {**window, "activation": activation, "activation_params": parameters or [0.0]}
        yield Case("FusedConv", (x, w, real(6)), attributes, stored=(1,))
    scales, zero = (one(0.02), real(5) ** 2 + 0.01), one(7, np.uint8)
    for b, b_zero in ((whole(8, 5), whole(5)), (whole(8, 5, dtype=np.int8), np.zeros(5, np.int8))):
        yield Case("MatMulIntegerToFloat", (whole(3, 8), b, *scales, zero, b_zero, real(5)))
        yield Case("DynamicQuantizeMatMul", (real(3, 8), b, scales[1], b_zero, real(5)))
        yield Case("DynamicQuantizeMatMul", (real(2, 3, 8), b, one(0.03), b_zero[0].reshape(())), stored=(1, 2, 3))
    yield Case("DynamicQuantizeMatMul", (real(3, 8), whole(8, 5), one(0.03)))
    yield Case(
        "ConvTransposeWithDynamicPads",
        (real(1, 4, 5, 5), real(4, 3, 3, 3), np.array([1, 0, 0, 1], np.int64)),
        {"strides": [2, 2]},
        stored=(2,),
    )


def _few_bits() -> Iterator[Case]:
    """K of 40 in blocks of 16: the last block is not full."""
    rows, columns, length = 6, 40, 16
    for bits in (4, 8):
        blocks = 3
        packed = whole(rows, blocks, length * bits // 8)
        attributes = {"K": columns, "N": rows, "bits": bits, "block_size": length}
        zeros = whole(rows, -(-blocks * bits // 8))
        scales = real(rows, blocks)
        yield Case("MatMulNBits", (real(2, columns), packed, scales.reshape(-1)), attributes, stored=(1, 2))
        yield Case("MatMulNBits", (real(2, columns), packed, scales, zeros), attributes, stored=(1, 2, 3))
        yield Case(
            "MatMulNBits",
            (real(3, 2, columns), packed, scales, zeros, None, real(rows)),
            attributes,
            stored=(1, 2, 3, 5),
        )

    # The last block and the last byte are not full.
    for kind, columns in ((0, 41), (1, 40), (1, 41)):
        sizes = {"K": columns, "N": 5, "block_size": 16, "quant_type": kind}
        stored = (whole((5 * columns + 1) // 2), real(-(-5 * columns // 16)))
        yield Case("MatMulBnb4", (real(2, 3, columns), *stored), sizes, stored=(1, 2))


def _experts() -> Iterator[Case]:
    """Four experts; tokens of eight numbers in rows, or in a batch of them."""
    tokens, router = real(2, 3, 8), real(6, 4)
    for attributes in ({}, {"k": 2}, {"k": 3, "normalize_routing_weights": 1}):
        for kind in ("relu", "gelu", "silu", "identity"):
            layers = (real(4, 16, 8), real(4, 16), real(4, 8, 16), real(4, 8))
            named = {**attributes, "activation_type": kind}
            yield Case("MoE", (tokens, router, *layers), named, tuple(range(2, 6)))
        gated = {**attributes, "activation_type": "swiglu", "swiglu_fusion": 1}
        fused = (tokens.reshape(6, 8), router, real(4, 32, 8), None, real(4, 8, 16))
        yield Case("MoE", fused, gated, (2, 4))
        bent = {"activation_alpha": 1.7, "activation_beta": 1.0, "swiglu_limit": 0.9}
        yield Case("MoE", fused, {**gated, **bent}, (2, 4))


def _grid(dtype: type) -> tuple[Tensor, Tensor]:
    return one(float(_RANDOM.uniform(0.01, 0.05))), one(int(_RANDOM.integers(0, 20)), dtype)


def _quantized() -> Iterator[Case]:
    for dtype in (np.uint8, np.int8):
        x = (whole(3, 4, dtype=dtype), *_grid(dtype))
        y = (whole(3, 4, dtype=dtype), *_grid(dtype))
        last = (whole(4, dtype=dtype), *_grid(dtype))
        for name in ("QLinearAdd", "QLinearMul"):
            yield Case(name, (*x, *y, *_grid(dtype)))
            yield Case(name, (*x, *last, one(0.1), one(3, dtype)), stored=(4, 5, 6, 7))
        yield Case("QLinearSigmoid", (*x, one(1 / 256), one(0, dtype)), stored=(1, 2, 3, 4))
        yield Case("QLinearLeakyRelu", (*x, *_grid(dtype)), {"alpha": 0.3}, stored=(1, 2, 3, 4))
        yield Case("QLinearConcat", (*_grid(dtype), *x, *y, *last[:0]), {"axis": 1})
        yield Case(
            "QLinearWhere", (np.array([True, False, True, True]), *x, *y, *_grid(dtype)), stored=(2, 3, 5, 6, 7, 8)
        )
        yield Case(
            "QLinearSoftmax",
            (*x, one(1 / 256), one(0 if dtype is np.uint8 else -128, dtype)),
            {"axis": -1, "opset": 13},
            stored=(1, 2, 3, 4),
        )
        yield Case(  # all axes from this one on are one
            "QLinearSoftmax",
            (*x, one(1 / 256), one(0 if dtype is np.uint8 else -128, dtype)),
            {"axis": 0, "opset": 11},
            stored=(1, 2, 3, 4),
            opset=11,
        )
        for attributes in ({}, {"transA": 1}, {"transB": 1, "alpha": 0.5}):
            a = whole(4, 3, dtype=dtype) if "transA" in attributes else whole(3, 4, dtype=dtype)
            b = whole(5, 4, dtype=np.int8) if "transB" in attributes else whole(4, 5, dtype=np.int8)
            sides = (a, *_grid(dtype), b, *_grid(np.int8), whole(5).astype(np.int32) * 10)
            yield Case("QGemm", (*sides, one(0.1), one(3, dtype)), attributes)
            yield Case("QGemm", sides, attributes)
        columns = (real(5) ** 2, np.zeros(5, np.int8))
        yield Case(
            "QGemm",
            (whole(3, 4, dtype=dtype), *_grid(dtype), whole(4, 5, dtype=np.int8), *columns),
            {},
            stored=(3, 4, 5),
        )
    for dtype in (np.uint8, np.int8, np.uint16, np.int16):
        yield Case("QuantizeLinear", (real(3, 4), one(0.02), one(9, dtype)), opset=21)
        yield Case("DequantizeLinear", (whole(3, 4, dtype=dtype), one(0.02), one(9, dtype)), opset=21)
    yield Case("QuantizeLinear", (real(3, 4), real(3) ** 2 + 0.01, whole(3)), {"axis": 0})
    yield Case("DequantizeLinear", (whole(3, 4), real(4) ** 2 + 0.01, whole(4)), {"axis": 1})


def _pools() -> Iterator[Case]:
    first, last = whole(1, 3, 6, 6), whole(1, 6, 6, 3)
    grids = (*_grid(np.uint8), *_grid(np.uint8))
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}
    for include in (0, 1):
        for x, channels in ((first, 0), (last, 1)):
            attributes = {**window, "count_include_pad": include, "channels_last": channels}
            yield Case("QLinearAveragePool", (x, *grids), attributes, stored=(1, 2, 3, 4))
    for x, channels in ((first, 0), (last, 1)):
        yield Case("QLinearGlobalAveragePool", (x, *grids), {"channels_last": channels}, stored=(1, 2, 3, 4))
        weights = (whole(4, 3, 3, 3, dtype=np.int8), real(4) ** 2 + 0.01, np.zeros(4, np.int8))
        inputs = (x, *grids[:2], *weights, one(3.0), one(100, np.uint8), whole(4).astype(np.int32))
        yield Case("QLinearConv", inputs, {**window, "channels_last": channels}, stored=tuple(range(1, 9)))
    for dtype in (np.uint8, np.int8):
        yield Case("NhwcMaxPool", (whole(1, 6, 6, 3, dtype=dtype),), window)


def _recurrent() -> Iterator[Case]:
    steps, batch, width, size = 5, 1, 3, 4
    for direction, sides in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        for dtype, per_column in ((np.uint8, False), (np.int8, False), (np.int8, True)):
            shape = (sides, 4 * size) if per_column else (sides,)
            scale = lambda shape=shape: (_RANDOM.uniform(0.005, 0.01, shape)).astype(np.float32)  # noqa: E731
            zero = np.full(shape, 0 if dtype is np.int8 else 120, dtype)
            weights = (whole(sides, width, 4 * size, dtype=dtype), whole(sides, size, 4 * size, dtype=dtype))
            states = (real(sides, batch, size), real(sides, batch, size))
            inputs = (real(steps, batch, width), *weights, real(sides, 8 * size), None, *states, real(sides, 3 * size))
            yield Case(
                "DynamicQuantizeLSTM",
                (*inputs, scale(), zero, scale(), zero),
                {"direction": direction, "hidden_size": size},
                stored=(1, 2, 8, 9, 10, 11),
                outputs=("Y", "H", "C"),
            )
    lengths = np.array([3], np.int32)
    plain = (real(steps, batch, width), *(one[:1] for one in weights), None, lengths, None, None, None)
    grids = (one(0.01).reshape(1), np.zeros(1, np.int8)) * 2
    attributes = {"hidden_size": size, "clip": 0.5, "input_forget": 1}
    for stored in ((), (1, 2, 8, 9, 10, 11)):
        yield Case("DynamicQuantizeLSTM", (*plain, *grids), attributes, stored=stored, outputs=("Y", "H", "C"))


def _moving() -> Iterator[Case]:
    yield Case("Trilu", (real(4, 5), one(1, np.int64)), {"upper": 0})
    yield Case("Trilu", (real(2, 4, 5),))
    yield Case("Pad", (real(2, 3), np.array([0, 1, 2, 0], np.int64), one(3.0)))
    yield Case("Pad", (real(3, 3), np.array([0, 1, 1, 0], np.int64)), {"mode": "reflect"})
    yield Case("ExpandDims", (real(2, 3), one(1, np.int32)), stored=(1,))
    yield Case("ExpandDims", (real(2, 3), one(-1, np.int32)), stored=(1,), opset=12)
    yield Case("Range", (one(1.0), one(4.0), one(0.5)))
    yield Case("Range", (one(1, np.int64), one(4, np.int64)))
    yield Case("GatherND", (real(3, 4), np.array([[1, 2], [0, 3]], np.int64)))
    yield Case("Unique", (np.array([2, 1, 1, 3, 2], np.float32),), outputs=("Y", "I", "C"))
    for opset in (17, 20):
        for attributes in ({}, {"mode": "nearest", "align_corners": 1}, {"mode": "bicubic", "padding_mode": "border"}):
            yield Case("GridSample", (real(1, 2, 4, 4), real(1, 3, 3, 2)), attributes, opset=opset)
