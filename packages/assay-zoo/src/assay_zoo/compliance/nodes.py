"""Each node against the operator it names: domain, import, existence, deprecation, number of inputs and outputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.walk import Scope, Signature, called, domain_of, signature_of

if TYPE_CHECKING:
    from onnx import FunctionProto, NodeProto
    from onnx.defs import OpSchema

Functions = dict[Signature, "FunctionProto"]
_VERSIONS = 2**31
"""onnx reads the version of an operator set as a 32-bit number."""


def check_nodes(everything: Sequence[Scope], functions: Functions, domains: Collection[str]) -> Iterator[Finding]:
    """Nodes inside a function are told as findings of nodes, too: the sentence says where they are."""
    allowed = {domain_of(domain) for domain in domains}
    for scope in everything:
        for index, node in enumerate(scope.graph.node):
            who = f"{called(node, index)}{scope.where}"
            if (function := functions.get(signature_of(node))) is not None:
                yield from _call(node, function, who)
                yield from _imported(node, scope, who)
            else:
                yield from _operator(node, scope, who, allowed)


def schema_of(node: NodeProto, opsets: dict[str, int]) -> OpSchema | None:
    """The definition that the node goes by; None where onnx knows of none."""
    from onnx import defs

    domain = domain_of(node.domain)
    version = opsets.get(domain, 0)
    if not 0 < version < _VERSIONS:
        return None
    try:
        return defs.get_schema(node.op_type, version, domain)
    except defs.SchemaError:
        return None


@cache
def _known_domains() -> frozenset[str]:
    from onnx import defs

    return frozenset(schema.domain for schema in defs.get_all_schemas())


def _operator(node: NodeProto, scope: Scope, who: str, allowed: set[str]) -> Iterator[Finding]:
    domain = domain_of(node.domain)
    if domain not in allowed:
        known = ", ".join(sorted(name or "ai.onnx" for name in allowed))
        yield _found(
            "custom-domain",
            f"{who} is of domain {shown(domain)}, which this zoo does not take ({known}); use standard operators, or "
            "bring it as a function of the model",
        )
        return
    missing = list(_imported(node, scope, who))
    yield from missing
    if missing or not 0 < scope.opsets.get(domain, 0) < _VERSIONS:
        return  # told of the header
    schema = schema_of(node, scope.opsets)
    version = scope.opsets[domain]
    if schema is None and domain in _known_domains():
        told = f"{who}: opset {version} of {domain or 'ai.onnx'} has no such operator; correct its name or the opset"
        yield _found("unknown-operator", told)
    elif schema is None:
        yield Finding(
            Area.NODE, "unchecked-operator", f"{who} has no definition here to be checked against", remark=True
        )
    elif schema.deprecated:
        yield _found(
            "deprecated",
            f"{who} is deprecated since opset {schema.since_version} of {domain or 'ai.onnx'}; use what replaced it",
        )
    else:
        yield from _arity(node, schema, who)


def _imported(node: NodeProto, scope: Scope, who: str) -> Iterator[Finding]:
    domain = domain_of(node.domain)
    if domain not in scope.opsets and (scope.opsets or scope.function is not None):
        by = "the model" if scope.function is None else f"function {shown(scope.function.name)}"
        area = Area.NODE if scope.function is None else Area.FUNCTION
        told = f"{who}: {by} imports no opset of domain {shown(domain or 'ai.onnx')}; import it"
        yield Finding(area, "missing-import", told)


def _arity(node: NodeProto, schema: OpSchema, who: str) -> Iterator[Finding]:
    for role, count, least, most in (
        ("inputs", len(node.input), schema.min_input, schema.max_input),
        ("outputs", len(node.output), schema.min_output, schema.max_output),
    ):
        if not least <= count <= most:
            asked = f"{least}" if least == most else f"{least} to {most if most < 2**31 - 1 else 'any number'}"
            yield _found("arity", f"{who} has {count} {role}, and the operator takes {asked}")
    from onnx.defs import OpSchema as Definition

    for role, names, formals in (("input", node.input, schema.inputs), ("output", node.output, schema.outputs)):
        for name, formal in zip(names, formals, strict=False):
            if not name and formal.option == Definition.FormalParameterOption.Single:
                yield _found(
                    "missing-operand", f"{who} leaves out its {role} {shown(formal.name)}, which is not optional"
                )


def _call(node: NodeProto, function: FunctionProto, who: str) -> Iterator[Finding]:
    for role, given, takes in (
        ("inputs", len(node.input), len(function.input)),
        ("outputs", len(node.output), len(function.output)),
    ):
        if given > takes:
            yield _found("arity", f"{who} has {given} {role}, and the function it calls has {takes}")


def _found(kind: str, sentence: str) -> Finding:
    return Finding(Area.NODE, kind, sentence)
