"""The default domain has two spellings, "" and "ai.onnx", "equivalent in an onnx proto representation"
(onnx/common/constants.h); the checker, the inference and the reference evaluator of onnx 1.23 know nodes of the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_OTHER = "ai.onnx"


def normalize(model: ModelProto) -> bool:
    """Write it as "" throughout, in place; whether anything changed."""
    imports = (entry for owner in (model, *model.functions) for entry in owner.opset_import)
    training = (graph for each in model.training_info for graph in (each.initialization, each.algorithm))
    graphs = (node for graph in (model.graph, *training) for node in _nodes(graph.node))
    bodies = (node for function in model.functions for node in _nodes(function.node))
    spelled = [proto for proto in (*imports, *model.functions, *graphs, *bodies) if proto.domain == _OTHER]
    for proto in spelled:
        proto.domain = ""
    return bool(spelled)


def _nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _nodes(graph.node)
