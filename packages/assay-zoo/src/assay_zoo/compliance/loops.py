"""Loops: how often a body runs, and whether it ever ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import ModelPart
from assay.models.examination.known_values import Known, known_in
from assay.models.examination.walk import domain_of, inside, node_part
from assay_zoo.compliance.request import Request

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


def nested(known: Known) -> Iterator[Known]:
    """What is known inside each subgraph of a scope, the trips of the loops around it multiplied."""
    for scope in inside(known.scope):
        node = known.scope.graph.node[scope.holder]
        yield known_in(scope, known, known.trips * max(trips_of(node, known) or 1, 1))


def trips_of(node: NodeProto, known: Known) -> int | None:
    """The constant trip count of a Loop, or the length that a Scan runs over; None where it is not constant."""
    if domain_of(node.domain) or not node.input:
        return None
    if node.op_type == "Loop" and node.input[0]:
        value = known.number(node.input[0])
        return None if value is None else int(value)
    if node.op_type == "Scan":
        shape = known.shape(node.input[-1])
        axes = next((list(attribute.ints) for attribute in node.attribute if attribute.name == "scan_input_axes"), [])
        axis = axes[-1] if axes else 0
        if shape and -len(shape) <= axis < len(shape) and isinstance(size := shape[axis], int):
            return size
    return None


def check_loops(known: Known, request: Request) -> Iterator[ModelFinding]:
    """The loops of one scope; those inside them are looked at with their own scope."""
    for index, node in enumerate(known.scope.graph.node):
        if node.op_type not in ("Loop", "Scan") or domain_of(node.domain):
            continue
        who = node_part(node, index, known.scope.where)
        trips = trips_of(node, known)
        if node.op_type == "Loop" and (not node.input or not node.input[0]):
            yield _found("endless-loop" if _never_false(node, index, known) else "data-loop", who)
        elif trips is not None and trips * known.trips > request.loop_trips:
            times = str(trips) if known.trips == 1 else f"{trips} x {known.trips}"
            yield _found("loop", who, times, request.loop_trips)


def _never_false(node: NodeProto, index: int, known: Known) -> bool:
    """Whether the condition that the body computes is true for ever."""
    start = 1.0 if len(node.input) < 2 or not node.input[1] else known.number(node.input[1])
    for scope in inside(known.scope):
        body = scope.graph
        if scope.holder == index and body.output:
            name = _origin(body, body.output[0].name)
            if len(body.input) > 1 and name == body.input[1].name:
                return bool(start)
            inner = known_in(scope, known)
            return bool(inner.number(name) or inner.number(body.output[0].name))
    return False


def _origin(body: GraphProto, name: str) -> str:
    """The value that Identity and Cast lead back to."""
    source = {
        node.output[0]: node.input[0]
        for node in body.node
        if node.op_type in ("Identity", "Cast") and node.output and node.input
    }
    for _ in range(len(source)):
        name = source.get(name, name)
    return name


def _found(code: str, about: ModelPart, *values: int | str) -> ModelFinding:
    return ModelFinding(Area.NODE, code, about, values, Severity.RESTRICTED)
