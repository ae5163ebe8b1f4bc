"""Rounding noise, put into an evaluation of the graph where a real kernel rounds.

`recording.Recorder` watches one exact evaluation and keeps the standard deviation of each place; `Draw` is an evaluation
in which each place errs by as much. Where the order of places is not the same every time (control flow), a draw asks the
rules again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF
from assay.numerics.oracle.hooks import Call, Hook, Values
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.granted import variance_of
from assay.numerics.tolerance.rules.noise_pool import NoisePool
from assay.numerics.tolerance.rules.noise_rules import INNER, MOVEMENT, rule_for
from assay.numerics.tolerance.rules.rounding_rules import RuleSite, fallback, no_again
from assay.numerics.tolerance.rules.rounding_sites import Diverged, RoundingSites, Together, deviation_of
from assay.numerics.tolerance.simulate.graph_study import Graph
from assay.ports import Tensor

SHARED = frozenset({"tanh", "sigmoid", "erf", "log", "exp"})
"""Functions whose polynomial errs the same way everywhere: one random factor of a unit for each kind and draw."""


class Noisy(Hook):
    """Finds the places that round, and asks `_at` for a value at each."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic) -> None:
        self._graph = graph
        self._arithmetic = arithmetic
        self._units: dict[str, Arithmetic] = {}
        self._counted: dict[tuple[str, ...], bool] = {}

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        if not self._counts(call):
            return value
        rule = INNER[kind]
        return self._at(
            kind,
            value,
            call,
            lambda: variance_of(rule, RuleSite(kind, value, call, operands, no_again), self.unit(call.outputs)),
        )

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        if not self._counts(call):
            return results
        noisy = list(results)
        rule = rule_for(call.operator)
        if (call.operator in MOVEMENT and rule is None) or self._keeps_every_digit(call):
            return results
        if rule is None:
            self.unruled(call)
            rule = fallback
        real = [
            at
            for at, value in enumerate(results)
            if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
        ]
        for position, value in enumerate(results):
            if position in real:
                array = np.asarray(value)
                # Of classifiers the first is a label.
                chosen_rule = rule if position == real[0] else fallback

                def variance(array: Tensor = array, chosen_rule: Any = chosen_rule) -> Any:
                    site = RuleSite(call.operator, array, call, {}, again)
                    return variance_of(chosen_rule, site, self.unit(call.outputs))

                noisy[position] = self._at(call.operator.lower(), array, call, variance)
        return tuple(noisy)

    def unit(self, names: tuple[str, ...]) -> Arithmetic:
        """The arithmetic of what an operator gives, by the type that the model declares here."""
        dtype = self._graph.types.get(names[0], "") if names else ""
        if dtype not in self._units:
            self._units[dtype] = self._arithmetic.of(dtype)
        return self._units[dtype]

    def _keeps_every_digit(self, call: Call) -> bool:
        """A cast to a type at least as fine as the one that the value has already."""
        if call.operator not in ("Cast", "CastLike") or np.asarray(call.inputs[0]).dtype.kind != "f":
            return False
        read_roundoff = UNIT_ROUNDOFF.get(self._graph.types.get(call.reads[0], ""))
        written_roundoff = UNIT_ROUNDOFF.get(self._graph.types.get(call.outputs[0], ""))
        if read_roundoff is None or written_roundoff is None:  # inside a function the types have no names
            return self._arithmetic.storage <= UNIT_ROUNDOFF["float32"]
        return written_roundoff <= max(read_roundoff, self.unit(call.reads).storage)

    def unruled(self, call: Call) -> None:
        """An operator without a rule was met."""

    def _counts(self, call: Call) -> bool:
        """Inside functions and subgraphs every value counts: their names are their own."""
        counts = self._counted.get(call.outputs)
        if counts is None:
            known = [name for name in call.outputs if name in self._graph.producers]
            counts = self._counted[call.outputs] = not known or any(name in self._graph.data for name in known)
        return counts

    def _at(self, kind: str, value: Tensor, call: Call, variance: Callable[[], Any]) -> Tensor:
        raise NotImplementedError


def spread_of(value: Tensor, unit: float) -> Tensor:
    """The standard deviation of what is off by up to a unit of itself, as likely one way as the other; an infinity (a mask's)
    stays as it is in every type."""
    spread: Tensor = value * value.dtype.type(unit / math.sqrt(3))
    return spread if np.isfinite(spread).all() else np.where(np.isfinite(spread), spread, spread.dtype.type(0))


