"""Weights that poison every answer: NaN and infinity, read in blocks, for weights may be larger than memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.dtype import is_floating
from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import ModelPart, PartKind
from assay.models.examination.stored_tensors import tensors_of
from assay.models.examination.walk import NAN_IS_A_WORD, Scope, domain_of, node_part
from assay.numerics.onnx_elements import element_name

if TYPE_CHECKING:
    from onnx import TensorProto

_BLOCK = 1 << 22
"""Elements looked at at once."""
_BYTES = {"float16", "float32", "float64", "bfloat16", "complex64", "complex128"}


def check_values(everything: Sequence[Scope], folder: Path) -> Iterator[ModelFinding]:
    """NaN and infinity, in external data as well, which must have been found sound before."""
    for held in tensors_of(everything):
        problem = _problem(held.tensor, folder) if held.domain not in NAN_IS_A_WORD else ()
        if problem:
            yield ModelFinding(held.area, "not-finite", held.what, problem, Severity.RESTRICTED)
    for scope in everything:
        for index, node in enumerate(scope.graph.node):
            for attribute in node.attribute if domain_of(node.domain) not in NAN_IS_A_WORD else ():
                if any(map(math.isnan, (attribute.f, *attribute.floats))):
                    about = ModelPart(PartKind.ATTRIBUTE, attribute.name, inside=node_part(node, index, scope.where))
                    yield ModelFinding(Area.ATTRIBUTE, "nan-attribute", about, (), Severity.RESTRICTED)


def _problem(tensor: TensorProto, folder: Path) -> tuple[int | str, ...]:
    """How many values are wrong, how, and among how many; nothing where all are right, and for what cannot be NaN.

    Infinity is no fault where it stands for "no limit": a single value, or a mask (all else is zero or the lowest value).
    """
    name = element_name(tensor.data_type)
    if not (is_floating(name) or name.startswith("complex")):
        return ()
    nan = infinite = 0
    finite: set[float] = set()
    array = _array(tensor, folder, name)
    flat = array.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        wide = (
            block if block.dtype.kind == "c" else block.astype(np.float32 if block.dtype.itemsize < 4 else block.dtype)
        )
        bad = ~np.isfinite(wide)
        if bad.any():
            missing = np.isnan(wide)
            nan += int(missing.sum())
            infinite += int(bad.sum() - missing.sum())
        if infinite and wide.dtype.kind == "f" and len(finite) < 3:
            finite |= set(np.unique(wide[~bad])[:3].tolist())
    if nan:
        return nan, "NaN", flat.size
    # 0 and 1, 0 and -inf: what masks are made of.
    if infinite and not (flat.size == 1 or finite <= {0.0, 1.0}):
        return infinite, "infinite", flat.size
    return ()


def _array(tensor: TensorProto, folder: Path, name: str) -> np.ndarray[Any, Any]:
    from onnx import TensorProto as Definition
    from onnx import numpy_helper
    from onnx.helper import tensor_dtype_to_np_dtype

    if tensor.data_location != Definition.EXTERNAL:
        return np.asarray(numpy_helper.to_array(tensor))
    if name not in _BYTES:
        return np.zeros(0)
    entries = {entry.key: entry.value for entry in tensor.external_data}
    dtype = np.dtype(tensor_dtype_to_np_dtype(tensor.data_type))
    count = int(np.prod(tensor.dims, dtype=np.int64))
    if not count:
        return np.zeros(0)
    # ml_dtypes' types cannot be mapped by name: the bytes are mapped and seen as the type.
    mapped = np.memmap(
        folder / entries["location"], np.uint8, "r", int(entries.get("offset", "0")), (count * dtype.itemsize,)
    )
    return mapped.view(dtype)
