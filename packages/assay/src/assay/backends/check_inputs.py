"""Inputs checked against what an engine declares, for backends that would read past the end of a wrong array."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.dtype import dtype_name
from assay.core.model import TensorSpec
from assay.errors import WrongShape
from assay.ports import Tensors


def check_inputs(tensors: Tensors, specs: Sequence[TensorSpec]) -> None:
    """Names, dtypes and fixed dimensions must be the declared ones; a symbol or "?" takes any size.

    Raises ValueError with the first input that differs, WrongShape where it is of another shape. An empty shape is a scalar, as in ONNX.
    """
    for spec in specs:
        if spec.name not in tensors:
            raise ValueError(f'Input "{spec.name}" is missing; feed {", ".join(one.name for one in specs)}.')
        array = tensors[spec.name]
        if spec.dtype and dtype_name(array.dtype) != spec.dtype:
            raise ValueError(f'Input "{spec.name}" is {array.dtype}; the model takes {spec.dtype}.')
        fits = len(array.shape) == len(spec.shape) and all(
            wanted == got for wanted, got in zip(spec.shape, array.shape, strict=True) if isinstance(wanted, int)
        )
        if not fits:
            wanted_shape = "x".join(str(dimension) for dimension in spec.shape) or "scalar"
            got_shape = "x".join(str(dimension) for dimension in array.shape) or "scalar"
            text = f'Input "{spec.name}" has shape {got_shape}; the model takes {wanted_shape}.'
            raise WrongShape(text, name=spec.name, wanted=tuple(spec.shape))
    extra = sorted(set(tensors) - {spec.name for spec in specs})
    if extra:
        raise ValueError(f'Input "{extra[0]}" is fed, but the model has no such input.')
