"""Functions that a model brings: what onnx.checker does not see of them, and how many nodes they are when all calls are expanded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import MODEL, ModelPart, PartKind
from assay.models.examination.quoting import shown
from assay.models.examination.walk import Signature, domain_of, signature_of, subgraphs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import FunctionProto, ModelProto, NodeProto

Functions = Mapping[Signature, "FunctionProto"]
_LONGEST_RING = 8
"""Functions of a ring of calls that are named."""
LARGEST_EXPANSION = 1_000_000
"""Nodes of a model after all calls are expanded."""


def functions_of(model: ModelProto) -> Functions:
    """By what a node says to call them."""
    return {function_signature(function): function for function in model.functions}


def check_functions(model: ModelProto) -> Iterator[ModelFinding]:
    """Findings of the functions as a whole; their nodes and attributes are looked at with all others."""
    from onnx import defs

    functions = functions_of(model)
    for signature, count in Counter(map(function_signature, model.functions)).items():
        if count > 1:  # onnx.checker sees it where the IR version has functions
            yield _found("duplicate-function", MODEL, shown(_full_name(signature)))
    imports = {domain_of(entry.domain): entry.version for entry in model.opset_import}
    for function in model.functions:
        about = ModelPart(PartKind.FUNCTION, function.name)
        domain = domain_of(function.domain)
        if defs.has(function.name, domain):
            yield _found("hidden-operator", about, domain or "ai.onnx", severity=Severity.RESTRICTED)
        yield from _imports(function, about, imports)
    calls = {signature: _called(functions, function.node) for signature, function in functions.items()}
    try:
        order = list(TopologicalSorter(calls).static_order())
    except CycleError as error:  # onnx.checker does not look at functions where the IR version is too old for them
        ring = [shown(_full_name(signature))[1:-1] for signature in error.args[1][:_LONGEST_RING]]
        yield _found("recursion", MODEL, *ring)
        return
    yield from _expansion(model, functions, order)
    used = _called(functions, model.graph.node).union(*calls.values())
    for signature in sorted(set(functions) - used):
        yield _found("unused-function", ModelPart(PartKind.FUNCTION, _full_name(signature)), severity=Severity.REMARK)


def _imports(function: FunctionProto, about: ModelPart, imports: dict[str, int]) -> Iterator[ModelFinding]:
    own = [(domain_of(entry.domain), entry.version) for entry in function.opset_import]
    for domain, count in Counter(domain for domain, _ in own).items():
        if count > 1:
            several = len({version for name, version in own if name == domain}) > 1
            severity = Severity.INVALID if several else Severity.RESTRICTED
            yield _found("function-import", about, shown(domain or "ai.onnx"), count, severity=severity)
    for entry in function.opset_import:
        domain = domain_of(entry.domain)
        if domain in imports and imports[domain] != entry.version:
            values = (entry.version, domain or "ai.onnx", imports[domain])
            yield _found("other-opset", about, *values, severity=Severity.REMARK)


def _expansion(model: ModelProto, functions: Functions, order: Sequence[Signature]) -> Iterator[ModelFinding]:
    """`order` has each function after all that it calls. onnx 1.23 expands without a bound: its checker does not end then."""
    sizes: dict[Signature, int] = {}

    def size(nodes: Iterable[NodeProto]) -> int:
        return sum(
            1 + sizes.get(signature_of(node), 0) + sum(size(graph.node) for _, graph in subgraphs(node))
            for node in nodes
        )

    for signature in order:
        sizes[signature] = size(functions[signature].node)
    if (whole := size(model.graph.node)) > LARGEST_EXPANSION:
        yield _found("expansion", MODEL, min(whole, 10**18), LARGEST_EXPANSION)


def _called(functions: Functions, nodes: Iterable[NodeProto]) -> set[Signature]:
    signatures: set[Signature] = set()
    for node in nodes:
        if (signature := signature_of(node)) in functions:
            signatures.add(signature)
        for _, graph in subgraphs(node):
            signatures |= _called(functions, graph.node)
    return signatures


def function_signature(function: FunctionProto) -> Signature:
    """What a node says to call it."""
    return domain_of(function.domain), function.name, function.overload


def _full_name(signature: Signature) -> str:
    domain, name, overload = signature
    return f"{domain or 'ai.onnx'}::{name}{f'::{overload}' if overload else ''}"


def _found(code: str, about: ModelPart, *values: int | str, severity: Severity = Severity.INVALID) -> ModelFinding:
    return ModelFinding(Area.FUNCTION, code, about, values, severity)
