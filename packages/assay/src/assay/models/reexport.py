"""A program exported again: its dynamic sizes given bounds or made fixed, or its module replaced by one made from it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.core.model import TensorSpec
from assay.models.program import Names, Program, describe

Bounds = Mapping[str, tuple[int, int]]
"""(least, most) of each symbol of the inputs; equal where it is to be fixed."""


def reexport(program: Program, bounds: Bounds, *, usual: Mapping[str, int], module: Any = None) -> Program:
    """`module` (the program's own by default) traced at the `usual` sizes, each symbol dynamic within its bounds where the
    graph allows it. The inputs of the result keep their symbols: `bounds_of` tells what they became.

    Raises whatever torch.export raises.
    """
    import torch
    from torch.utils import _pytree

    from assay.onnx_to_torch.dtypes import torch_dtype

    spec = program.exported.call_spec.in_spec
    examples = [
        torch.ones(
            [size if isinstance(size, int) else usual[size] for size in array.shape], dtype=torch_dtype(array.dtype)
        )
        for array in program.inputs
    ]
    args, kwargs = _pytree.tree_unflatten(examples, spec)
    dynamic, named = _pytree.tree_unflatten([_axes(array, bounds) for array in program.inputs], spec)
    traced = program.exported.module() if module is None else module
    shapes: Any = tuple(dynamic)
    if kwargs:
        shapes = {**dict(zip(inspect.signature(traced.forward).parameters, dynamic, strict=False)), **named}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        exported = torch.export.export(traced, tuple(args), dict(kwargs), dynamic_shapes=shapes)
    names = Names(program.inputs, tuple(output.name for output in program.outputs))
    return replace(describe(exported, names), inputs=program.inputs)


def bounds_of(program: Program, bounds: Bounds) -> dict[str, tuple[int, int]]:
    """What each symbol of the inputs really may be: a size that the graph turned out to be made for is its only one."""
    sizes_by_symbol: dict[str, tuple[int, int]] = {}
    for declared, made in zip(program.inputs, describe(program.exported).inputs, strict=True):
        for symbol, size in zip(declared.shape, made.shape, strict=True):
            if isinstance(symbol, str):
                sizes_by_symbol[symbol] = (size, size) if isinstance(size, int) else bounds[symbol]
    return sizes_by_symbol


def symbols(inputs: tuple[TensorSpec, ...]) -> dict[str, int]:
    """Every symbol of the inputs and the axis where it stands first."""
    axes: dict[str, int] = {}
    for spec in inputs:
        for axis, size in enumerate(spec.shape):
            if isinstance(size, str):
                axes.setdefault(size, axis)
    return axes


def _axes(spec: TensorSpec, bounds: Bounds) -> dict[int, Any]:
    import torch

    free = {axis: bounds[size] for axis, size in enumerate(spec.shape) if isinstance(size, str)}
    return {axis: torch.export.Dim.AUTO(min=least, max=most) for axis, (least, most) in free.items() if least != most}
