"""Rounding noise, put into an evaluation of the graph where a real kernel rounds.

`Recorder` watches one exact evaluation and keeps the standard deviation of each place; `Draw` is an evaluation in which
each place errs by as much. Where the order of places is not the same every time (control flow), a draw asks the rules
again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF, numpy_dtype
from assay.errors import Unsupported
from assay.numerics.oracle.probe import Call, Probe, Values
from assay.numerics.tolerance.contract import Arithmetic
from assay.numerics.tolerance.graph import Graph
from assay.numerics.tolerance.pool import Pool
from assay.numerics.tolerance.rules import INNER, MOVEMENT, rule_for
from assay.numerics.tolerance.site import Site, fallback, whole
from assay.ports import Tensor

Deviation = np.ndarray[Any, np.dtype[np.float32]]
SHARED = frozenset({"tanh", "sigmoid", "erf", "log", "exp"})
"""Functions whose polynomial errs the same way everywhere: one random factor of a unit for each kind and draw."""


class Diverged(Exception):
    """A draw went another way through the graph than the recording did."""


class _Noisy(Probe):
    """Finds the places that round, and asks `_at` for a value at each."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic) -> None:
        self._graph = graph
        self._arithmetic = arithmetic
        self._units: dict[str, Arithmetic] = {}

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        if not self._counts(call):
            return value
        rule = INNER[kind]
        return self._at(
            kind, value, call, lambda: rule(Site(kind, value, call, operands, _no_again), self.unit(call.outputs))
        )

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        if not self._counts(call):
            return results
        found = list(results)
        rule = rule_for(call.operator)
        if (call.operator in MOVEMENT and rule is None) or self._keeps_every_digit(call):
            return results
        if rule is None:
            self.unruled(call)
            rule = fallback
        for position, value in enumerate(results):
            if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f":
                array = np.asarray(value)
                one = rule if position == 0 else fallback

                def variance(array: Tensor = array, one: Any = one) -> Any:
                    site = Site(call.operator, array, call, {}, again)
                    return one(site, self.unit(call.outputs))

                found[position] = self._at(call.operator.lower(), array, call, variance)
        return tuple(found)

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
        given = UNIT_ROUNDOFF.get(self._graph.types.get(call.reads[0], ""))
        wanted = UNIT_ROUNDOFF.get(self._graph.types.get(call.outputs[0], ""))
        if given is None or wanted is None:  # inside a function the types have no names
            return self._arithmetic.storage <= UNIT_ROUNDOFF["float32"]
        return wanted <= max(given, self.unit(call.reads).storage)

    def unruled(self, call: Call) -> None:
        """An operator without a rule was met."""

    def _counts(self, call: Call) -> bool:
        """Inside functions and subgraphs every value counts: their names are their own."""
        known = [name for name in call.outputs if name in self._graph.producers]
        return not known or any(name in self._graph.data for name in known)

    def _at(self, kind: str, value: Tensor, call: Call, variance: Callable[[], Any]) -> Tensor:
        raise NotImplementedError


def _unasked() -> Any:
    raise Diverged  # the recording knows the noise of every place


def _no_again(*_: Any) -> Values:
    raise Unsupported("a place inside an operator cannot be evaluated again")


def deviation_of(variance: Any, value: Tensor) -> Deviation | None:
    """Single precision will do; what is not finite adds no noise: NaN and infinity are compared as classes. None where there
    is no noise at all."""
    deviation: Deviation = np.sqrt(np.asarray(variance, dtype=value.dtype)).astype(np.float32)
    total = deviation.sum()
    if not math.isfinite(total):
        deviation = np.where(np.isfinite(deviation), deviation, np.float32(0))
        total = deviation.any()
    return deviation if total else None


@dataclass(frozen=True)
class Place:
    """Where a recording found noise: `deviation` None where none is added."""

    shape: tuple[int, ...]
    deviation: Deviation | None


