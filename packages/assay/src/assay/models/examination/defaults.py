"""Attributes that a node leaves to their defaults, written out where onnx takes the operator apart into others.

onnx 1.23 knows no default then, and its strict inference and full check refuse what the specification allows: a
MeanVarianceNormalization without axes, onnx's own test_mvn, as a Constant without a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.models.examination.node_schema import schema_of
from assay.models.examination.walk import scopes

if TYPE_CHECKING:
    from onnx import ModelProto


def tell_defaults(model: ModelProto) -> bool:
    """In place, but for the bodies of functions; whether anything was written."""
    from onnx import AttributeProto

    is_written = False
    for scope in scopes(model):
        for node in scope.graph.node if scope.function is None else ():
            schema: Any = schema_of(node, scope.opsets)  # its stub lacks has_function
            if schema is None or not (schema.has_function or schema.has_context_dependent_function):
                continue
            named = {attr.name for attr in node.attribute}
            for name, attribute in schema.attributes.items():
                if name not in named and attribute.default_value.type != AttributeProto.UNDEFINED:
                    node.attribute.append(attribute.default_value)
                    is_written = True
    return is_written
