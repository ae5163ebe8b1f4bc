"""Inputs drawn from one recorded seed: the same on every machine."""

from __future__ import annotations

import hashlib
import os
from math import prod
from typing import Any

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.core.input_plan import InputPlan
from assay.core.model import Model, TensorSpec
from assay.core.note import noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import BadModel
from assay.models.input_plan.generate import WORDS, constant_over_samples, draw_in_range, draw_texts
from assay.models.input_plan.symbols import planned_shapes

EXACT_MAGNITUDE = 3
"""Whole numbers this small give products and sums that are exact in any order, where the other operand is whole too."""
FILLS = ("normal", "exact")
_DRAWN_BYTES = 8
"""Of one value, as it is drawn."""
_MEMORY_BYTES = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

_LARGEST_INTEGER = 9
_LARGEST = {"int4": 7, "int2": 1, "uint2": 3}
_NO_VALUES = {"sequence", "optional", "map", "sparse", "opaque", "undefined"} | {
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",  # scale types and types no backend takes as input
}

Array = np.ndarray[Any, Any]


def random_inputs(
    signature: Model, *, seed: int, samples: int, batch: int, fill: str = "normal", plan: InputPlan | None = None
) -> list[dict[str, Array]]:
    """One dict per sample: floating inputs normal(0, 1), integers 0 to 9 (less where the type holds less), bools even.

    Each tensor of each sample has its own PCG64 stream from sha256 of seed, name and sample: adding an input or a
    sample changes no other. Values are drawn in float64 and then rounded, so that models that differ in precision
    alone get the same. A symbolic first dimension becomes `batch`, every other 16, one symbol one
    number; a `plan` has its own sizes, and ranges of values. `fill` exact draws small whole numbers for floating inputs. Raises
    `BadModel` for an input that is no tensor of numbers.
    """
    plan = plan or InputPlan()
    check_can_be_generated(signature, samples=samples, batch=batch, plan=plan)
    shapes = planned_shapes(signature, plan, batch=batch)
    return [
        {spec.name: _planned(spec, shapes[spec.name], plan, seed, sample, fill) for spec in signature.inputs}
        for sample in range(samples)
    ]


def _planned(spec: TensorSpec, shape: tuple[int, ...], plan: InputPlan, seed: int, sample: int, fill: str) -> Array:
    input_range = plan.ranges.get(spec.name)
    if input_range is None:
        drawn = plan.floats if plan.floats != "normal" and fill == "normal" else fill
        return _draw(spec, shape, _stream(seed, spec.name, sample), drawn)
    stream = _stream(seed, spec.name, 0 if constant_over_samples(input_range) else sample)
    return draw_in_range(spec.dtype, shape, input_range, stream, sample)


def check_can_be_generated(signature: Model, *, samples: int, batch: int, plan: InputPlan | None = None) -> None:
    """Raises `BadModel` for an input for which no values can be generated, and for more of them than this machine can hold."""
    for spec in signature.inputs:
        if spec.dtype in _NO_VALUES:
            raise BadModel(noted(ModelCode.NO_VALUES_FOR, source=signature.source, dtype=spec.dtype, input=spec.name))
        if spec.shape == ("...",):
            raise BadModel(noted(ModelCode.NO_RANK_OF, source=signature.source, input=spec.name))
    shapes = planned_shapes(signature, plan or InputPlan(), batch=batch)
    bytes_needed = samples * sum(_DRAWN_BYTES * prod(shape) for shape in shapes.values())
    if bytes_needed > _MEMORY_BYTES:
        raise BadModel(
            noted(
                ModelCode.INPUTS_TOO_LARGE,
                source=signature.source,
                samples=samples,
                batch=batch,
                gigabytes=bytes_needed / 1000000000.0,
            )
        )


def _stream(seed: int, name: str, sample: int) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}\0{name}\0{sample}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def _draw(spec: TensorSpec, shape: tuple[int, ...], stream: np.random.Generator, fill: str) -> Array:
    if spec.dtype == "string":
        return draw_texts(shape, WORDS, stream)
    dtype = numpy_dtype(spec.dtype)
    if spec.dtype == "bool":
        return np.asarray(stream.integers(0, 2, shape)).astype(bool)
    if dtype.kind == "c":
        return np.asarray(stream.standard_normal(shape) + 1j * stream.standard_normal(shape)).astype(dtype)
    if is_floating(spec.dtype) and fill == "uniform":
        return np.asarray(stream.uniform(0.0, 1.0, shape)).astype(dtype)
    if is_floating(spec.dtype) and fill == "exact":
        return np.asarray(stream.integers(-EXACT_MAGNITUDE, EXACT_MAGNITUDE + 1, shape)).astype(dtype)
    if is_floating(spec.dtype):
        return np.asarray(stream.standard_normal(shape)).astype(dtype)
    largest = _LARGEST.get(spec.dtype, _LARGEST_INTEGER)
    return np.asarray(stream.integers(0, largest + 1, shape)).astype(dtype)
