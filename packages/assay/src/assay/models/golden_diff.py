"""What changed between two goldens, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.core.dtype import dtype_name
from assay.models.golden_samples import Array, Golden, Sample, holds_nan


def diff_goldens(old: Golden, new: Golden) -> list[str]:
    """One line for the model, the number of samples, and each tensor added, removed or changed; empty when equal.

    Elements are compared exactly, NaN equal to NaN, over the samples that both have.
    """
    lines = []
    if old.lock.model_digest != new.lock.model_digest:
        lines.append(f"model: {old.lock.model_digest[:12]} -> {new.lock.model_digest[:12]}")
    if len(old.inputs) != len(new.inputs):
        lines.append(f"samples: {len(old.inputs)} -> {len(new.inputs)}")
    lines += _role("input", old.inputs, new.inputs)
    lines += _role("output", old.outputs, new.outputs)
    lines += _role("label", [old.labels], [new.labels])
    return lines


def _role(role: str, old: Sequence[Sample], new: Sequence[Sample]) -> Iterator[str]:
    before, after = list(old[0]) if old else [], list(new[0]) if new else []
    for name in before:
        if name not in after:
            yield f"{role} {name}: removed"
            continue
        both = [(a[name], b[name]) for a, b in zip(old, new, strict=False)]
        line = _tensor(both)
        if line:
            yield f"{role} {name}: {line}"
    for name in after:
        if name not in before:
            yield f"{role} {name}: added"


def _tensor(pairs: Sequence[tuple[Array, Array]]) -> str:
    for number, (old, new) in enumerate(pairs):
        if dtype_name(old.dtype) != dtype_name(new.dtype):
            return f"dtype {dtype_name(old.dtype)} -> {dtype_name(new.dtype)}"
        if old.shape != new.shape:
            return f"shape {list(old.shape)} -> {list(new.shape)} in sample {number}"
    changed, largest, where = 0, -1.0, ""
    for number, (old, new) in enumerate(pairs):
        differs = _differs(old, new)
        count = int(differs.sum())
        if not count:
            continue
        changed += count
        distance = _distance(old, new, differs)
        if distance is not None and float(distance.max()) > largest:
            largest = float(distance.max())
            index = np.unravel_index(int(distance.argmax()), old.shape)
            where = f"{largest:.6g} (sample {number}, index {[int(i) for i in index]})"
    if not changed:
        return ""
    total = sum(old.size for old, _ in pairs)
    return f"{changed} of {total} elements changed" + (f", largest difference {where}" if where else "")


def _differs(old: Array, new: Array) -> Array:
    differs = np.asarray(old != new)
    if holds_nan(old):
        differs = differs & ~(np.isnan(old) & np.isnan(new))
    return differs


def _distance(old: Array, new: Array, differs: Array) -> Array | None:
    """Absolute differences in float64, infinite where one side is NaN or infinite; None for text."""
    if old.dtype.kind in "OUS":
        return None
    wide = np.complex128 if old.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(old.astype(wide) - new.astype(wide))
    return np.where(differs, np.where(np.isnan(distance), np.inf, distance), 0.0)
