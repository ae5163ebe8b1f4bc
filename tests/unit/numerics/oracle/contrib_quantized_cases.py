"""Cases of quantized operators beside the standard, and of those that hold their weights in few bits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from contrib_case import RANDOM, Case, one, real, whole

from assay.ports import Tensor


def quantized_cases() -> Iterator[Case]:
    yield from _products()
    yield from _few_bits()
    yield from _experts()
    yield from _quantized()
    yield from _pools()
    yield from _recurrent()


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
    return one(float(RANDOM.uniform(0.01, 0.05))), one(int(RANDOM.integers(0, 20)), dtype)


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
            scale = lambda shape=shape: (RANDOM.uniform(0.005, 0.01, shape)).astype(np.float32)  # noqa: E731
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
    plain = (real(steps, batch, width), *(weight[:1] for weight in weights), None, lengths, None, None, None)
    grids = (one(0.01).reshape(1), np.zeros(1, np.int8)) * 2
    attributes = {"hidden_size": size, "clip": 0.5, "input_forget": 1}
    for stored in ((), (1, 2, 8, 9, 10, 11)):
        yield Case("DynamicQuantizeLSTM", (*plain, *grids), attributes, stored=stored, outputs=("Y", "H", "C"))
