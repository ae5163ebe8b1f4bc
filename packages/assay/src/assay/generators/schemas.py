"""What the standard says of an operator at an opset: when it changed, and the types that it takes."""

from __future__ import annotations

from functools import cache
from typing import Any

from onnx import defs

from assay.core.screening import INPUT

LATEST = 24
"""The newest opset that is generated. A fixed number: schemas of an opset do not change, whatever onnx is installed."""
_ELEMENTS = {"float": "float32", "double": "float64"}


class NotMade(Exception):
    """This draw leads to no valid node."""


@cache
def schema_at(operator: str, opset: int) -> Any:
    """Raises NotMade for an operator that is not there yet, or not any more."""
    try:
        op_schema = defs.get_schema(operator, opset)
    except defs.SchemaError:
        raise NotMade from None
    if op_schema.deprecated:
        raise NotMade
    return op_schema


def optional_names(schema: Any) -> set[str]:
    """Of what a node may leave out: "Shape.start", "Clip input min"."""
    optional = defs.OpSchema.FormalParameterOption.Optional
    attributes = {f"{schema.name}.{name}" for name, attribute in schema.attributes.items() if not attribute.required}
    return attributes | {f"{schema.name}{INPUT}{each.name}" for each in schema.inputs if each.option == optional}


@cache
def changes_of(operator: str, latest: int = LATEST) -> tuple[int, ...]:
    """The opsets in which it changed, from 7 on: engines read no older ones. The first is what it was at 7."""
    versions = set()
    for opset in range(7, latest + 1):
        try:
            versions.add(int(schema_at(operator, opset).since_version))
        except NotMade:
            continue
    return tuple(sorted(max(7, version) for version in versions))


@cache
def allowed(operator: str, opset: int, place: int) -> tuple[str, ...]:
    """Names of element types, sorted. Text, complex numbers, and types of less than a byte are left out."""
    schema = schema_at(operator, opset)
    if place >= len(schema.inputs) and schema.inputs:
        place = len(schema.inputs) - 1
    texts = sorted(schema.inputs[place].types)
    inner = [text[7:-1] for text in texts if text.startswith("tensor(")]
    names = [_ELEMENTS.get(text, text) for text in inner]
    return tuple(name for name in names if name in GENERATED)


GENERATED = (
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
