"""The least that each value of a model takes, where its shape does not depend on the input."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from assay_zoo.compliance.constants import Known
from assay_zoo.compliance.element import bits_of
from assay_zoo.compliance.estimates import estimate, stacked
from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.loop_shapes import grown
from assay_zoo.compliance.request import Request
from assay_zoo.compliance.types import LARGEST_INDEX, Shape, format_shape
from assay_zoo.compliance.walk import called, domain_of

if TYPE_CHECKING:
    from onnx import NodeProto

_TEXTLESS = 32
"""Bits of an element whose type is not known."""


def check_allocation(known: Known, smallest: Known, request: Request) -> Iterator[Finding]:
    """Of one scope, and the same with every free dimension of the model at one: what is told is needed at any size. What
    follows from a value that is too large already is not told again."""
    large: set[str] = set()
    for index, node in enumerate(known.scope.graph.node):
        if large.intersection(node.input):
            large.update(node.output)
            continue
        who = f"{called(node, index)}{known.scope.where}"
        least = _at_least(node, smallest)
        for position, name in enumerate(node.output):
            found = list(_value(node, position, who, known, least[position], request)) if name else []
            large.update([name] if found else [])
            yield from found


def _at_least(node: NodeProto, smallest: Known) -> list[list[Shape]]:
    """What each output is known to be where every free dimension is one."""
    carried = grown(node, smallest) if not domain_of(node.domain) else ()
    return [
        [*_shapes(node, position, smallest), *(one for one in carried[position : position + 1] if one is not None)]
        for position in range(len(node.output))
    ]


def _value(
    node: NodeProto, position: int, who: str, known: Known, least: list[Shape], request: Request
) -> Iterator[Finding]:
    name = node.output[position]
    element = known.types.get(name, (0, ()))[0]
    shapes = _shapes(node, position, known)
    # Outside of the main graph it may be a branch that is never taken.
    negative = [one for one in shapes if any(isinstance(size, int) and size < 0 for size in one)]
    if negative and known.scope.root:
        told_ = f"{who} makes {shown(name)} of shape {format_shape(negative[0])}: no size is negative"
        yield Finding(Area.NODE, "negative-dimension", told_)
        return
    shape = max([*shapes, *least], key=_least)
    size = _least(shape) * (bits_of(element) or _TEXTLESS) // 8
    if _least(shape) > LARGEST_INDEX or size > request.allocation_bytes:
        limit = f"this zoo allows {request.allocation_bytes}"
        free = "" if shape in shapes else " where every free dimension is 1"
        told_ = f"{who} makes {shown(name)} of shape {format_shape(shape)}{free}, {size} bytes at least, and {limit}"
        yield Finding(Area.NODE, "allocation", told_)


def _shapes(node: NodeProto, position: int, known: Known) -> list[Shape]:
    """As inferred, and as constant operands say."""
    shapes: list[Shape] = [known.types.get(node.output[position], (0, ()))[1]]
    if not domain_of(node.domain):
        other = estimate(node, known) if position == 0 else None
        shapes += [one for one in (other, stacked(node, position, known)) if one is not None]
    return shapes


def _least(shape: Shape) -> int:
    return prod(max(size, 0) for size in shape if isinstance(size, int))
