"""Operators of com.microsoft with inputs and attributes, to be compared with unoptimised ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from contrib_case import Case, one, real, whole
from contrib_quantized_cases import quantized_cases

from assay.ports import Tensor


def cases() -> Iterator[Case]:
    yield from _activations()
    yield from _normalizations()
    yield from _attention()
    yield from _heads()
    yield from _rotary()
    yield from _grouped()
    yield from _tables()
    yield from _computed()
    yield from _moving()
    yield from quantized_cases()


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
