"""Stored tensors: as many values as type and shape need, in the field of their type, each of them one that the type has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.core.model_finding import Area, ModelFinding
from assay.core.model_part import ModelPart, PartKind
from assay.models.examination.quoting import format_shape
from assay.models.examination.types import LARGEST_INDEX
from assay.models.examination.walk import Scope, domain_of, node_part
from assay.numerics.onnx_elements import bits_of, element_name

if TYPE_CHECKING:
    from onnx import SparseTensorProto, TensorProto


class OwnedTensor(NamedTuple):
    """A tensor, where it is, the area that it belongs to, and the domain of the node that holds it ("" for none)."""

    tensor: TensorProto
    what: ModelPart
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
            yield OwnedTensor(tensor, ModelPart(PartKind.INITIALIZER, tensor.name, inside=scope.where), Area.GRAPH)
        for sparse in scope.graph.sparse_initializer:
            what = ModelPart(PartKind.SPARSE_INITIALIZER, sparse.values.name, inside=scope.where)
            yield from _parts(sparse, what, Area.GRAPH)
        for index, node in enumerate(scope.graph.node):
            domain = domain_of(node.domain)
            for attribute in node.attribute:
                what = ModelPart(PartKind.ATTRIBUTE, attribute.name, inside=node_part(node, index, scope.where))
                for tensor in ([attribute.t] if attribute.HasField("t") else []) + list(attribute.tensors):
                    yield OwnedTensor(tensor, what, Area.ATTRIBUTE, domain)
                own = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
                for sparse in (*own, *attribute.sparse_tensors):
                    yield from _parts(sparse, what, Area.ATTRIBUTE, domain)


def _parts(sparse: SparseTensorProto, what: ModelPart, area: Area, domain: str = "") -> Iterator[OwnedTensor]:
    yield OwnedTensor(sparse.values, ModelPart(PartKind.SPARSE_VALUES, inside=what), area, domain)
    yield OwnedTensor(sparse.indices, ModelPart(PartKind.SPARSE_INDICES, inside=what), area, domain)


def check_tensors(everything: Sequence[Scope]) -> Iterator[ModelFinding]:
    """Type, storage and size of each."""
    for owned in tensors_of(everything):
        for code, values in _stored(owned.tensor):
            yield ModelFinding(owned.area, code, owned.what, values)


Problem = tuple[str, tuple[int | str, ...]]
"""A code, and the values of its sentence."""


def _stored(tensor: TensorProto) -> Iterator[Problem]:
    from onnx import TensorProto as Definition

    if not element_name(tensor.data_type):
        yield "no-type", (tensor.data_type,)
        return
    if any(size < 0 for size in tensor.dims):
        yield "negative-dimension", (format_shape(tensor.dims),)
        return
    if prod(tensor.dims) > LARGEST_INDEX:
        yield "overflow", (format_shape(tensor.dims),)
        return
    if tensor.HasField("segment"):
        yield "data-segments", ()
    if tensor.data_location == Definition.EXTERNAL:
        return
    if tensor.external_data:
        yield "data-undecided", ()
        return
    held = [field for field in (*_FIELDS, "int32_data") if len(getattr(tensor, field))]
    held += ["raw_data"] if tensor.HasField("raw_data") else []
    if len(held) <= 1:  # of two, onnx.checker tells
        yield from _length(tensor, prod(tensor.dims), held[0] if held else "")


def _length(tensor: TensorProto, count: int, field: str) -> Iterator[Problem]:
    from onnx import TensorProto as Definition

    code, bits = Definition.DataType.Name(tensor.data_type), bits_of(tensor.data_type)
    own = next((name for name, codes in _FIELDS.items() if code in codes), "int32_data")
    if field not in ("", "raw_data", own) or (field == "raw_data" and code == "STRING"):
        return  # onnx.checker tells
    if field == "raw_data":
        needed, has, unit = (count * bits + 7) // 8, len(tensor.raw_data), "bytes"
    else:
        needed, has, unit = count, len(getattr(tensor, own)), "values"
        if code.startswith("COMPLEX"):
            needed *= 2
        elif bits < 8 and code != "STRING":
            needed = (count * bits + 7) // 8
    if has != needed:
        yield "data-length", (has, unit, element_name(tensor.data_type), format_shape(tensor.dims), needed)
    elif wrong := outside(tensor, field, code, bits):
        yield "data-range", (*wrong, element_name(tensor.data_type))


def outside(tensor: TensorProto, field: str, code: str, bits: int) -> tuple[str, int] | None:
    """A stored number that the element type does not have, a byte or a number; None where all are fine. Smaller types are stored in
    int32_data and uint64_data as numbers (bits of float16 and of packed types among them), truth in one byte."""
    if field == "raw_data" and code == "BOOL":
        bad = sorted(set(tensor.raw_data) - {0, 1})
        return ("byte", bad[0]) if bad else None
    if field == "int32_data" and code != "INT32":
        signed = code.startswith("INT") and bits >= 8
        width = 1 if code == "BOOL" else max(bits, 8)
        # Two packed signed values may be written as a signed byte.
        low = -(2 ** (width - 1)) if signed or bits < 8 else 0
        high = 2 ** (width - 1) - 1 if signed else 2**width - 1
        array = np.asarray(tensor.int32_data, np.int64)
    elif field == "uint64_data" and code == "UINT32":
        low, high, array = 0, 2**32 - 1, np.asarray(tensor.uint64_data, np.uint64)
    else:
        return None
    bad_ones = array[(array < low) | (array > high)]
    return ("number", int(bad_ones[0])) if bad_ones.size else None
