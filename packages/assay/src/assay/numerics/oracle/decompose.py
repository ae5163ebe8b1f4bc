"""Operators taken apart into the steps that define them, so that each step is computed, and rounds, on its own."""

from __future__ import annotations

from onnx import AttributeProto, ModelProto, defs, helper, inliner

from assay.numerics.operators.index import names_where
from assay.numerics.oracle.contrib.decompose_contrib import decomposed

EXPANDED = names_where(lambda record: record.expanded)
"""Defined by the standard as functions of others; onnx.reference computes some of them in float32 only."""


def expanded(proto: ModelProto, also: frozenset[str] = frozenset()) -> ModelProto:
    """The same model in smaller steps; the model itself where it has none of these, or where onnx 1.23 cannot take them
    apart (an optional input left out in the middle). Operators of com.microsoft are made of such steps, too. `also`: further operators
    that are taken apart."""
    proto = decomposed(proto)
    refused: set[str] = set()
    while present := _present(proto, EXPANDED | also) - refused:
        name = min(present)
        try:
            proto = inliner.inline_selected_functions(_described(proto, {name}), [("", name)], False, True)
        except RuntimeError:
            refused.add(name)
        else:
            refused |= _present(proto, EXPANDED | also) & {name}
    return proto


def _present(proto: ModelProto, names: frozenset[str]) -> set[str]:
    """One may be made of another."""
    return {node.op_type for node in proto.graph.node if node.domain in ("", "ai.onnx")} & names


def _described(proto: ModelProto, operators: set[str]) -> ModelProto:
    """A copy in which these name their attributes, and stored numbers have a type beside the graph: what onnx 1.23 takes apart knows
    no default, and no type of an initializer."""
    copy = ModelProto()
    copy.CopyFrom(proto)
    known = {value.name for value in (*copy.graph.input, *copy.graph.value_info)}
    copy.graph.value_info.extend(
        helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        for tensor in copy.graph.initializer
        if tensor.name not in known
    )
    opset = next((entry.version for entry in copy.opset_import if entry.domain in ("", "ai.onnx")), 1)
    for node in copy.graph.node:
        if node.op_type in operators and node.domain in ("", "ai.onnx"):
            named = {attr.name for attr in node.attribute}
            schema = defs.get_schema(node.op_type, opset)
            for name, attribute in schema.attributes.items():
                if name not in named and attribute.default_value.type != AttributeProto.UNDEFINED:
                    node.attribute.append(attribute.default_value)
    return copy
