"""The least that each value of a model takes, where its shape does not depend on the input."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import ModelPart, PartKind
from assay.models.examination.known_values import Known
from assay.models.examination.quoting import format_shape, shown
from assay.models.examination.types import LARGEST_INDEX, Shape, shape_of
from assay.models.examination.walk import Scope, domain_of, node_part
from assay.numerics.onnx_elements import bits_of
from assay_zoo.compliance.estimates import estimate, stacked
from assay_zoo.compliance.loop_shapes import grown
from assay_zoo.compliance.request import Request

if TYPE_CHECKING:
    from onnx import NodeProto

_TEXTLESS = 32
"""Bits of an element whose type is not known."""


def check_allocation(known: Known, smallest: Known, request: Request) -> Iterator[ModelFinding]:
    """Of one scope, and the same with every free dimension of the model at one: what is told is needed at any size. What
    follows from a value that is too large already is not told again."""
    large: set[str] = set()
    for index, node in enumerate(known.scope.graph.node):
        if large.intersection(node.input):
            large.update(node.output)
            continue
        who = node_part(node, index, known.scope.where)
        least = _at_least(node, smallest)
        for position, name in enumerate(node.output):
            model_findings = list(_value(node, position, who, known, least[position], request)) if name else []
            large.update([name] if model_findings else [])
            yield from model_findings


def _at_least(node: NodeProto, smallest: Known) -> list[list[Shape]]:
    """What each output is known to be where every free dimension is one."""
    carried = grown(node, smallest) if not domain_of(node.domain) else ()
    return [
        [
            *_shapes(node, position, smallest),
            *(shape for shape in carried[position : position + 1] if shape is not None),
        ]
        for position in range(len(node.output))
    ]


def _value(
    node: NodeProto, position: int, who: ModelPart, known: Known, least: list[Shape], request: Request
) -> Iterator[ModelFinding]:
    name = node.output[position]
    element = known.types.get(name, (0, ()))[0]
    shapes = _shapes(node, position, known)
    shape = max([*shapes, *least], key=_least)
    size = _least(shape) * (bits_of(element) or _TEXTLESS) // 8
    if _least(shape) > LARGEST_INDEX or size > request.allocation_bytes:
        code = "allocation" if shape in shapes else "allocation-at-one"
        made = (shown(name), format_shape(shape), size, request.allocation_bytes)
        yield ModelFinding(Area.NODE, code, who, made, Severity.RESTRICTED)


def check_declared_sizes(known: Known, weights: Scope, request: Request) -> Iterator[ModelFinding]:
    """Inputs and outputs that are declared larger than the zoo allows, and sparse weights that are when they are dense: `weights`
    is the graph as it is stored."""
    graph = known.scope.graph
    sizes = {
        ModelPart(kind, value.name, inside=known.scope.where): (
            value.type.tensor_type.elem_type,
            shape_of(value.type) or (),
        )
        for kind, values in ((PartKind.INPUT, graph.input), (PartKind.OUTPUT, graph.output))
        for value in values
    }
    for sparse in weights.graph.sparse_initializer:
        about = ModelPart(PartKind.SPARSE_INITIALIZER, sparse.values.name, inside=known.scope.where)
        sizes[about] = (sparse.values.data_type, tuple(sparse.dims))
    for about, (element, shape) in sizes.items():
        size = _least(shape) * bits_of(element) // 8
        if size > request.allocation_bytes:
            values = (format_shape(shape), size, request.allocation_bytes)
            yield ModelFinding(Area.GRAPH, "declared-size", about, values, Severity.RESTRICTED)


def _shapes(node: NodeProto, position: int, known: Known) -> list[Shape]:
    """As inferred, and as constant operands say."""
    shapes: list[Shape] = [known.types.get(node.output[position], (0, ()))[1]]
    if not domain_of(node.domain):
        other = estimate(node, known) if position == 0 else None
        shapes += [shape for shape in (other, stacked(node, position, known)) if shape is not None]
    return shapes


def _least(shape: Shape) -> int:
    return prod(max(size, 0) for size in shape if isinstance(size, int))
