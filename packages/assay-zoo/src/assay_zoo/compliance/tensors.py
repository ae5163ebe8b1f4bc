"""Stored tensors: as many bytes as type and shape need, in one field, and no value that poisons every answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay_zoo.compliance.element import bits_of, element_name
from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.request import Request
from assay_zoo.compliance.types import LARGEST_INDEX, format_shape
from assay_zoo.compliance.values import outside, value_problem
from assay_zoo.compliance.walk import NAN_IS_A_WORD, Scope, called, domain_of, inside

if TYPE_CHECKING:
    from onnx import SparseTensorProto, TensorProto


class OwnedTensor(NamedTuple):
    """A tensor, how a sentence names it, where it belongs, and the domain of the node that holds it ("" for none)."""

    tensor: TensorProto
    what: str
    area: Area
    domain: str = ""


_FIELDS = {
    "float_data": ("FLOAT", "COMPLEX64"),
    "double_data": ("DOUBLE", "COMPLEX128"),
    "int64_data": ("INT64",),
    "uint64_data": ("UINT32", "UINT64"),
    "string_data": ("STRING",),
}
"""Every other type is stored in int32_data (onnx.proto)."""


def tensors_of(everything: Sequence[Scope]) -> Iterator[OwnedTensor]:
    """Initializers and tensors in attributes, dense ones and the parts of sparse ones."""
    for scope in everything:
        for tensor in scope.graph.initializer:
            yield OwnedTensor(tensor, f"initializer {shown(tensor.name)}{scope.where}", Area.GRAPH)
        for sparse in scope.graph.sparse_initializer:
            what = f"sparse initializer {shown(sparse.values.name)}{scope.where}"
            yield OwnedTensor(sparse.values, f"the values of {what}", Area.GRAPH)
            yield OwnedTensor(sparse.indices, f"the indices of {what}", Area.GRAPH)
        for index, node in enumerate(scope.graph.node):
            domain = domain_of(node.domain)
            for attribute in node.attribute:
                what = f"attribute {shown(attribute.name)} of {called(node, index)}{scope.where}"
                for tensor in ([attribute.t] if attribute.HasField("t") else []) + list(attribute.tensors):
                    yield OwnedTensor(tensor, what, Area.ATTRIBUTE, domain)
                own = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
                for sparse in (*own, *attribute.sparse_tensors):
                    yield OwnedTensor(sparse.values, f"the values of {what}", Area.ATTRIBUTE, domain)
                    yield OwnedTensor(sparse.indices, f"the indices of {what}", Area.ATTRIBUTE, domain)


def check_tensors(everything: Sequence[Scope], request: Request) -> Iterator[Finding]:
    """Types, storage and size of each; `check_values` looks inside."""
    for tensor, what, area, _ in tensors_of(everything):
        yield from _stored(tensor, what, area)
    for scope in everything:
        for sparse in scope.graph.sparse_initializer:
            yield from _sparse(sparse, f"sparse initializer {shown(sparse.values.name)}{scope.where}", request)
        yield from _used(scope)


def check_values(everything: Sequence[Scope], folder: Path) -> Iterator[Finding]:
    """NaN and infinity, in external data as well, which must have been found sound before."""
    for held in tensors_of(everything):
        problem = value_problem(held.tensor, folder) if held.domain not in NAN_IS_A_WORD else ""
        if problem:
            told_ = f"{held.what} {problem}; export the model again from sound weights"
            yield Finding(held.area, "not-finite", told_)


def _stored(tensor: TensorProto, what: str, area: Area) -> Iterator[Finding]:
    from onnx import TensorProto as Definition

    name = element_name(tensor.data_type)
    if not name:
        yield Finding(area, "no-type", f"{what} is of element type {tensor.data_type}, which there is none of")
        return
    if any(size < 0 for size in tensor.dims):
        yield Finding(area, "negative-dimension", f"{what} has shape {format_shape(tensor.dims)}: no size is negative")
        return
    count = prod(tensor.dims)
    if count > LARGEST_INDEX:
        yield Finding(
            area, "overflow", f"{what} has shape {format_shape(tensor.dims)}: more elements than an int64 counts"
        )
        return
    held = [field for field in (*_FIELDS, "int32_data") if len(getattr(tensor, field))]
    held += ["raw_data"] if tensor.HasField("raw_data") else []
    if tensor.HasField("segment"):
        yield Finding(area, "data-storage", f"{what} is stored in segments, which no runtime reads")
    if tensor.data_location == Definition.EXTERNAL:
        if held:
            yield Finding(area, "data-storage", f"{what} lies in a file of its own and holds {held[0]}, too")
        return
    if tensor.external_data:
        told_ = f"{what} names external data, but says that its data are in the model"
        yield Finding(area, "data-storage", told_)
    if len(held) > 1:
        yield Finding(area, "data-storage", f"{what} holds its data {len(held)} times ({', '.join(held)})")
        return
    yield from _length(tensor, what, area, count, held[0] if held else "")


def _length(tensor: TensorProto, what: str, area: Area, count: int, field: str) -> Iterator[Finding]:
    from onnx import TensorProto as Definition

    code, bits = Definition.DataType.Name(tensor.data_type), bits_of(tensor.data_type)
    if field == "raw_data":
        if code == "STRING":
            yield Finding(area, "data-storage", f"{what} holds text as raw_data, which is not allowed")
            return
        needed, has, unit = (count * bits + 7) // 8, len(tensor.raw_data), "bytes"
    else:
        own = next((name for name, codes in _FIELDS.items() if code in codes), "int32_data")
        if field and field != own:
            yield Finding(area, "data-storage", f"{what} is {element_name(tensor.data_type)} and holds {field}")
            return
        needed, has, unit = count, len(getattr(tensor, own)), "values"
        if code.startswith("COMPLEX"):
            needed *= 2
        elif bits < 8 and code != "STRING":
            needed = (count * bits + 7) // 8
    if has != needed:
        size = f"{element_name(tensor.data_type)} {format_shape(tensor.dims)} needs {needed}"
        short = "too short" if has < needed else "too long"
        yield Finding(area, "data-length", f"the data of {what} are {short}: {has} {unit}, and {size}")
    elif wrong := outside(tensor, field, code, bits):
        name = element_name(tensor.data_type)
        yield Finding(area, "data-range", f"{what} holds {wrong}, which is no {name}; each runtime makes another of it")


def _sparse(sparse: SparseTensorProto, what: str, request: Request) -> Iterator[Finding]:
    """Of a sparse tensor: its dense size, and indices that are sorted, unique and inside."""
    dims, count = list(sparse.dims), prod(sparse.values.dims)
    dense = prod(dims) * bits_of(sparse.values.data_type) // 8
    if any(size <= 0 for size in dims) or prod(dims) > LARGEST_INDEX:
        yield Finding(Area.GRAPH, "sparse", f"{what} has shape {format_shape(dims)}, which cannot be")
        return
    if dense > request.allocation_bytes:
        limit = f"this zoo allows {request.allocation_bytes}"
        yield Finding(Area.GRAPH, "sparse", f"{what} has shape {format_shape(dims)}: {dense} bytes when dense, {limit}")
    if not sparse.values.name:
        yield Finding(Area.GRAPH, "sparse", f"{what}: its values have no name, so that no node can use it")
    shape = list(sparse.indices.dims)
    if shape not in ([count], [count, len(dims)]):
        yield Finding(Area.GRAPH, "sparse", f"{what} has {count} values and indices of shape {format_shape(shape)}")
        return
    yield from _indices(sparse, dims, what)


def _indices(sparse: SparseTensorProto, dims: list[int], what: str) -> Iterator[Finding]:
    from onnx import TensorProto, numpy_helper

    own = sparse.indices
    if own.data_type != TensorProto.INT64 or own.data_location == TensorProto.EXTERNAL:
        if own.data_type != TensorProto.INT64:
            yield Finding(Area.GRAPH, "sparse", f"{what} has indices of type {element_name(own.data_type)}, not int64")
        return
    try:
        indices = numpy_helper.to_array(own)
    except ValueError:
        return  # their length is a finding of its own
    limits = dims if indices.ndim == 2 else [prod(dims)]
    rows = [tuple(row) if indices.ndim == 2 else (int(row),) for row in indices.tolist()]
    for row in rows:
        if any(not 0 <= place < size for place, size in zip(row, limits, strict=True)):
            yield Finding(
                Area.GRAPH, "index", f"{what} has an index {list(row)} outside of its shape {format_shape(dims)}"
            )
            return
    if rows != sorted(set(rows)):
        yield Finding(Area.GRAPH, "sparse", f"{what} has indices that are not sorted, or come twice")


def _used(scope: Scope) -> Iterator[Finding]:
    """Weights that nobody reads, or that are stored twice: remarks."""
    used = {name for inner in _below(scope) for node in inner.graph.node for name in node.input}
    used |= {value.name for inner in _below(scope) for value in inner.graph.output}
    for tensor in scope.graph.initializer:
        if tensor.name not in used:
            told_ = f"initializer {shown(tensor.name)}{scope.where} is used by nobody"
            yield Finding(Area.GRAPH, "unused-initializer", told_, remark=True)
    same: dict[tuple[int, tuple[int, ...], bytes], list[str]] = defaultdict(list)
    for tensor in scope.graph.initializer:
        if len(tensor.raw_data) > 64:
            same[tensor.data_type, tuple(tensor.dims), tensor.raw_data].append(tensor.name)
    twice = Counter({names[0]: len(names) for names in same.values() if len(names) > 1})
    for name, count in twice.items():
        told_ = f"initializer {shown(name)}{scope.where} is stored {count} times under different names"
        yield Finding(Area.GRAPH, "duplicate-initializer", told_, remark=True)


def _below(scope: Scope) -> list[Scope]:
    found = [scope]
    for one in found:
        found += inside(one)
    return found
