"""Sequences, optionals and maps as named tensors, so that goldens, comparator and reports need to know nothing of them.

A sequence `x` of two tensors is `x[]` (its length, int64), `x[0]` and `x[1]`; an empty optional `x` is `x?` (False), a
full one its contents; a map `x` is `x{keys}` and `x{values}`, in the order of the keys. They nest: `x[1][]`. A sequence of
maps that all have the same keys (the probabilities of a classifier, one map a row) is two tensors, however long it is:
`x[]{keys}` once and `x[]{values}` with a row for each map.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.usage_codes import UsageCode
from assay.core.tensor_parts import whole_name
from assay.errors import AssayError

Array = np.ndarray[Any, Any]
Value = Any
"""An array, a list of values, None, or a dict of scalars."""


class NoValue(AssayError, TypeError):
    """What no ONNX type holds."""


def declared_types(specs: Iterable[TensorSpec], names: Iterable[str]) -> dict[str, str]:
    """The type that each of the named tensors is declared with: tensors, and those inside sequences and optionals."""
    by_name = {spec.name: spec for spec in specs}
    types = {name: spec.dtype for name, spec in by_name.items()}
    for name in names:
        spec = by_name.get(whole_name(name))
        if spec is not None and spec.element and not name.endswith(("[]", "?")):
            types[name] = spec.element
    return types


def flatten(name: str, value: Value) -> dict[str, Array]:
    """The tensors that stand for one value, its marker first. Raises NoValue for what no ONNX type holds."""
    if value is None:
        return {f"{name}?": np.asarray(False)}
    if isinstance(value, dict):
        keys = sorted(value)
        return {f"{name}{{keys}}": _array(keys), f"{name}{{values}}": _array([value[key] for key in keys])}
    if isinstance(value, list | tuple):
        if keys := _common_keys(value):
            rows = [[row[key] for key in keys] for row in value]
            return {f"{name}[]{{keys}}": _array(keys), f"{name}[]{{values}}": _array(rows)}
        flat = {f"{name}[]": np.asarray(len(value), np.int64)}
        for index, element in enumerate(value):
            flat |= flatten(f"{name}[{index}]", element)
        return flat
    return {name: _array(value)}


def gather(name: str, tensors: Mapping[str, Array]) -> Value:
    """The inverse of `flatten`. Raises KeyError where `tensors` do not hold the value."""
    if f"{name}?" in tensors:
        return None
    if f"{name}[]{{keys}}" in tensors:
        keys, rows = tensors[f"{name}[]{{keys}}"].tolist(), tensors[f"{name}[]{{values}}"].tolist()
        return [dict(zip(keys, row, strict=True)) for row in rows]
    if f"{name}[]" in tensors:
        return [gather(f"{name}[{index}]", tensors) for index in range(int(tensors[f"{name}[]"]))]
    if f"{name}{{keys}}" in tensors:
        keys, values = tensors[f"{name}{{keys}}"].tolist(), tensors[f"{name}{{values}}"].tolist()
        return dict(zip(keys, values, strict=True))
    return tensors[name]


def _common_keys(values: Sequence[Value]) -> list[Any]:
    """Sorted; empty where the values are not all maps of the same keys."""
    if not values or not all(isinstance(value, dict) and value for value in values):
        return []
    keys = set(values[0])
    return sorted(keys) if all(set(value) == keys for value in values) else []


def _array(value: Value) -> Array:
    array = np.asarray(value)
    if array.dtype.kind in "US":
        return array.astype(object)
    if array.dtype == object and not all(isinstance(element, str | bytes) for element in array.ravel().tolist()):
        raise NoValue(noted(UsageCode.NO_VALUE, type=type(value).__name__))
    return array
