"""Several draws in one evaluation: each is a row, and errs as it would alone, by the numbers of its own seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.numerics.operators.index import names_where
from assay.numerics.oracle.batched.evaluation import Rows
from assay.numerics.oracle.chunked import AT_ONCE
from assay.numerics.oracle.hooks import SILENT, Call, Hook, Values
from assay.numerics.tolerance.rules.rounding_sites import Deviation, Diverged, RoundingSites, Together
from assay.numerics.tolerance.simulate.noise import SHARED, Draw, together
from assay.numerics.tolerance.simulate.site_recorder import SiteRecorder
from assay.ports import Tensor

FRESH = frozenset({"steps", *(name.lower() for name in names_where(lambda record: record.fresh))})
"""What is computed into an array of its own, which nobody else holds: noise is added in place."""


class BatchedDraws(Rows):
    """A row for each of `draws`, behind so many `quiet` ones without noise, which the others may be compared with, and before so
    many that stay `still` as well. Why an operator failed in rows goes into `fallen`."""

    def __init__(
        self, draws: Sequence[Draw], recorder: SiteRecorder, quiet: int, fallen: dict[str, None], *, still: int = 0
    ) -> None:
        self._draws = draws
        self._quiet = quiet
        self._still = still
        self._count = quiet + len(draws) + still
        self._recorder = recorder
        self._fallen = fallen
        self._began = 0
        self._next: dict[tuple[str, ...], int] = {}
        self._together: dict[tuple[str, ...], Together | None] = {}
        self._shared: dict[tuple[Draw, str, tuple[str, ...], int], Tensor] = {}

    def touches(self, outputs: tuple[str, ...]) -> bool:
        return self._recorder.is_noisy(outputs)

    def in_single(self, outputs: tuple[str, ...]) -> bool:
        return self._recorder.in_single(outputs)

    def row(self, number: int) -> Hook:
        """A draw goes on where the rows are; the last takes them with it."""
        if not self._quiet <= number < self._quiet + len(self._draws):
            return SILENT
        draw = self._draws[number - self._quiet]
        draw.next = self._next if draw is self._draws[-1] else dict(self._next)
        return draw

    def begins(self, outputs: tuple[str, ...]) -> None:
        self._began = self._next.get(outputs, 0)

    def broken(self, outputs: tuple[str, ...], why: str) -> None:
        self._next[outputs] = self._began
        self._fallen.setdefault(why)

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        del operands
        places = self._recorder.places.get(call.outputs)
        return value if places is None or not places.each else self._at(kind, value, call, places)

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        del again
        places = self._recorder.places.get(call.outputs)
        if places is None or not places.each:
            return results
        kind = call.operator.lower()
        return tuple(
            self._at(kind, result, call, places) if np.asarray(result).dtype.kind == "f" else result
            for result in results
        )

    def _at(self, kind: str, value: Tensor, call: Call, places: RoundingSites) -> Tensor:
        outputs = call.outputs
        number, place = places.following(self._next, outputs)
        has_rows = value.shape != place.shape
        if has_rows and value.shape != (self._count, *place.shape):
            raise Diverged
        if place.deviation is None or not self._draws:
            return value
        if outputs not in self._together:
            self._together[outputs] = (
                None if self._still else together(self._draws, places, outputs, dtype=value.dtype, quiet=self._quiet)
            )
        made = self._together[outputs]
        if made is None:
            return self._some_by_some(kind, value, call, place.shape, place.deviation)
        noise = made.noise(number)
        if kind in SHARED:
            exact, loud = (value[self._quiet :] if has_rows else value), noise[self._quiet :]
            np.add(loud, exact * self._factors(self._draws, kind, outputs, value.dtype, len(place.shape)), out=loud)
        noisy: Tensor = value + noise
        return noisy if noisy.dtype == value.dtype else noisy.astype(value.dtype)

    def _some_by_some(
        self, kind: str, value: Tensor, call: Call, shape: tuple[int, ...], deviation: Deviation
    ) -> Tensor:
        """A place by itself, as many rows at once as stay in the processor's cache."""
        has_rows = value.shape != shape
        noisy = value
        if not has_rows or kind not in FRESH or not value.flags.writeable:
            noisy = np.empty((self._count, *shape), value.dtype)
            for rows in (slice(self._quiet), slice(self._quiet + len(self._draws), None)):
                noisy[rows] = value[rows] if has_rows else value
        step = max(1, AT_ONCE // max(1, math.prod(shape)))
        for first in range(0, len(self._draws), step):
            draws = self._draws[first : first + step]
            rows = slice(self._quiet + first, self._quiet + first + len(draws))
            exact = value[rows] if has_rows else value
            noise = Draw.several(draws, shape)
            np.multiply(noise, deviation, out=noise)
            if kind in SHARED:
                noise = noise + exact * self._factors(draws, kind, call.outputs, value.dtype, len(shape))
            np.add(exact, noise, out=noisy[rows])
        return noisy

    def _factors(self, draws: Sequence[Draw], kind: str, outputs: tuple[str, ...], dtype: Any, rank: int) -> Tensor:
        """Of each of these, in front of so many axes."""
        known = self._shared.get((draws[0], kind, outputs, rank))
        if known is None:
            factors = np.array([draw.factor(kind, outputs) for draw in draws], dtype)
            known = self._shared[draws[0], kind, outputs, rank] = factors.reshape(-1, *[1] * rank)
        return known
