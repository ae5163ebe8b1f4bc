"""What a node says of its attributes and no schema knows: references to a function's, values that its operator does not take, and
the attributes of a function that is called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding
from assay.core.model_part import ModelPart, PartKind
from assay.models.examination.attribute_values import value_problem
from assay.models.examination.functions import Functions, function_signature
from assay.models.examination.node_schema import schema_of
from assay.models.examination.quoting import shown
from assay.models.examination.walk import Scope, Signature, node_part, signature_of

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, NodeProto

_SINGLE = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 11: "sparse_tensor", 13: "tp"}
"""AttributeProto.AttributeType (onnx.proto) of one value to the field that holds it."""


def check_attributes(everything: Sequence[Scope], functions: Functions) -> Iterator[ModelFinding]:
    """Of every node of every graph."""
    needed = _needed(everything)
    for scope in everything:
        for index, node in enumerate(scope.graph.node):
            who = node_part(node, index, scope.where)
            function = functions.get(signature_of(node))
            for attribute in node.attribute:
                yield from _value(attribute, scope, who)
            if function is not None:
                yield from _call(node, function, who, needed.get(signature_of(node), set()))
            elif schema_of(node, scope.opsets) is not None:
                for attribute in node.attribute:
                    for code, values in value_problem(node, attribute):
                        yield _found(code, ModelPart(PartKind.ATTRIBUTE, attribute.name, inside=who), *values)


def _value(attribute: AttributeProto, scope: Scope, who: ModelPart) -> Iterator[ModelFinding]:
    what = ModelPart(PartKind.ATTRIBUTE, attribute.name, inside=who)
    if not attribute.ref_attr_name:
        field = _SINGLE.get(attribute.type, "")
        if field and not attribute.HasField(field):
            yield _found("no-value", what)
        return
    if scope.function is None:
        yield _found("reference-outside", what)
        return
    known = {*scope.function.attribute, *(proto.name for proto in scope.function.attribute_proto)}
    if attribute.ref_attr_name not in known:
        yield _found("reference-unknown", what, shown(attribute.ref_attr_name))


def _needed(everything: Sequence[Scope]) -> Mapping[Signature, set[str]]:
    """Of each function, the attributes that an operator in it cannot do without. Another that a call leaves out is left out of the
    nodes that refer to it, too (so do the inliner of onnx 1.23 and ONNX Runtime 1.31)."""
    needed: dict[Signature, set[str]] = defaultdict(set)
    for scope in everything:
        if scope.function is None:
            continue
        for node in scope.graph.node:
            schema = schema_of(node, scope.opsets)
            required = (
                {name for name, attribute in schema.attributes.items() if attribute.required}
                if schema is not None
                else set()
            )
            references = {
                attribute.ref_attr_name
                for attribute in node.attribute
                if attribute.ref_attr_name and attribute.name in required
            }
            needed[function_signature(scope.function)] |= references
    return needed


def _call(node: NodeProto, function: FunctionProto, who: ModelPart, needed: set[str]) -> Iterator[ModelFinding]:
    """onnx.checker (1.23) looks at no call of a function."""
    for role, given, takes in (
        ("inputs", len(node.input), len(function.input)),
        ("outputs", len(node.output), len(function.output)),
    ):
        if given > takes:
            yield ModelFinding(Area.NODE, "call-arity", who, (given, role, takes))
    known = {*function.attribute, *(attribute.name for attribute in function.attribute_proto)}
    named = {attribute.name for attribute in node.attribute}
    for name in sorted(named - known):
        yield _found("call-unknown", who, shown(name))
    for name in sorted(set(function.attribute) & needed - named):
        yield _found("call-missing", who, shown(name))


def _found(code: str, about: ModelPart, *values: int | str) -> ModelFinding:
    return ModelFinding(Area.ATTRIBUTE, code, about, values)
