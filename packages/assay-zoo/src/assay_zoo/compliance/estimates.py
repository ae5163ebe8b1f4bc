"""The shape that constant operands ask for, where inference may not see it."""

from __future__ import annotations

from math import ceil, isfinite
from typing import TYPE_CHECKING

from assay.models.examination.known_values import Known
from assay.models.examination.types import Shape, shape_of
from assay.models.examination.walk import subgraphs
from assay_zoo.compliance.loops import trips_of

if TYPE_CHECKING:
    from onnx import NodeProto


def estimate(node: NodeProto, known: Known) -> Shape | None:
    """Of the first output of an operator of ai.onnx; None where nothing is known."""
    names = [*node.input, "", "", "", ""]
    shape = known.shape(names[0])
    match node.op_type:
        case "ConstantOfShape":
            return _sizes(known.ints(names[0]))
        case "Expand":
            return _sizes(known.ints(names[1]))
        case "Tile" if shape is not None:
            repeats = known.ints(names[1]) or []
            return tuple(_times(size, count) for size, count in zip(shape, repeats, strict=False))
        case "Range":
            start, limit, delta = (known.number(name) for name in names[:3])
            if start is not None and limit is not None and delta and isfinite((limit - start) / delta):
                return (max(ceil((limit - start) / delta), 0),)
        case "OneHot" if shape is not None:
            depth = known.number(names[1])
            return None if depth is None else (*shape, int(depth))
        case "Pad" if shape is not None and not names[3]:
            pads = known.ints(names[1]) or []
            ends = zip(shape, pads, pads[len(shape) :], strict=False)
            return tuple(size + low + high if isinstance(size, int) else size for size, low, high in ends)
        case "Resize" | "Upsample":
            return _sizes(known.ints(names[3])) or _scaled(names[1:3], shape, known)
    return None


def stacked(node: NodeProto, position: int, known: Known) -> Shape | None:
    """What a Loop with a constant trip count stacks in its scan outputs."""
    trips = trips_of(node, known) if node.op_type == "Loop" else None
    carried = len(node.input) - 2
    if trips is None or position < carried:
        return None
    for _, body in subgraphs(node):
        if position + 1 < len(body.output):
            return max(trips, 0), *(shape_of(body.output[position + 1].type) or ())
    return None


def _scaled(names: list[str], shape: Shape | None, known: Known) -> Shape | None:
    for name in names:
        scales = known.constants.get(name)
        if scales is not None and shape is not None and scales.size == len(shape) and scales.dtype.kind == "f":
            pairs = zip(shape, scales.reshape(-1).tolist(), strict=True)
            return tuple(
                int(size * scale) if isinstance(size, int) and isfinite(scale) else size for size, scale in pairs
            )
    return None


def _sizes(sizes: list[int] | None) -> Shape | None:
    return None if sizes is None else tuple(sizes)


def _times(size: int | str, count: int) -> int | str:
    return size * count if isinstance(size, int) else count