class Draw(Noisy):
    """One noisy evaluation, its noise `amplified`. Without recorded `places` it asks the rules at every place; `next` is the number
    of the next of each operator."""

    def __init__(
        self,
        graph: Graph,
        arithmetic: Arithmetic,
        seed: tuple[int, ...],
        amplified: float,
        places: Mapping[tuple[str, ...], RoundingSites] | None,
        pool: NoisePool,
    ) -> None:
        super().__init__(graph, arithmetic)
        self._random = np.random.Generator(np.random.SFC64(seed))
        self._amplified = amplified
        self._places = places
        self.next: dict[tuple[str, ...], int] = {}
        self._together: dict[tuple[str, ...], Together | None] = {}
        self._shared: dict[str, float] = {}
        self._factors: dict[tuple[str, tuple[str, ...]], float] = {}
        self._pool = pool

    def weight(self, value: Tensor, spread: Tensor) -> Tensor:
        """Stored numbers as a backend may fold, repack or round them, with the standard deviation of each."""
        return np.asarray(value + self.noise(value.shape, signed=False) * spread)

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        if self._places is None:
            return super().node(call, results, again)
        places = self._places.get(call.outputs)
        if places is None or not places.each:
            return results
        kind = call.operator.lower()
        return tuple(
            self._at_recorded(kind, np.asarray(value), call, places)
            if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
            else value
            for value in results
        )

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        if self._places is None:
            return super().site(kind, value, call, operands)
        places = self._places.get(call.outputs)
        return value if places is None or not places.each else self._at_recorded(kind, value, call, places)

    def _at(self, kind: str, value: Tensor, call: Call, variance: Callable[[], Any]) -> Tensor:
        deviation = deviation_of(variance(), value)
        if deviation is None:
            return value
        return self._moved(kind, value, call, self.noise(value.shape) * deviation)

    def _at_recorded(self, kind: str, value: Tensor, call: Call, places: RoundingSites) -> Tensor:
        """At the next place of an operator."""
        outputs = call.outputs
        number, place = places.following(self.next, outputs)
        if place.shape != value.shape:
            raise Diverged
        if place.deviation is None:
            return value
        if outputs not in self._together:
            self._together[outputs] = together([self], places, outputs, dtype=value.dtype)
        made = self._together[outputs]
        noise = self.noise(value.shape) * place.deviation if made is None else made.noise(number)[0]
        return self._moved(kind, value, call, noise)

    def _moved(self, kind: str, value: Tensor, call: Call, noise: Tensor) -> Tensor:
        if kind in SHARED:
            noise = noise + value * value.dtype.type(self.factor(kind, call.outputs))
        noisy: Tensor = value + noise
        return noisy if noisy.dtype == value.dtype else noisy.astype(value.dtype)

    def noise(self, shape: tuple[int, ...], *, signed: bool = True) -> Tensor:
        """The next of this draw, of standard deviation 1 before it is amplified."""
        return self._pool.noise(shape, self._amplified, self._random, signed=signed)

    def beginnings(self, sizes: Tensor, shared: Mapping[str, int], outputs: tuple[str, ...]) -> Tensor:
        """Where the noise of each place of one operator begins; the factor of a kind is drawn behind the first place that needs
        it (`shared`), as one after the other."""
        parts, start = [], 0
        for kind, number in shared.items():
            if kind not in self._shared:
                parts.append(self._pool.beginnings(sizes[start : number + 1], self._random))
                start = number + 1
                self.factor(kind, outputs)
        return np.concatenate([*parts, self._pool.beginnings(sizes[start:], self._random)])

    @staticmethod
    def several(draws: Sequence[Draw], shape: tuple[int, ...], *, signed: bool = True) -> Tensor:
        """The next of each, a row each; to be written to."""
        pool, randoms = draws[0]._pool, [draw._random for draw in draws]
        amplified = [draw._amplified for draw in draws]
        if len(set(amplified)) == 1:
            return pool.rows(shape, amplified[0], randoms, signed=signed)
        noise = pool.rows(shape, 1.0, randoms, signed=signed)
        noise *= np.array(amplified, noise.dtype).reshape(-1, *[1] * len(shape))
        return noise

    def factor(self, kind: str, outputs: tuple[str, ...]) -> float:
        """By how much a function of this kind errs everywhere, where it gives `outputs`."""
        factor_here = self._factors.get((kind, outputs))
        if factor_here is None:
            if kind not in self._shared:
                self._shared[kind] = float(self._random.standard_normal()) * self._amplified
            factor_here = self._factors[kind, outputs] = self._shared[kind] * self.unit(outputs).accumulate
        return factor_here


def together(
    draws: Sequence[Draw], places: RoundingSites, outputs: tuple[str, ...], *, dtype: Any, quiet: int = 0
) -> Together | None:
    """The noise of all places of one operator, the same as one after the other; None where that would not save work."""
    pool = draws[0]._pool
    if not places.may_be_together(len(draws), pool.longest):
        return None
    shared = {kind: column for kind, column in places.first_of.items() if kind in SHARED}
    first = np.stack([draw.beginnings(places.sizes, shared, outputs) for draw in draws])
    return Together(pool, [draw._amplified for draw in draws], places, first, quiet=quiet, dtype=dtype)
