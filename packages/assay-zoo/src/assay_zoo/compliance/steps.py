"""Everything that is looked at, in its order, on one page. Runs in the child alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay_zoo.compliance.allocation import check_allocation
from assay_zoo.compliance.attributes import check_attributes
from assay_zoo.compliance.checker import check_with_onnx, full_check
from assay_zoo.compliance.constants import Known, known_in
from assay_zoo.compliance.defaults import tell_defaults
from assay_zoo.compliance.execution import check_execution
from assay_zoo.compliance.external import check_external
from assay_zoo.compliance.finding import Area, Finding
from assay_zoo.compliance.functions import check_functions, functions_of
from assay_zoo.compliance.header import check_header
from assay_zoo.compliance.indices import check_indices
from assay_zoo.compliance.inference import expanded, infer, least
from assay_zoo.compliance.loops import check_loops, nested
from assay_zoo.compliance.names import check_names
from assay_zoo.compliance.nodes import check_nodes
from assay_zoo.compliance.operands import check_operands
from assay_zoo.compliance.parse import parse
from assay_zoo.compliance.request import Request
from assay_zoo.compliance.tensors import check_tensors, check_values, tensors_of
from assay_zoo.compliance.types import check_types
from assay_zoo.compliance.walk import Scope, scopes

if TYPE_CHECKING:
    from onnx import ModelProto

HARMLESS = {
    "not-finite", "nan-attribute", "duplicate-metadata", "claimed-opset", "claimed-port", "duplicate-node", "opset-version",
    "ir-version", "allocation", "loop", "custom-domain",
}  # fmt: skip
"""Kinds after which what onnx infers of the model still means something."""
COSTLY = {"allocation", "loop"}
"""Kinds after which following values may not end."""
_LARGEST_FULL = 200_000_000
"""Bytes of a model that the full check copies; strict inference has looked at larger ones already."""


@dataclass
class CheckContext:
    """What the steps share."""

    request: Request
    findings: list[Finding] = field(default_factory=list)
    model: ModelProto | None = None
    respelled: bool = False
    everything: list[Scope] = field(default_factory=list)
    expanded: ModelProto | None = None
    inferred: ModelProto | None = None

    @property
    def path(self) -> Path:
        return Path(self.request.model)

    @property
    def failures(self) -> list[Finding]:
        return [one for one in self.findings if not one.remark]

    def sound(self) -> bool:
        """Whether the model can be asked for more than its structure."""
        return self.model is not None and not {one.kind for one in self.failures} - HARMLESS

    def counts(self) -> dict[str, int]:
        """What was looked at."""
        nodes = [node for scope in self.everything for node in scope.graph.node]
        return {
            "graphs": len(self.everything),
            "nodes": len(nodes),
            "attributes": sum(len(node.attribute) for node in nodes),
            "tensors": sum(1 for _ in tensors_of(self.everything)),
            "functions": len(self.model.functions) if self.model is not None else 0,
        }


Step = Callable[[CheckContext], Iterator[Finding]]


def parsing(desk: CheckContext) -> Iterator[Finding]:
    from assay.numerics.oracle.domains import normalize

    model, findings = parse(desk.path)
    yield from findings
    if model is not None:
        desk.respelled = normalize(model)
        desk.model, desk.everything = model, scopes(model)


def structure(desk: CheckContext) -> Iterator[Finding]:
    if desk.model is None:
        return
    functions = functions_of(desk.model)
    yield from check_header(desk.model, desk.request)
    yield from check_functions(desk.model)
    yield from check_names(desk.everything)
    yield from check_nodes(desk.everything, functions, desk.request.domains)
    yield from check_attributes(desk.everything, functions)
    yield from check_types(desk.model, desk.everything, desk.request)


def data(desk: CheckContext) -> Iterator[Finding]:
    broken = [*check_external(desk.everything, desk.path), *check_tensors(desk.everything, desk.request)]
    yield from broken
    if all(one.remark for one in broken):
        yield from check_values(desk.everything, desk.path.parent)


def checker(desk: CheckContext) -> Iterator[Finding]:
    """What the lint has told already is not told again in other words: the checker stops at its first error."""
    if desk.model is not None and desk.sound():
        told = {one.area for one in desk.failures}
        yield from (
            one for one in check_with_onnx(desk.path, desk.model if desk.respelled else None) if one.area not in told
        )


def bounds(desk: CheckContext) -> Iterator[Finding]:
    """Shapes first, and what they cost: everything after may depend on their being small."""
    if desk.model is not None and desk.sound():
        desk.expanded = expanded(desk.model, desk.path.parent)
        yield from _inferred(desk, propagate=False)


def inference(desk: CheckContext) -> Iterator[Finding]:
    if desk.expanded is not None and desk.sound() and not any(one.kind in COSTLY for one in desk.failures):
        yield from _inferred(desk, propagate=True)


def _inferred(desk: CheckContext, *, propagate: bool) -> Iterator[Finding]:
    assert desk.expanded is not None
    inferred = infer(desk.expanded, propagate=propagate)
    yield from inferred.findings
    for known, smallest in zip(_all_known(inferred.model), _all_known(least(desk.expanded)), strict=True):
        yield from check_loops(known, desk.request)
        if not any(one.kind == "allocation" and one.area is Area.GRAPH for one in desk.failures):
            yield from check_allocation(known, smallest, desk.request)
        yield from check_indices(known)
        yield from check_operands(known)
    desk.inferred = inferred.model


def full(desk: CheckContext) -> Iterator[Finding]:
    from onnx import TensorProto

    external = any(one.tensor.data_location == TensorProto.EXTERNAL for one in tensors_of(desk.everything))
    if desk.inferred is not None and not desk.failures and not external and desk.path.stat().st_size <= _LARGEST_FULL:
        assert desk.model is not None
        changed = tell_defaults(desk.model) or desk.respelled
        yield from full_check(desk.path, desk.model if changed else None)


def execution(desk: CheckContext) -> Iterator[Finding]:
    """Only a model that nothing else is wrong with is run."""
    if desk.model is not None and desk.inferred is not None and not desk.failures:
        yield from check_execution(desk.model, desk.path, desk.inferred)


STEPS: dict[str, Step] = {
    "parse": parsing,
    "structure": structure,
    "data": data,
    "onnx.checker": checker,
    "bounds": bounds,
    "inference": inference,
    "full check": full,
    "execution": execution,
}


def _all_known(model: ModelProto) -> list[Known]:
    """The main graph and every subgraph of a model whose functions are expanded."""
    found = [known_in(scopes(model)[0])]
    for one in found:
        found += nested(one)
    return found


def examine(request: Request) -> list[Finding]:
    """Every step in this process: for tests of the rules, and for models that one trusts."""
    desk = CheckContext(request)
    for step in STEPS.values():
        desk.findings += step(desk)
    return list(dict.fromkeys(desk.findings))


__all__ = ["STEPS", "Area", "CheckContext", "examine"]
