"""A model whose outputs are tensors, so that a tolerance can be derived for it: the maps of a classifier as the scores in them."""

from __future__ import annotations

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from assay.core.note import NoteCode, noted
from assay.errors import Lowering

_ML = "ai.onnx.ml"


def tensors_only(proto: ModelProto) -> ModelProto:
    """The same model where all inputs and outputs are tensors; else a copy in which each output of a ZipMap is what went into it,
    under the name of its values (`probabilities[]{values}`). Raises Lowering where another input or output is none."""
    nested = [
        value for value in (*proto.graph.input, *proto.graph.output) if _kind(value) not in ("tensor", "undefined")
    ]
    if not nested:
        return proto
    zips = {node.output[0]: node for node in proto.graph.node if node.op_type == "ZipMap" and node.domain == _ML}
    for value in nested:
        if value.name not in zips or value.name in {name for node in proto.graph.node for name in node.input}:
            raise Lowering(noted(NoteCode.NO_NOISE_IN, value=value.name, kind=_kind(value)))
    changed = ModelProto()
    changed.CopyFrom(proto)
    for node in changed.graph.node:
        if node.op_type == "ZipMap" and node.domain == _ML:
            node.CopyFrom(_scores_of(node))
    for name, node in zips.items():
        width = len(_labels(node))
        changed.graph.initializer.append(helper.make_tensor(f"{name}{_WIDTH}", TensorProto.INT64, [2], [-1, width]))
    outputs = [_value(value) if value.name in zips else value for value in proto.graph.output]
    del changed.graph.output[:]
    changed.graph.output.extend(outputs)
    return changed


_WIDTH = "/assay/width"


def _scores_of(node: NodeProto) -> NodeProto:
    """A row for each map: of a single one, too."""
    name = node.output[0]
    return helper.make_node("Reshape", [node.input[0], f"{name}{_WIDTH}"], [f"{name}[]{{values}}"], name=node.name)


def _labels(node: NodeProto) -> list[object]:
    return [label for attribute in node.attribute for label in helper.get_attribute_value(attribute)]


def _value(output: ValueInfoProto) -> ValueInfoProto:
    return helper.make_tensor_value_info(f"{output.name}[]{{values}}", TensorProto.FLOAT, None)


def _kind(value: ValueInfoProto) -> str:
    return (value.type.WhichOneof("value") or "undefined").removesuffix("_type")
