"""How a model is deployed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from assay.core.model import TensorSpec

Sizes = tuple[int, int, int]
"""The least, the usual and the largest size of a dimension."""
Option = str | int | float | bool
VARIABLE = "env."
"""Begins the name of an option that is a variable of the worker's process: `env.ONEDNN_MAX_CPU_ISA`. Libraries read such a one once."""


class Flow(msgspec.Struct, frozen=True):
    """Backend + transforms + device + options + environment; `environment` empty means the driver's own.

    `transforms` are `name` or `name:argument`, in order. `dims` are (least, usual, most) of the symbolic dimensions that somebody
    stated: the worker fills them in from the case before it lowers. `sample_sizes` are those of the samples that the engine will
    be fed, by `input[axis]`, for backends that need a size for every dimension (`assay.ports.BuiltForSizes`). `allowances` are
    what it declares beside its precision (`assay.numerics.tolerance.arithmetic.ALLOWANCES`: winograd, fp16-accumulation ...).
    """

    name: str
    backend: str
    options: dict[str, Option] = {}
    transforms: tuple[str, ...] = ()
    device: str = "cpu"
    environment: str = ""
    precision: str = "float32"
    dims: dict[str, Sizes] = {}
    allowances: tuple[str, ...] = ()
    sample_sizes: dict[str, Sizes] = {}


def device_of(flow: Flow) -> str:
    """Its kind, `cuda` of `cuda:1`. A backend with an option for it says by that where it runs."""
    return str(flow.options.get("device", flow.device)).partition(":")[0]


def variables_of(options: Mapping[str, Option]) -> dict[str, str]:
    """The variables of the process that these options name; an empty one is not set."""
    named = {name.removeprefix(VARIABLE): str(value) for name, value in options.items() if name.startswith(VARIABLE)}
    return {name: value for name, value in named.items() if value}


def dimension_key(name: str, axis: int, dimension: str) -> str:
    """What a symbolic dimension is called: by its name, or `input[2]` where it has none."""
    return f"{name}[{axis}]" if dimension == "?" else dimension


def sizes_to_build(flow: Flow, inputs: Iterable[TensorSpec]) -> dict[str, Sizes]:
    """Of every symbolic dimension of these inputs whose sizes are known, by `dimension_key`. The usual size is that of the
    samples; the others are those stated, wide enough for the samples."""
    sizes_by_axis: dict[str, Sizes] = {}
    for spec in inputs:
        for axis, size in enumerate(spec.shape):
            if not isinstance(size, str):
                continue
            key = dimension_key(spec.name, axis, size)
            stated, fed = flow.dims.get(key), flow.sample_sizes.get(f"{spec.name}[{axis}]")
            known = [sizes for sizes in (fed, sizes_by_axis.get(key), stated) if sizes is not None]
            if known:
                least, most = min(sizes[0] for sizes in known), max(sizes[2] for sizes in known)
                sizes_by_axis[key] = (least, sizes_by_axis.get(key, known[0])[1], most)
    return sizes_by_axis
