"""What this zoo asks beyond a valid model: versions that its runtimes read, operators it knows, and what metadata.toml claims."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import MODEL, ModelPart, PartKind
from assay.models.examination.functions import Functions
from assay.models.examination.quoting import format_shape, shown
from assay.models.examination.types import Shape, shape_of
from assay.models.examination.walk import Scope, domain_of, node_part, signature_of
from assay.numerics.onnx_elements import element_name
from assay_zoo.compliance.idle_data import IDLE_BYTES, idle_data
from assay_zoo.compliance.request import ClaimedPort, Request
from assay_zoo.performance.value_dependent import branches_by_values

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto


def check_versions(model: ModelProto, request: Request) -> Iterator[ModelFinding]:
    """Against `ir` and `opset` of the policy, and the opset that metadata.toml claims."""
    if model.ir_version > request.ir:
        yield _found(Area.MODEL, "zoo-ir", MODEL, model.ir_version, request.ir)
    imports = {domain_of(entry.domain): entry.version for entry in model.opset_import}
    version = imports.get("", 0)
    if version > request.opset:
        yield _found(Area.MODEL, "zoo-opset", ModelPart(PartKind.DOMAIN, "ai.onnx"), version, request.opset)
    if request.claimed_opset and version and version != request.claimed_opset:
        yield _found(Area.MODEL, "claimed-opset", MODEL, request.claimed_opset, version)
    whole = model.ByteSize()
    model.DiscardUnknownFields()  # nobody after this reads them either
    if unknown := whole - model.ByteSize():
        yield _found(Area.MODEL, "unknown-fields", MODEL, unknown)


def check_hidden(model: ModelProto) -> Iterator[ModelFinding]:
    """What test data may never reach: a way that is taken by values alone, and data that no output follows from."""
    if branches_by_values(model):
        yield _found(Area.GRAPH, "branch-by-values", MODEL)
    idle = idle_data(model)
    if (size := sum(count for _, count in idle)) > IDLE_BYTES:
        name, _ = max(idle, key=lambda item: item[1])
        yield _found(Area.GRAPH, "unread-data", MODEL, size, shown(name))


def check_domains(
    everything: Sequence[Scope], functions: Functions, domains: Collection[str]
) -> Iterator[ModelFinding]:
    """Operators of domains that the policy does not name."""
    allowed = {domain_of(domain) for domain in domains}
    for scope in everything:
        for index, node in enumerate(scope.graph.node):
            domain, who = domain_of(node.domain), node_part(node, index, scope.where)
            if signature_of(node) not in functions and domain not in allowed:
                known = ", ".join(sorted(name or "ai.onnx" for name in allowed))
                yield _found(Area.NODE, "custom-domain", who, shown(domain), known)


def check_claims(model: ModelProto, request: Request) -> Iterator[ModelFinding]:
    """The ports of metadata.toml are those of the model, in its order."""
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    yield from _claims(PartKind.INPUT, inputs, request.claimed_inputs)
    yield from _claims(PartKind.OUTPUT, model.graph.output, request.claimed_outputs)


def _claims(role: PartKind, values: Sequence[ValueInfoProto], claims: Sequence[ClaimedPort]) -> Iterator[ModelFinding]:
    if not claims:
        return
    names, claimed = [value.name for value in values], [port.name for port in claims]
    if names != claimed:
        yield _found(
            Area.GRAPH, "claimed-names", MODEL, role, ", ".join(map(shown, claimed)), ", ".join(map(shown, names))
        )
        return
    for value, port in zip(values, claims, strict=True):
        if value.type.WhichOneof("value") != "tensor_type":
            continue
        element, shape = element_name(value.type.tensor_type.elem_type), shape_of(value.type)
        about = ModelPart(role, port.name)
        if element and port.dtype != element:
            yield _found(Area.GRAPH, "claimed-port", about, shown(port.dtype), element)
        if shape is not None and not _fits(shape, port.shape):
            yield _found(Area.GRAPH, "claimed-port", about, format_shape(port.shape), format_shape(shape))


def _fits(shape: Shape, claimed: Shape) -> bool:
    """Numbers are the same numbers, and what is free is free; its name may be another."""
    return len(shape) == len(claimed) and all(
        size == other or (isinstance(size, str) and isinstance(other, str))
        for size, other in zip(shape, claimed, strict=True)
    )


def _found(area: Area, code: str, about: ModelPart, *values: int | str) -> ModelFinding:
    return ModelFinding(area, code, about, values, Severity.RESTRICTED)
