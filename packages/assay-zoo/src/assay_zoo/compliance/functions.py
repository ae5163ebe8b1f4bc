"""Functions that a model brings: unique, not recursive, not growing without end, complete in themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.nodes import Functions
from assay_zoo.compliance.walk import Signature, domain_of, signature_of, subgraphs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import FunctionProto, ModelProto, NodeProto

LARGEST_EXPANSION = 1_000_000
"""Nodes of a model after all calls are expanded."""
DEEPEST_CALLS = 100
"""What onnx's checker and inference follow (1.23)."""


def functions_of(model: ModelProto) -> Functions:
    """By what a node says to call them."""
    return {_signature(function): function for function in model.functions}


def check_functions(model: ModelProto) -> Iterator[Finding]:
    """Findings of the functions as a whole; their nodes and attributes are looked at with all others."""
    from onnx import defs

    functions = functions_of(model)
    for signature, count in Counter(map(_signature, model.functions)).items():
        if count > 1:
            yield _found(
                "duplicate-function", f"{count} functions are called {_format_signature(signature)}; keep one of them"
            )
    imports = {domain_of(one.domain): one.version for one in model.opset_import}
    for function in model.functions:
        if not function.name:
            yield _found("unnamed-function", "a function has no name; name it")
        domain = domain_of(function.domain)
        if defs.has(function.name, domain):
            told = f"function {shown(function.name)} has the name of an operator of {domain or 'ai.onnx'}"
            yield _found("hidden-operator", f"{told}: each runtime decides for itself which is run; rename it")
        yield from _signatures(function)
        yield from _imports(function, imports)
    calls = {signature: _called(functions, function.node) for signature, function in functions.items()}
    try:
        order = list(TopologicalSorter(calls).static_order())
    except CycleError as error:
        for signature in sorted(set(error.args[1])):
            yield _found(
                "recursion",
                f"function {_format_signature(signature)} calls itself, directly or through others; expand it",
            )
    else:
        yield from _expansion(model, functions, calls, order)
    used = _called(functions, model.graph.node).union(*calls.values())
    for signature in sorted(set(functions) - used):
        told = f"function {_format_signature(signature)} is called by nobody"
        yield Finding(Area.FUNCTION, "unused-function", told, remark=True)


def _signatures(function: FunctionProto) -> Iterator[Finding]:
    attributes = [*function.attribute, *(one.name for one in function.attribute_proto)]
    for role, names in (("input", function.input), ("output", function.output), ("attribute", attributes)):
        for name, count in Counter(names).items():
            # graph_problems tells of inputs and outputs
            if count > 1 and role == "attribute":
                yield _found("duplicate-value", f"function {shown(function.name)} has {count} {role}s {shown(name)}")
    if not function.output:
        yield _found("no-output", f"function {shown(function.name)} has no output")


def _imports(function: FunctionProto, imports: dict[str, int]) -> Iterator[Finding]:
    for domain, count in Counter(domain_of(one.domain) for one in function.opset_import).items():
        if count > 1:
            told = f"function {shown(function.name)} imports domain {shown(domain or 'ai.onnx')} {count} times"
            yield _found("duplicate-import", told)
    for one in function.opset_import:
        domain = domain_of(one.domain)
        if domain in imports and imports[domain] != one.version:
            yield Finding(
                Area.FUNCTION,
                "other-opset",
                f"function {shown(function.name)} goes by opset {one.version} of {domain or 'ai.onnx'}, the model by "
                f"{imports[domain]}: some runtimes use the model's for both",
                remark=True,
            )


def _expansion(
    model: ModelProto, functions: Functions, calls: Mapping[Signature, set[Signature]], order: Sequence[Signature]
) -> Iterator[Finding]:
    """`order` has each function after all that it calls."""
    sizes: dict[Signature, int] = {}
    depths: dict[Signature, int] = {}

    def size(nodes: Iterable[NodeProto]) -> int:
        return sum(
            1 + sizes.get(signature_of(node), 0) + sum(size(graph.node) for _, graph in subgraphs(node))
            for node in nodes
        )

    for signature in order:
        sizes[signature] = size(functions[signature].node)
        depths[signature] = 1 + max((depths[one] for one in calls[signature]), default=0)
    if (whole := size(model.graph.node)) > LARGEST_EXPANSION:
        told = f"the functions expand to {whole} nodes, more than {LARGEST_EXPANSION}; let them call fewer others"
        yield _found("expansion", told)
    if (deepest := max(depths.values(), default=0)) > DEEPEST_CALLS:
        told = f"functions call each other {deepest} deep, and onnx follows {DEEPEST_CALLS}; expand some of them"
        yield _found("expansion", told)


def _called(functions: Functions, nodes: Iterable[NodeProto]) -> set[Signature]:
    found: set[Signature] = set()
    for node in nodes:
        if (signature := signature_of(node)) in functions:
            found.add(signature)
        for _, graph in subgraphs(node):
            found |= _called(functions, graph.node)
    return found


def _signature(function: FunctionProto) -> Signature:
    return domain_of(function.domain), function.name, function.overload


def _format_signature(signature: Signature) -> str:
    domain, name, overload = signature
    return shown(f"{domain or 'ai.onnx'}::{name}{f'::{overload}' if overload else ''}")


def _found(kind: str, sentence: str) -> Finding:
    return Finding(Area.FUNCTION, kind, sentence)
