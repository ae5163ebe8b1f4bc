"""Rounding noise, put into an evaluation of the graph where a real kernel rounds.

`Recorder` watches one exact evaluation and keeps the standard deviation of each place; `Draw` is an evaluation in which
each place errs by as much. Where the order of places is not the same every time (control flow), a draw asks the rules
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF, is_floating
from assay.errors import Unsupported
from assay.numerics.oracle.probe import Call, Probe, Values
from assay.numerics.tolerance.contract import Arithmetic
from assay.numerics.tolerance.graph import Graph
from assay.numerics.tolerance.rules import INNER, MOVEMENT, Site, fallback, rule_for, whole
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
            kind, value, lambda: rule(Site(kind, value, call, operands, _no_again), self.unit(call.outputs))
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

                found[position] = self._at(call.operator.lower(), array, variance)
        return tuple(found)

    def unit(self, names: tuple[str, ...]) -> Arithmetic:
        """The arithmetic of the coarser of the flow's type and the one that the model declares here."""
        name = names[0] if names else ""
        declared = UNIT_ROUNDOFF.get(self._graph.types.get(name, ""), 0.0)
        if declared <= self._arithmetic.storage:
            return self._arithmetic
        if name not in self._units:
            self._units[name] = msgspec.structs.replace(self._arithmetic, storage=declared)
        return self._units[name]

    def _keeps_every_digit(self, call: Call) -> bool:
        """A cast to a type at least as fine as the one that the value has already."""
        if call.operator not in ("Cast", "CastLike") or np.asarray(call.inputs[0]).dtype.kind != "f":
            return False
        given = UNIT_ROUNDOFF.get(self._graph.types.get(call.reads[0], ""))
        wanted = UNIT_ROUNDOFF.get(self._graph.types.get(call.outputs[0], ""))
        if given is None or wanted is None:  # inside a function the types have no names
            return self._arithmetic.storage <= UNIT_ROUNDOFF["float32"]
        return wanted <= max(given, self._arithmetic.storage)

    def unruled(self, call: Call) -> None:
        """An operator without a rule was met."""

    def _counts(self, call: Call) -> bool:
        """Inside functions and subgraphs every value counts: their names are their own."""
        known = [name for name in call.outputs if name in self._graph.producers]
        return not known or any(name in self._graph.data for name in known)

    def _at(self, kind: str, value: Tensor, variance: Callable[[], Any]) -> Tensor:
        raise NotImplementedError


def _no_again(*_: Any) -> Values:
    raise Unsupported("a place inside an operator cannot be evaluated again")


def deviation_of(variance: Any, value: Tensor) -> Deviation:
    """Single precision will do; what is not finite adds no noise: NaN and infinity are compared as classes."""
    with np.errstate(all="ignore"):
        deviation: Deviation = np.sqrt(np.asarray(variance, dtype=value.dtype)).astype(np.float32)
    if not np.isfinite(deviation).all():
        deviation = np.where(np.isfinite(deviation), deviation, np.float32(0))
    return deviation


class Recorder(_Noisy):
    """Changes nothing; `deviations` and `kinds` are those of every place in order, `without_rule` lists operators."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic, *, keep: bool = True) -> None:
        super().__init__(graph, arithmetic)
        self.deviations: list[Deviation] = []
        self.shapes: list[tuple[int, ...]] = []
        self.without_rule: dict[str, None] = {}
        self._keep = keep

    def unruled(self, call: Call) -> None:
        self.without_rule[call.operator] = None

    def _at(self, kind: str, value: Tensor, variance: Callable[[], Any]) -> Tensor:
        del kind
        if self._keep:
            with np.errstate(all="ignore"):
                self.deviations.append(deviation_of(variance(), value))
            self.shapes.append(value.shape)
        return value


class Draw(_Noisy):
    """One noisy evaluation, its noise `amplified`. Without a recording it asks the rules at every place."""

    def __init__(
        self, graph: Graph, arithmetic: Arithmetic, seed: tuple[int, ...], amplified: float, recorder: Recorder | None
    ) -> None:
        super().__init__(graph, arithmetic)
        self._random = np.random.Generator(np.random.SFC64(seed))
        self._amplified = amplified
        self._recorder = recorder
        self._place = 0
        self._shared: dict[str, float] = {}

    def weight(self, value: Tensor, unit: float) -> Tensor:
        """A stored number as a backend may fold or repack it: off by up to a unit. Whole numbers of the type stay."""
        if whole(value) and float(np.max(np.abs(value), initial=0.0)) * unit <= 1.0:
            return value
        return self._relative(value, self._amplified * unit)

    def _relative(self, value: Tensor, scale: float) -> Tensor:
        factor: Any = self._random.random(value.shape, dtype=np.float32)
        factor -= np.float32(0.5)
        factor *= np.float32(2 * scale)
        factor += np.float32(1) if value.dtype == np.float32 else np.float32(0)
        return np.asarray(value * factor if value.dtype == np.float32 else value + value * factor)

    def _at(self, kind: str, value: Tensor, variance: Callable[[], Any]) -> Tensor:
        place, self._place = self._place, self._place + 1
        if self._recorder is None:
            with np.errstate(all="ignore"):
                deviation = deviation_of(variance(), value)
        else:
            deviation = self._recalled(place, value)
        if not deviation.any():
            return value
        noise: Any = self._random.random(value.shape, dtype=np.float32)
        noise -= np.float32(0.5)
        noise *= np.float32(2 * 3**0.5 * self._amplified)  # uniform, of standard deviation 1 before amplification
        noise = noise * deviation
        if kind in SHARED:
            noise = noise + value * value.dtype.type(self._factor(kind))
        noisy: Tensor = value + noise
        return noisy.astype(value.dtype, copy=False)

    def _recalled(self, place: int, value: Tensor) -> Deviation:
        assert self._recorder is not None
        if place >= len(self._recorder.shapes) or self._recorder.shapes[place] != value.shape:
            raise Diverged
        return self._recorder.deviations[place]

    def _factor(self, kind: str) -> float:
        if kind not in self._shared:
            self._shared[kind] = float(self._random.standard_normal()) * self._amplified * self._arithmetic.accumulate
        return self._shared[kind]


def is_real(dtype: np.dtype[Any]) -> bool:
    """Numbers that carry rounding."""
    return dtype.kind == "f" or is_floating(dtype.name)
