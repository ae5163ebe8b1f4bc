"""Each attribute against the operator's definition, and against itself: one value, of the type that it says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay_zoo.compliance.attribute_values import value_problem
from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.nodes import Functions, schema_of
from assay_zoo.compliance.walk import NAN_IS_A_WORD, Scope, called, domain_of, signature_of

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto
    from onnx.defs import OpSchema

_SINGLE = {"f": 1, "i": 2, "s": 3, "t": 4, "g": 5, "sparse_tensor": 11, "tp": 13}
_REPEATED = {"floats": 6, "ints": 7, "strings": 8, "tensors": 9, "graphs": 10, "sparse_tensors": 12, "type_protos": 14}
"""Field to AttributeProto.AttributeType (onnx.proto)."""
_NAMES = {number: field for field, number in (_SINGLE | _REPEATED).items()}


def check_attributes(everything: Sequence[Scope], functions: Functions) -> Iterator[Finding]:
    """Of every node of every graph."""
    for scope in everything:
        for index, node in enumerate(scope.graph.node):
            who = f"{called(node, index)}{scope.where}"
            for name, count in Counter(one.name for one in node.attribute).items():
                if count > 1:
                    yield _found("duplicate-attribute", f"{who} has {count} attributes called {shown(name)}")
            for attribute in node.attribute:
                yield from _value(attribute, scope, who)
                if domain_of(node.domain) not in NAN_IS_A_WORD and any(
                    map(math.isnan, (attribute.f, *attribute.floats))
                ):
                    yield _found("nan-attribute", f"attribute {shown(attribute.name)} of {who} is NaN")
            function = functions.get(signature_of(node))
            schema = None if function is not None else schema_of(node, scope.opsets)
            if function is not None:
                known = {*function.attribute, *(one.name for one in function.attribute_proto)}
                yield from _unknown(node, known, who)
                for name in sorted(set(function.attribute) - {one.name for one in node.attribute}):
                    yield _found(
                        "missing-attribute", f"{who} lacks the attribute {shown(name)} of the function it calls"
                    )
            elif schema is not None:
                yield from _against(node, schema, who)


def _value(attribute: AttributeProto, scope: Scope, who: str) -> Iterator[Finding]:
    what = f"attribute {shown(attribute.name)} of {who}"
    if not attribute.name:
        yield _found("unnamed-attribute", f"an attribute of {who} has no name")
    held = [field for field in _SINGLE if attribute.HasField(field)]
    held += [field for field in _REPEATED if len(getattr(attribute, field))]
    said = _NAMES.get(attribute.type, "")
    if attribute.ref_attr_name:
        yield from _reference(attribute, scope, what, held)
        return
    if not said:
        yield _found("attribute-type", f"{what} does not say its type; export the model again")
    if len(held) > 1:
        yield _found("attribute-value", f"{what} holds {len(held)} values ({', '.join(held)}), and only one is allowed")
    elif said and held and held != [said]:
        yield _found("attribute-value", f"{what} says that it is of type {said} and holds {held[0]}")
    elif said in _SINGLE and not held:
        yield _found("attribute-value", f"{what} says that it is of type {said} and holds no value")


def _reference(attribute: AttributeProto, scope: Scope, what: str, held: list[str]) -> Iterator[Finding]:
    if held:
        yield _found("attribute-value", f"{what} holds a value and refers to {shown(attribute.ref_attr_name)}, too")
    if scope.function is None:
        told = f"{what} refers to an attribute of a function, and there is none around it"
        yield _found("attribute-reference", told)
        return
    known = {*scope.function.attribute, *(one.name for one in scope.function.attribute_proto)}
    if attribute.ref_attr_name not in known:
        told = f"{what} refers to {shown(attribute.ref_attr_name)}, which the function does not declare"
        yield _found("attribute-reference", told)


def _against(node: NodeProto, schema: OpSchema, who: str) -> Iterator[Finding]:
    yield from _unknown(node, set(schema.attributes), who)
    for attribute in node.attribute:
        formal = schema.attributes.get(attribute.name)
        if formal is None or attribute.type not in _NAMES:
            continue
        takes = int(formal.type.value)  # type: ignore[attr-defined]  # a C++ enumeration
        if attribute.type != takes:
            told = f"attribute {shown(attribute.name)} of {who} is of type {_NAMES[attribute.type]}"
            yield _found("attribute-type", f"{told}, and the operator takes {_NAMES.get(takes, 'another')}")
        elif problem := value_problem(node, attribute):
            yield _found("attribute-value", f"attribute {shown(attribute.name)} of {who} {problem}")
    given = {one.name for one in node.attribute}
    for name, formal in schema.attributes.items():
        if formal.required and name not in given:
            yield _found("missing-attribute", f"{who} lacks its attribute {shown(name)}, which is not optional")


def _unknown(node: NodeProto, known: set[str], who: str) -> Iterator[Finding]:
    for attribute in node.attribute:
        if attribute.name not in known:
            told = f"{who} has an attribute {shown(attribute.name)}, which the operator does not know; remove it"
            yield _found("unknown-attribute", told)


def _found(kind: str, sentence: str) -> Finding:
    return Finding(Area.ATTRIBUTE, kind, sentence)
