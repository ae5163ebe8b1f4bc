"""Sparse weights as the dense ones that they stand for: to a node they are no different."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto


def densify(model: ModelProto, folder: str) -> None:
    """In place: initializers, and the values of Constant. `folder` is where external data lie. onnx.reference (onnx 1.23) takes no
    model that has a sparse initializer, and gives a sparse constant to operators that know none."""
    _densify_graph(model.graph, folder)
    for function in model.functions:
        _densify_nodes(function.node, folder)


def _densify_graph(graph: GraphProto, folder: str) -> None:
    graph.initializer.extend(_dense(sparse, folder) for sparse in graph.sparse_initializer)
    del graph.sparse_initializer[:]
    _densify_nodes(graph.node, folder)


def _densify_nodes(nodes: Iterable[NodeProto], folder: str) -> None:
    from onnx import helper

    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("sparse_tensor") and node.op_type == "Constant":
                attribute.CopyFrom(helper.make_attribute("value", _dense(attribute.sparse_tensor, folder)))
            for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                _densify_graph(graph, folder)


def _dense(sparse: SparseTensorProto, folder: str) -> TensorProto:
    """Places are counted through the dense form, or said axis by axis."""
    from onnx import numpy_helper

    values = numpy_helper.to_array(sparse.values, folder)
    places = numpy_helper.to_array(sparse.indices, folder)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    if places.ndim == 1:
        dense.reshape(-1)[places] = values
    else:
        dense[tuple(places.T)] = values
    return numpy_helper.from_array(dense, sparse.values.name)
