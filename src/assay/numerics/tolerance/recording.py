"""One exact evaluation watched, and the standard deviation of the noise at each of its places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.numerics.oracle.probe import Call, Values
from assay.numerics.tolerance.contract import Arithmetic
from assay.numerics.tolerance.graph import Graph
from assay.numerics.tolerance.gridded import is_silent
from assay.numerics.tolerance.noise import Noisy
from assay.numerics.tolerance.places import Deviation, Place, Places, deviation_of
from assay.numerics.tolerance.rules import INNER
from assay.numerics.tolerance.site import Site, no_again
from assay.ports import Tensor

FEW = 3
"""Places of one operator from which on those of one kind are asked about together."""


class Recorder(Noisy):
    """Changes nothing; `places` are those of every operator in order, by what it gives; `without_rule` lists operators; `peak` is
    the largest finite number that any of them gives, `largest` the elements of the largest, `values` those of all that are
    noisy."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic, *, keep: bool = True) -> None:
        super().__init__(graph, arithmetic)
        self.places: dict[tuple[str, ...], Places] = {}
        self.without_rule: dict[str, None] = {}
        self.peak = 0.0
        self.largest = 1
        self.values = 0
        self._keep = keep
        self._sites: list[Site] = []

    def is_noisy(self, outputs: tuple[str, ...]) -> bool:
        """Whether an operator adds any noise. One that was not met (the body of a function was) may."""
        return outputs not in self.places or bool(self.places[outputs].noisy)

    def in_single(self, outputs: tuple[str, ...]) -> bool:
        """Whether single precision will do for what an operator gives: it goes onto a grid of eight bits."""
        return outputs[0] in self._graph.gridded

    def unruled(self, call: Call) -> None:
        self.without_rule[call.operator] = None

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        self.places.setdefault(call.outputs, Places())
        return super().node(call, results, again)

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        """Its rule is asked when the operator is done: those of many steps have many places that are alike."""
        if self._keep and self._counts(call):
            self._sites.append(Site(kind, value, call, operands, no_again))
        return value

    def answer(self, call: Call, results: Values) -> Values:
        if call.marked:
            sites, self._sites = self._sites, []
            self.places.setdefault(call.outputs, Places()).each.extend(self._recorded(sites, self.unit(call.outputs)))
        return results

    def _recorded(self, sites: Sequence[Site], unit: Arithmetic) -> list[Place]:
        places = [Place((), None)] * len(sites)
        for numbers in _alike(sites) if len(sites) > FEW else [[number] for number in range(len(sites))]:
            alike = [sites[number] for number in numbers]
            site = alike[0] if len(alike) == 1 else _stacked(alike)
            deviation = deviation_of(INNER[site.kind](site, unit), site.value)
            own = [deviation] if len(alike) == 1 else _apart(deviation, len(alike))
            self._note(site.value, alike[0].value.size, own)
            for number, one in zip(numbers, own, strict=True):
                places[number] = Place(sites[number].value.shape, one, site.kind)
        return places

    def _note(self, value: Tensor, size: int, deviations: Sequence[Deviation | None]) -> None:
        """Of places of that size."""
        self.peak = max(self.peak, float(np.abs(value).max(initial=0.0)))
        self.largest = max(self.largest, size)
        self.values += sum([one.size for one in deviations if one is not None])

    def _at(self, kind: str, value: Tensor, call: Call, variance: Callable[[], Any]) -> Tensor:
        if self._keep:
            deviation = deviation_of(variance(), value)
            if deviation is not None and self.in_single(call.outputs) and is_silent(deviation, value):
                deviation = None
            self._note(value, value.size, [deviation])
            self.places[call.outputs].each.append(Place(value.shape, deviation, kind))
        return value


def _apart(deviation: Deviation | None, count: int) -> list[Deviation | None]:
    """Of each of several places; None of those without any noise."""
    if deviation is None:
        return [None] * count
    noisy = np.asarray(deviation.reshape(count, -1).any(axis=1))
    return [one if is_noisy else None for one, is_noisy in zip(deviation, noisy, strict=True)]


def _alike(sites: Sequence[Site]) -> list[list[int]]:
    """Numbers of those of one kind whose operands have one form, element by element."""
    groups: dict[object, list[int]] = {}
    for number, site in enumerate(sites):
        shape = site.value.shape
        form: list[object] = [site.kind, shape, site.value.dtype]
        for name, operand in site.operands.items():
            form += (name, _form(operand, shape, number))
        groups.setdefault(tuple(form), []).append(number)
    return list(groups.values())


def _form(operand: Any, shape: tuple[int, ...], number: int) -> object:
    """What operands have in common that may be stacked; one that has another shape than the value is like no other."""
    if isinstance(operand, np.ndarray):
        return operand.dtype if operand.shape == shape else (number,)
    return None if callable(operand) else operand


def _stacked(sites: Sequence[Site]) -> Site:
    """One site of all, along a new first axis. Rules of places inside an operator know no axes."""
    first = sites[0]
    operands: dict[str, Any] = {}
    for name, operand in first.operands.items():
        each = [site.operands[name] for site in sites]
        if isinstance(operand, np.ndarray):
            operands[name] = np.stack(each)
        else:
            operands[name] = (lambda each=each: np.stack([one() for one in each])) if callable(operand) else operand
    return Site(first.kind, np.stack([site.value for site in sites]), first.call, operands, no_again)
