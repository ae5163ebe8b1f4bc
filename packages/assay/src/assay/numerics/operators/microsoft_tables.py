"""Tables on grids, and distances between rows (ONNX Runtime, ContribOperators.md)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.numerics.operators.microsoft_normalization import embedded, embedding_ranges, normalized_embedding
from assay.numerics.operators.microsoft_quantized import scalar
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body, Unknown
from assay.numerics.oracle.contrib.few_bits import numbers_of
from assay.numerics.shapes.needed_values import Demands, index_into, size_of
from assay.numerics.shapes.values import Node, Value
from assay.ports import Tensor


def _quantized_embedding(body: Body) -> None:
    """EmbedLayerNormalization of tables off their grids; a scale and a zero point each, in the order of the tables."""
    body.needs(10)
    tables = [
        body.step(
            "DequantizeLinear",
            body.input(at),
            scalar(body, body.input(8 + place)),
            scalar(body, body.input(13 + place)),
        )
        if body.input(at)
        else ""
        for place, at in enumerate((2, 3, 4, 5, 6))
    ]
    total = embedded(body, body.input(0), body.input(1), "", tables[:3])
    normalized_embedding(body, total, tables[3], tables[4], mask=body.input(7))


def _gathered_blocks(body: Body) -> None:
    """Rows of a table in blocks along one axis, each with a scale and a zero point."""
    data, scales = body.stored(body.input(0)), body.stored(body.input(2))
    if data.dtype.kind not in "iu" and data.dtype.name not in ("int4", "uint4", "int2", "uint2"):
        raise Unknown
    zeros = body.stored(body.input(3)) if body.input(3) else None
    bits = body.attribute("bits", 4)
    if data.dtype == np.uint8:
        data, zeros, middle = _unpacked(data, bits), None if zeros is None else _unpacked(zeros, bits), 2 ** (bits - 1)
    else:
        middle = 0
    axis = body.attribute("quantize_axis", 1) % data.ndim
    length = body.attribute("block_size", 128)
    of_block = np.arange(data.shape[axis]) // length
    off = data.astype(np.float64) - (middle if zeros is None else np.take(zeros.astype(np.float64), of_block, axis))
    table = off * np.take(scales.astype(np.float64), of_block, axis)
    gathered = body.step(
        "Gather", body.tensor(table.astype(scales.dtype)), body.input(1), axis=body.attribute("gather_axis", 0)
    )
    body.give(gathered)


def _unpacked(packed: Tensor, bits: int) -> Tensor:
    """Numbers of so many bits along the last axis."""
    rows = numbers_of(packed.reshape(-1, packed.shape[-1]), bits)
    return rows.reshape(*packed.shape[:-1], -1)


def _distances(body: Body) -> None:
    """Between each row of one matrix and each of the other, by way of their product: |a|^2 + |b|^2 - 2 a b."""
    metric = body.attribute("metric", "sqeuclidean")
    if metric not in ("sqeuclidean", "euclidean"):
        raise Unknown
    a, b = body.input(0), body.input(1)
    squares = [body.total(body.step("Mul", operand, operand), 1) for operand in (a, b)]
    both = body.step("Add", body.unsqueeze(squares[0], 1), body.unsqueeze(squares[1], 0))
    product = body.step("MatMul", a, body.step("Transpose", b, perm=[1, 0]))
    distance = body.step("Sub", both, body.times(product, 2.0))
    distance = body.step("Relu", distance)
    body.give(body.step("Sqrt", distance) if metric == "euclidean" else distance)


def _rows_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, index_into(size_of(inputs, 0, node.attributes.get("gather_axis", 0)))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("QEmbedLayerNormalization", domain=MICROSOFT, decomposition=_quantized_embedding, ranges=embedding_ranges),
    *alike("GatherBlockQuantized", domain=MICROSOFT, decomposition=_gathered_blocks, ranges=_rows_ranges),
    *alike("CDist", domain=MICROSOFT, decomposition=_distances),
)
