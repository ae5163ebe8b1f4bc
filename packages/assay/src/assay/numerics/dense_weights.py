"""Sparse weights as the dense ones that they stand for: to a node they are no different."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from assay.core.note import NoteCode, noted
from assay.core.outcome import Cause
from assay.errors import InvalidModel, Unsupported
from assay.numerics.onnx_elements import bits_of

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto

MOST_BYTES = 1 << 31
"""Of all dense forms together: a file of some hundred bytes may state any size."""


def state_length(tensor: TensorProto) -> None:
    """Of external data whose entry has no length: what type and shape need. onnx (1.23) would take all that follows in the file."""
    from onnx.external_data_helper import uses_external_data

    if uses_external_data(tensor) and all(entry.key != "length" for entry in tensor.external_data):
        needed = (prod(tensor.dims) * bits_of(tensor.data_type) + 7) // 8
        tensor.external_data.add(key="length", value=str(needed))


def densify(model: ModelProto, folder: str) -> None:
    """In place: initializers, and the values of Constant. `folder` is where external data lie. onnx.reference (onnx 1.23) takes no
    model that has a sparse initializer, and gives a sparse constant to operators that know none.

    Raises Unsupported where the dense forms would be too large, and InvalidModel for a place that is outside of its weight."""
    _require_room(model)
    _densify_graph(model.graph, folder)
    for function in model.functions:
        _densify_nodes(function.node, folder)


def _require_room(model: ModelProto) -> None:
    sizes = [(_dense_bytes(sparse), sparse) for sparse in all_sparse(model)]
    total = sum(size for size, _ in sizes)
    if total >= MOST_BYTES:
        _, largest = max(sizes, key=lambda entry: entry[0])
        name, shape = largest.values.name, str(list(largest.dims))
        raise Unsupported(
            noted(NoteCode.SPARSE_TOO_LARGE, name=name, shape=shape, size_bytes=total, most_bytes=MOST_BYTES),
            cause=Cause.REFUSED.value,
        )


def _dense_bytes(sparse: SparseTensorProto) -> int:
    return int(prod(sparse.dims)) * max(bits_of(sparse.values.data_type), 8) // 8


def all_sparse(model: ModelProto) -> Iterator[SparseTensorProto]:
    """Weights, in bodies of nodes and functions too, and values of Constant."""
    yield from _sparse_of_graph(model.graph)
    for function in model.functions:
        yield from _sparse_of_nodes(function.node)


def _sparse_of_graph(graph: GraphProto) -> Iterator[SparseTensorProto]:
    yield from graph.sparse_initializer
    yield from _sparse_of_nodes(graph.node)


def _sparse_of_nodes(nodes: Iterable[NodeProto]) -> Iterator[SparseTensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("sparse_tensor") and node.op_type == "Constant":
                yield attribute.sparse_tensor
            for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _sparse_of_graph(graph)


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

    for half in (sparse.values, sparse.indices):
        state_length(half)
    values = numpy_helper.to_array(sparse.values, folder)
    places = numpy_helper.to_array(sparse.indices, folder)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    sizes = np.array([dense.size] if places.ndim == 1 else dense.shape, np.int64)
    by_axis = places.reshape(len(places), -1)
    if by_axis.shape != (len(values), len(sizes)) or ((by_axis < 0) | (by_axis >= sizes)).any():
        name, shape = sparse.values.name, str(list(sparse.dims))
        raise InvalidModel(noted(NoteCode.SPARSE_PLACE_OUTSIDE, name=name, shape=shape), node=name)
    if places.ndim == 1:
        dense.reshape(-1)[places] = values
    else:
        dense[tuple(places.T)] = values
    return numpy_helper.from_array(dense, sparse.values.name)
