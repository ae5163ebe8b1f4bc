"""Evaluating a graph in double, and the forms of what goes in and comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.core.dtype import is_floating
from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.oracle.other_readings import other_classes, readings_of
from assay.ports import Tensor, Tensors


def wide_evaluator(proto: Any, weights: Tensors, *, otherwise: bool = False) -> WideEvaluator:
    """`otherwise`: by the other readings of its operators. Raises Lowering for operators and forms that the evaluation has no code for."""
    try:
        other = other_classes(readings_of(proto)) if otherwise else None
        return WideEvaluator(copied(proto), weights=weights, new_ops=other)
    except Lowering:
        raise
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise Lowering(noted(NoteCode.NOT_IN_DOUBLE, error=" ".join(str(error).split())[:300])) from error


def copied(proto: Any) -> Any:
    from onnx import ModelProto

    other = ModelProto()
    other.CopyFrom(proto)
    return other


def as_type(inputs: Tensors, dtype: Any) -> dict[str, Tensor]:
    """Every real input in one type, after the backend's own rounding of it."""
    to = np.dtype(dtype)
    with np.errstate(over="ignore"):
        return {
            name: array.astype(to) if is_floating(array.dtype.name) and array.dtype.itemsize > 1 else array
            for name, array in inputs.items()
        }


def named(names: Sequence[str], values: Sequence[Any]) -> dict[str, Tensor]:
    """Raises Lowering for a sequence or a map: only tensors can be compared."""
    tensors = {}
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, np.ndarray | np.generic):
            raise Lowering(noted(NoteCode.OUTPUT_NO_TENSOR, output=name, type=type(value).__name__))
        tensors[name] = np.asarray(value)
    return tensors


def check_classes(base: dict[str, Tensor], wide: dict[str, Tensor]) -> None:
    """Single precision must not overflow where double does not."""
    for name, value in base.items():
        if value.dtype.kind == "f" and not np.array_equal(np.isfinite(value), np.isfinite(wide[name])):
            raise FloatingPointError(name)
