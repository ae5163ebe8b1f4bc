"""What a node says of its attributes and no schema knows: references to a function's, values that its operator does not take, and
the attributes of a function that is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding
from assay.models.examination.attribute_values import value_problem
from assay.models.examination.functions import Functions
from assay.models.examination.schemas import schema_of
from assay.models.examination.text import shown
from assay.models.examination.walk import Scope, called, signature_of

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, NodeProto

_SINGLE = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 11: "sparse_tensor", 13: "tp"}
"""AttributeProto.AttributeType (onnx.proto) of one value to the field that holds it."""


def check_attributes(everything: Sequence[Scope], functions: Functions) -> Iterator[ModelFinding]:
    """Of every node of every graph."""
    for scope in everything:
        for index, node in enumerate(scope.graph.node):
            who = f"{called(node, index)}{scope.where}"
            function = functions.get(signature_of(node))
            for attribute in node.attribute:
                yield from _value(attribute, scope, who)
            if function is not None:
                yield from _call(node, function, who)
            elif schema_of(node, scope.opsets) is not None:
                for attribute in node.attribute:
                    for code, values in value_problem(node, attribute):
                        yield _found(code, f"attribute {shown(attribute.name)} of {who}", *values)


def _value(attribute: AttributeProto, scope: Scope, who: str) -> Iterator[ModelFinding]:
    what = f"attribute {shown(attribute.name)} of {who}"
    if not attribute.ref_attr_name:
        field = _SINGLE.get(attribute.type, "")
        if field and not attribute.HasField(field):
            yield _found("no-value", what)
        return
    if scope.function is None:
        yield _found("reference-outside", what)
        return
    known = {*scope.function.attribute, *(one.name for one in scope.function.attribute_proto)}
    if attribute.ref_attr_name not in known:
        yield _found("reference-unknown", what, shown(attribute.ref_attr_name))


def _call(node: NodeProto, function: FunctionProto, who: str) -> Iterator[ModelFinding]:
    """onnx.checker (1.23) looks at no call of a function."""
    for role, given, takes in (
        ("inputs", len(node.input), len(function.input)),
        ("outputs", len(node.output), len(function.output)),
    ):
        if given > takes:
            yield ModelFinding(Area.NODE, "call-arity", who, (given, role, takes))
    known = {*function.attribute, *(one.name for one in function.attribute_proto)}
    named = {one.name for one in node.attribute}
    for name in sorted(named - known):
        yield _found("call-unknown", who, shown(name))
    for name in sorted(set(function.attribute) - named):
        yield _found("call-missing", who, shown(name))


def _found(code: str, about: str, *values: int | str) -> ModelFinding:
    return ModelFinding(Area.ATTRIBUTE, code, about, values)
