"""Sizes and constants that an operator does not take, and that onnx's inference lets pass (1.23)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.models.examination.known_values import Known
from assay.models.examination.quoting import format_shape, shown
from assay.models.examination.types import Shape
from assay.models.examination.walk import domain_of, node_part

if TYPE_CHECKING:
    from onnx import NodeProto

Problems = Iterator[tuple[str, tuple[int | str, ...]]]
"""Codes, and the values of their sentences."""
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def check_operands(known: Known) -> Iterator[ModelFinding]:
    """Of one scope. What is inside a branch or a loop may never run."""
    severity = Severity.INVALID if known.scope.root else Severity.RESTRICTED
    for index, node in enumerate(known.scope.graph.node):
        rule = _RULES.get(node.op_type) if not domain_of(node.domain) else None
        for code, values in (*(rule(node, known) if rule else ()), *_no_room(node, known)):
            yield ModelFinding(Area.NODE, code, node_part(node, index, known.scope.where), values, severity)


def _differ(first: object, other: object) -> bool:
    """Only numbers can: what is free may be anything."""
    return isinstance(first, int) and isinstance(other, int) and first != other


def _no_room(node: NodeProto, known: Known) -> Problems:
    """A shape that onnx infers, and that cannot be: outside of branches, which may never be taken."""
    for name in node.output if known.scope.root else ():
        shape = known.shape(name) if name else None
        if shape is not None and any(isinstance(size, int) and size < 0 for size in shape):
            yield "no-room", (shown(name), format_shape(shape))


def _resize(node: NodeProto, known: Known) -> Problems:
    place = 1 if _opset(known) < 11 else 2  # since opset 11, a region of interest comes first
    scales = known.constants.get(node.input[place]) if len(node.input) > place else None
    if scales is not None and scales.dtype.kind == "f" and scales.size and not (scales > 0).all():
        yield "resize-scale", (f"{float(scales.min()):g}",)


def _convolution(node: NodeProto, known: Known) -> Problems:
    data, weights = _shapes(node, known, 2)
    if data is None or weights is None or len(weights) < 2 or len(data) < 2:
        return
    if len(data) != len(weights):
        yield "weight-rank", (format_shape(weights), format_shape(data))
        return
    group = _attribute(node, "group", 1)
    transposed = node.op_type == "ConvTranspose"
    channels, most = (weights[0], weights[0]) if transposed else (_times(weights[1], group), weights[0])
    if _differ(data[1], channels):
        yield "weight-channels", (format_shape(weights), group, data[1])
    elif isinstance(most, int) and group > 0 and most % group:
        yield "group", (group, most)
    kernel = _attribute(node, "kernel_shape", [])
    if kernel and any(map(_differ, kernel, weights[2:])):
        yield "kernel-shape", (format_shape(kernel), format_shape(weights))


def _recurrent(node: NodeProto, known: Known) -> Problems:
    data, weights, recurrence = _shapes(node, known, 3)
    if data is not None and weights is not None and len(data) == len(weights) == 3 and _differ(data[2], weights[2]):
        yield "recurrent-input", (format_shape(weights), format_shape(data))
    if recurrence is None or len(recurrence) != 3:
        return
    hidden, gates = recurrence[2], _GATES[node.op_type]
    if _differ(recurrence[1], _times(hidden, gates)):
        yield "recurrent-gates", (format_shape(recurrence), gates, hidden)
    if weights is not None and len(weights) == 3 and _differ(weights[1], recurrence[1]):
        yield "recurrent-weights", (format_shape(weights), format_shape(recurrence))
    if _differ(hidden, _attribute(node, "hidden_size", hidden)):
        yield "hidden-size", (_attribute(node, "hidden_size", 0), hidden)


def _reshape(node: NodeProto, known: Known) -> Problems:
    (shape,) = _shapes(node, known, 1)
    target = known.ints(node.input[1]) if len(node.input) > 1 else _attribute(node, "shape", None)
    if shape is None or target is None or not all(isinstance(size, int) for size in shape):
        return
    kept = not _attribute(node, "allowzero", 0)
    sizes = [shape[at] if kept and not size and at < len(shape) else size for at, size in enumerate(target)]
    count, wanted = (prod(int(size) for size in dims) for dims in (shape, [size for size in sizes if size != -1]))
    if count != wanted if -1 not in sizes else wanted and count % wanted:
        yield "reshape", (format_shape(shape), count, format_shape(target))


def _normalization(node: NodeProto, known: Known) -> Problems:
    variance = known.constants.get(node.input[4]) if len(node.input) > 4 else None
    if (
        variance is not None
        and variance.size
        and (least := float(variance.min())) + _attribute(node, "epsilon", 1e-5) < 0
    ):
        yield "variance", (f"{least:g}",)


def _by_channel(node: NodeProto, known: Known) -> Problems:
    """One scale and one bias for each channel."""
    data, *others = _shapes(node, known, 3)
    for role, shape in zip(("scale", "bias"), others, strict=True):
        if data is not None and len(data) > 1 and shape is not None and len(shape) == 1 and _differ(shape[0], data[1]):
            yield "channel-values", (role, shape[0], data[1])


def _blocks(node: NodeProto, known: Known) -> Problems:
    (data,) = _shapes(node, known, 1)
    size = _attribute(node, "blocksize", 1)
    if data is None or len(data) != 4 or size < 1:
        return
    parts = [(data[1], size * size)] if node.op_type == "DepthToSpace" else [(dim, size) for dim in data[2:]]
    for dim, part in parts:
        if isinstance(dim, int) and dim % part:
            yield "blocks", (dim, part, format_shape(data))


def _unidirectional(first: int, since: int = 1) -> Callable[[NodeProto, Known], Problems]:
    """Operands from `first` on are broadcast to the shape of the data, which stays what it is, from the opset `since` on."""

    def rule(node: NodeProto, known: Known) -> Problems:
        if _opset(known) < since:
            return
        data, *others = _shapes(node, known, max(len(node.input), 1))
        for place, shape in enumerate(others, 1):
            if data is None or shape is None or place < first:
                continue
            ends = zip(reversed(shape), reversed(data), strict=False)
            if len(shape) > len(data) or any(end != 1 and _differ(end, other) for end, other in ends):
                yield "broadcast", (place, format_shape(shape), format_shape(data))

    return rule


def _bounds(node: NodeProto, known: Known) -> Problems:
    for place, shape in enumerate(_shapes(node, known, 3)):
        if place and shape is not None and any(size != 1 for size in shape if isinstance(size, int)):
            yield "bound", (place, format_shape(shape))


def _quantization(node: NodeProto, known: Known) -> Problems:
    scale = known.constants.get(node.input[1]) if len(node.input) > 1 else None
    if scale is not None and scale.size:
        wide = scale.astype(np.float64)
        if not np.isfinite(wide).all():
            yield "scale", ("NaN" if np.isnan(wide).any() else "infinity",)
        elif node.op_type == "QuantizeLinear" and (wide == 0).any():
            yield "zero-scale", ()
    data, scales, zeros = _shapes(node, known, 3)
    if scales is not None and zeros is not None and not _same(scales, zeros):
        yield "zero-points", (format_shape(zeros), format_shape(scales))
    axis = _attribute(node, "axis", 1)
    if data is None or scales is None or len(scales) != 1 or scales[0] == 1 or _attribute(node, "block_size", 0):
        return
    if -len(data) <= axis < len(data) and _differ(data[axis], scales[0]):
        yield "scale-count", (scales[0], axis, format_shape(data))


def _same(shape: Shape, other: Shape) -> bool:
    """A scalar is written as a vector of one, too."""
    alone = prod(size for size in (*shape, *other) if isinstance(size, int)) == 1
    return alone or (len(shape) == len(other) and not any(map(_differ, shape, other)))


_RULES: dict[str, Callable[[NodeProto, Known], Problems]] = {
    "Conv": _convolution, "ConvTranspose": _convolution, "LSTM": _recurrent, "GRU": _recurrent, "RNN": _recurrent,
    "Reshape": _reshape, "BatchNormalization": _normalization, "QuantizeLinear": _quantization,
    "DequantizeLinear": _quantization, "InstanceNormalization": _by_channel, "DepthToSpace": _blocks,
    "SpaceToDepth": _blocks, "Resize": _resize, "PRelu": _unidirectional(1, since=7),
    "LayerNormalization": _unidirectional(1), "Clip": _bounds,
}  # fmt: skip


def _shapes(node: NodeProto, known: Known, count: int) -> list[Shape | None]:
    names = [*node.input, *[""] * count][:count]
    return [known.shape(name) if name else None for name in names]


def _opset(known: Known) -> int:
    return known.scope.opsets.get("", 1)


def _times(size: int | str, count: int) -> int | str:
    return size * count if isinstance(size, int) else size


def _attribute(node: NodeProto, name: str, default: Any) -> Any:
    from onnx.helper import get_attribute_value

    return next((get_attribute_value(attribute) for attribute in node.attribute if attribute.name == name), default)