class Recorder(_Noisy):
    """Changes nothing; `places` are those of every operator in order, by what it gives; `without_rule` lists operators; `peak` is
    the largest finite number that any of them gives."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic, *, keep: bool = True) -> None:
        super().__init__(graph, arithmetic)
        self.places: dict[tuple[str, ...], list[Place]] = {}
        self.without_rule: dict[str, None] = {}
        self.peak = 0.0
        self._keep = keep

    @property
    def values(self) -> int:
        """Elements that are noisy, of all places."""
        return sum(one.deviation.size for all_ in self.places.values() for one in all_ if one.deviation is not None)

    @property
    def largest(self) -> int:
        """Elements of the largest place."""
        return max((math.prod(one.shape) for all_ in self.places.values() for one in all_), default=1)

    def is_noisy(self, outputs: tuple[str, ...]) -> bool:
        """Whether an operator adds any noise. One that was not met (the body of a function was) may."""
        return outputs not in self.places or any(one.deviation is not None for one in self.places[outputs])

    def unruled(self, call: Call) -> None:
        self.without_rule[call.operator] = None

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        self.places.setdefault(call.outputs, [])
        return super().node(call, results, again)

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        self.places.setdefault(call.outputs, [])
        return super().site(kind, value, call, operands)

    def _at(self, kind: str, value: Tensor, call: Call, variance: Callable[[], Any]) -> Tensor:
        del kind
        if self._keep:
            self.peak = max(self.peak, float(np.abs(value).max(initial=0.0)))
            self.places[call.outputs].append(Place(value.shape, deviation_of(variance(), value)))
        return value


def held(value: Tensor, unit: float) -> bool:
    """Whether these are whole numbers of a type of that roundoff, which stay as they are."""
    return whole(value) and float(np.max(np.abs(value), initial=0.0)) * unit <= 1.0


def stored(value: Tensor, unit: float) -> bool:
    """Whether rounding to the type of that roundoff leaves every one of these as it is."""
    dtype = next((numpy_dtype(name) for name, one in UNIT_ROUNDOFF.items() if one == unit and name != "tf32"), None)
    if dtype is None:
        return held(value, unit)
    with np.errstate(all="ignore"):
        return bool(np.array_equal(value.astype(dtype).astype(value.dtype), value, equal_nan=True))


def spread_of(value: Tensor, unit: float) -> Tensor:
    """The standard deviation of what is off by up to a unit of itself, as likely one way as the other."""
    return np.asarray(value * value.dtype.type(unit / math.sqrt(3)))


class Draw(_Noisy):
    """One noisy evaluation, its noise `amplified`. Without a recording it asks the rules at every place."""

    def __init__(
        self,
        graph: Graph,
        arithmetic: Arithmetic,
        seed: tuple[int, ...],
        amplified: float,
        recorder: Recorder | None,
        pool: Pool,
    ) -> None:
        super().__init__(graph, arithmetic)
        self._random = np.random.Generator(np.random.SFC64(seed))
        self._amplified = amplified
        self._places = recorder.places if recorder is not None else None
        self._next: dict[tuple[str, ...], int] = {}
        self._shared: dict[str, float] = {}
        self._pool = pool

    def weight(self, value: Tensor, unit: float) -> Tensor:
        """Stored numbers as a backend may fold or repack them: each off by up to a unit."""
        return np.asarray(value + self.noise(value.shape, signed=False) * spread_of(value, unit))

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        if self._places is None:
            return super().node(call, results, again)
        if not self._places.get(call.outputs):
            return results
        found = [
            self._at(call.operator.lower(), np.asarray(value), call, _unasked)
            if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
            else value
            for value in results
        ]
        return tuple(found)

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        if self._places is None:
            return super().site(kind, value, call, operands)
        return self._at(kind, value, call, _unasked) if self._places.get(call.outputs) else value

    def _at(self, kind: str, value: Tensor, call: Call, variance: Callable[[], Any]) -> Tensor:
        deviation = deviation_of(variance(), value) if self._places is None else self._recalled(call.outputs, value)
        if deviation is None:
            return value
        noise: Any = self.noise(value.shape) * deviation
        if kind in SHARED:
            noise = noise + value * value.dtype.type(self.factor(kind, call.outputs))
        noisy: Tensor = value + noise
        return noisy.astype(value.dtype, copy=False)

    def _recalled(self, outputs: tuple[str, ...], value: Tensor) -> Deviation | None:
        assert self._places is not None
        place = self._next.get(outputs, 0)
        self._next[outputs] = place + 1
        known = self._places.get(outputs, ())
        if place >= len(known) or known[place].shape != value.shape:
            raise Diverged
        return known[place].deviation

    def noise(self, shape: tuple[int, ...], *, signed: bool = True) -> Tensor:
        """The next of this draw, of standard deviation 1 before it is amplified."""
        return self._pool.noise(shape, self._amplified, self._random, signed=signed)

    @staticmethod
    def several(draws: Sequence[Draw], shape: tuple[int, ...], *, signed: bool = True) -> Tensor:
        """The next of each, a row each; to be written to."""
        first = draws[0]
        return first._pool.rows(shape, first._amplified, [one._random for one in draws], signed=signed)

    def factor(self, kind: str, outputs: tuple[str, ...]) -> float:
        """By how much a function of this kind errs everywhere, where it gives `outputs`."""
        if kind not in self._shared:
            self._shared[kind] = float(self._random.standard_normal()) * self._amplified
        return self._shared[kind] * self.unit(outputs).accumulate
