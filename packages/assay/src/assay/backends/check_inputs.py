"""Inputs checked against what an engine declares, for backends that would read past the end of a wrong array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.dtype import dtype_name
from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported, WrongInput, WrongShape
from assay.ports import Tensors


def other_sizes(error: WrongInput, sizes: Mapping[str, int]) -> Unsupported:
    """Of an engine that was compiled for these sizes, where the model takes others."""
    named = tuple(f"{name}={size}" for name, size in sizes.items())
    return Unsupported(noted(BackendCode.OTHER_SIZES, error=error.reason, sizes=named))


def check_inputs(tensors: Tensors, specs: Sequence[TensorSpec]) -> None:
    """Names, dtypes and fixed dimensions must be the declared ones; a symbol or "?" takes any size.

    Raises WrongInput with the first input that differs, WrongShape where it is of another shape. An empty shape is a scalar, as in ONNX.
    """
    for spec in specs:
        if spec.name not in tensors:
            names = tuple(tensor_spec.name for tensor_spec in specs)
            raise WrongInput(noted(BackendCode.INPUT_MISSING, input=spec.name, inputs=names))
        array = tensors[spec.name]
        if spec.dtype and dtype_name(array.dtype) != spec.dtype:
            raise WrongInput(noted(BackendCode.INPUT_TYPE, input=spec.name, dtype=str(array.dtype), wanted=spec.dtype))
        fits = len(array.shape) == len(spec.shape) and all(
            due == got for due, got in zip(spec.shape, array.shape, strict=True) if isinstance(due, int)
        )
        if not fits:
            note = noted(BackendCode.INPUT_SHAPE, input=spec.name, shape=array.shape, wanted=spec.shape)
            raise WrongShape(note, name=spec.name, shape=spec.shape)
    extra = sorted(set(tensors) - {spec.name for spec in specs})
    if extra:
        raise WrongInput(noted(BackendCode.INPUT_NOT_TAKEN, input=extra[0]))


def check_bounds(tensors: Tensors, specs: Sequence[TensorSpec], bounds: Mapping[str, tuple[int, int]]) -> None:
    """Of a program of ExecuTorch, that was made for sizes within these bounds, each the same in all inputs. Raises Unsupported for a size
    beyond them, WrongInput for sizes that differ, and for an empty tensor."""
    sizes: dict[str, int] = {}
    for spec in specs:
        array = tensors[spec.name]
        if array.size == 0:
            raise WrongInput(noted(BackendCode.INPUT_EMPTY, input=spec.name, library="ExecuTorch"))
        for symbol, size in zip(spec.shape, array.shape, strict=True):
            if not isinstance(symbol, str) or symbol not in bounds:
                continue
            least, most = bounds[symbol]
            if not least <= size <= most:
                raise Unsupported(
                    noted(BackendCode.SIZE_BEYOND, input=spec.name, dimension=symbol, size=size, least=least, most=most)
                )
            if (other := sizes.setdefault(symbol, size)) != size:
                raise WrongInput(
                    noted(BackendCode.SIZES_DIFFER, input=spec.name, dimension=symbol, size=size, other=other)
                )
