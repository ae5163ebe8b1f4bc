"""Several draws in one evaluation: each is a row, and errs as it would alone, by the numbers of its own seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.numerics.oracle.probe import SILENT, Call, Probe, Values
from assay.numerics.oracle.rows.evaluation import Rows
from assay.numerics.tolerance.noise import SHARED, Diverged, Draw, Recorder
from assay.ports import Tensor


class Draws(Rows):
    """A row for each of `draws`, behind so many `quiet` ones without noise, which the others may be held against."""

    def __init__(self, draws: Sequence[Draw], recorder: Recorder, quiet: int = 0) -> None:
        self._draws = draws
        self._quiet = quiet
        self._recorder = recorder
        self._next: dict[tuple[str, ...], int] = {}

    def touches(self, outputs: tuple[str, ...]) -> bool:
        return self._recorder.is_noisy(outputs)

    def row(self, number: int) -> Probe:
        return self._draws[number - self._quiet] if number >= self._quiet else SILENT

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        del operands
        return self._at(kind, value, call) if self._recorder.places.get(call.outputs) else value

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        del again
        if not self._recorder.places.get(call.outputs):
            return results
        kind = call.operator.lower()
        return tuple(self._at(kind, one, call) if np.asarray(one).dtype.kind == "f" else one for one in results)

    def _at(self, kind: str, value: Tensor, call: Call) -> Tensor:
        number = self._next.get(call.outputs, 0)
        self._next[call.outputs] = number + 1
        places = self._recorder.places[call.outputs]
        if number >= len(places):
            raise Diverged
        place, rows = places[number], self._quiet + len(self._draws)
        if value.shape not in (place.shape, (rows, *place.shape)):
            raise Diverged
        if place.deviation is None:
            return value
        if not self._draws:
            return value
        noise: Any = Draw.several(self._draws, place.shape)
        noise *= place.deviation
        if kind in SHARED:
            factors = np.array([one.factor(kind, call.outputs) for one in self._draws], value.dtype)
            shared = value[self._quiet :] if value.ndim > len(place.shape) else value
            noise = noise + shared * factors.reshape(-1, *[1] * len(place.shape))
        if self._quiet:
            noise = np.concatenate([np.zeros((self._quiet, *place.shape), noise.dtype), noise])
        noisy: Tensor = value + noise
        return noisy.astype(value.dtype, copy=False)
