"""What a recipe draws from: the schema of one version of an operator, and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import defs, helper

from oracle_table.case import Array, OpCase

FLOATS = ("float32", "float64", "float16", "bfloat16")
_TENSOR = "tensor("
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e30, -1e-30)


class Gen:
    """Of one schema. The same seed gives the same numbers."""

    def __init__(self, schema: Any, seed: int = 0) -> None:
        self.schema = schema
        self.version: int = schema.since_version
        self.rng = np.random.default_rng([seed, self.version, *schema.name.encode()])

    def has(self, attribute: str) -> bool:
        return attribute in self.schema.attributes

    def takes(self, count: int) -> bool:
        return bool(self.schema.max_input >= count)

    def case(self, *inputs: Any, outputs: int = 1, random: bool = False, **attributes: Any) -> OpCase:
        """Attributes that are None, or that this version does not have, are left out."""
        given = {name: value for name, value in attributes.items() if value is not None and self.has(name)}
        kept = list(inputs)
        while kept and kept[-1] is None:
            kept.pop()
        return OpCase(
            self.schema.name, self.version, tuple(kept), given, self.schema.domain, outputs=outputs, random=random
        )

    def dtypes(self, position: int = 0) -> list[np.dtype[Any]]:
        """Those of numpy and ml_dtypes that the input of that place may have."""
        formal = self.schema.inputs[min(position, len(self.schema.inputs) - 1)]
        return [kind for text in sorted(formal.types) if (kind := _dtype(text)) is not None]

    @cached_property
    def first(self) -> np.dtype[Any]:
        """float32 where it may be had."""
        known = self.dtypes()
        return np.dtype(np.float32) if np.dtype(np.float32) in known or not known else known[0]

    def some_dtypes(self, position: int = 0) -> list[np.dtype[Any]]:
        """All of the common ones."""
        return [dtype for dtype in self.dtypes(position) if dtype.kind in "fiubO" or dtype.name in FLOATS]

    def x(self, *shape: int, dtype: Any = None, low: float = -3.0, high: float = 3.0) -> Array:
        """Numbers between the bounds; bounds are met by whole ones of a type without sign as far as it can."""
        kind = np.dtype(dtype) if dtype is not None else self.first
        if kind.kind == "O":
            words = np.array(["a", "bé", "", "Zug", "a b"], object)
            return np.asarray(words[self.rng.integers(0, len(words), shape)], object).reshape(shape)
        if kind.kind == "b":
            return np.asarray(self.rng.integers(0, 2, shape).astype(bool))
        if kind.kind in "iu":
            least = max(low, 0) if kind.kind == "u" else low
            return np.asarray(self.rng.integers(int(least), int(max(high, least + 1)) + 1, shape)).astype(kind)
        return np.asarray(self.rng.uniform(low, high, shape)).astype(kind)

    def special(self, dtype: Any) -> Array:
        with np.errstate(all="ignore"):
            return np.array(SPECIAL).astype(dtype)

    def choose(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]


def _dtype(text: str) -> np.dtype[Any] | None:
    if not text.startswith(_TENSOR) or text.startswith("tensor(complex"):
        return None
    name = text[len(_TENSOR) : -1]
    if name == "string":
        return np.dtype(object)
    code = onnx.TensorProto.DataType.Value(name.upper())
    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(code))
    except (KeyError, TypeError):
        return None


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


def one_int(value: int) -> Array:
    return np.array(value, np.int64)


def schemas() -> Iterator[Any]:
    """Of every version of every operator that is not withdrawn at it, by name and version."""
    known = [schema for schema in defs.get_all_schemas_with_history() if schema.domain in ("", "ai.onnx.ml")]
    return iter(
        sorted(
            (schema for schema in known if not schema.deprecated),
            key=lambda schema: (schema.domain, schema.name, schema.since_version),
        )
    )


BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
