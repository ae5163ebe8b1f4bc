"""One exact evaluation watched, and the standard deviation of the noise at each of its places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from assay.numerics.operators.index import record_of
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.oracle.kernels.recurrent import Squares
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.derivation_cost import products_of
from assay.numerics.tolerance.rules.granted import variance_of
from assay.numerics.tolerance.rules.noise_rules import INNER
from assay.numerics.tolerance.rules.rounding_rules import RuleSite, no_again
from assay.numerics.tolerance.rules.rounding_sites import Deviation, RoundingSite, RoundingSites, deviation_of
from assay.numerics.tolerance.rules.ties import ELEMENTWISE, EXACTLY
from assay.numerics.tolerance.simulate.graph_study import Graph
from assay.numerics.tolerance.simulate.noise import Noisy
from assay.numerics.tolerance.simulate.quantized_regions import is_silent
from assay.ports import Tensor

_ELEMENTWISE = ("Add", "AveragePool", "GlobalAveragePool", "Mul")
_BETWEEN = ("Clip", "Flatten", "Identity", "Relu", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""What a backend may do behind these before it rounds."""
_BOUNDS = ("Clip", "Relu")
FEW = 3
"""Places of one operator from which on those of one kind are asked about together."""


class SiteRecorder(Noisy):
    """Changes nothing; `places` are those of every operator in order, by what it gives; `without_rule` lists operators; `peak` is
    the largest finite number that any of them gives, `largest` the elements of the largest, `values` those of all that are
    noisy, `products` what the sums among these are made of. `kept` are names of values that every engine starts from; what it
    computes of them without a rounding is exact, too. None: names do not say which value is meant (those inside functions may
    be anything). `exact` are what is computed so, or from a grid that everything is put on; `decided` those without noise anywhere
    before them: every engine has every bit."""

    def __init__(
        self, graph: Graph, arithmetic: Arithmetic, *, keep: bool = True, kept: frozenset[str] | None = None
    ) -> None:
        super().__init__(graph, arithmetic)
        self.places: dict[tuple[str, ...], RoundingSites] = {}
        self.without_rule: dict[str, None] = {}
        self.peak = 0.0
        self.largest = 1
        self.values = 0
        self.products = 0
        self._keep = keep
        self._sites: list[RuleSite] = []
        self.exact, self.decided = set(kept or ()), set(kept or ())
        self._partly: dict[str, Tensor] = {}
        self._made = frozenset(graph.producers) if kept is not None and keep else frozenset()
        self._rounded = False
        self._unrounded: Tensor | None = None

    def is_noisy(self, outputs: tuple[str, ...]) -> bool:
        """Whether an operator adds any noise. One that was not met (the body of a function was) may."""
        return outputs not in self.places or bool(self.places[outputs].noisy)

    def in_single(self, outputs: tuple[str, ...]) -> bool:
        """Whether single precision will do for what an operator gives: it goes onto a grid of eight bits."""
        return outputs[0] in self._graph.gridded

    def before_steps(self, outputs: tuple[str, ...]) -> list[RoundingSite]:
        """The places before a grid of the operator that gives these, in their order; none where nothing is kept of it."""
        return [place for place in self.places[outputs].each if place.kind == "steps"] if outputs in self.places else []

    def open_ties(self, outputs: tuple[str, ...]) -> list[Tensor]:
        """Which elements are left to the flow's own tie rule by the operator that gives these, where nothing else is."""
        arrays = [step.deviation for step in self.before_steps(outputs) if step.deviation is not None]
        return [array > 0.0 for array in arrays if array.max() < self._arithmetic.steps]

    def unruled(self, call: Call) -> None:
        self.without_rule[call.operator] = None

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        self.places.setdefault(call.outputs, RoundingSites())
        self._rounded, self._unrounded = False, None
        answered = super().node(call, results, again)
        self._note_exact(call, results)
        return answered

    def _note_exact(self, call: Call, results: Values) -> None:
        """What is computed of exact values without a rounding, and whole numbers: no noise is left in them, though they may have
        jumped. What is not counted was not asked for its noise; a name that only the body of a function knows may be anything."""
        reads = [
            (name, operand)
            for name, operand in zip(call.reads, call.inputs, strict=False)
            if operand is not None and (name in self._graph.data or not self._graph.names(name))
        ]
        silent = not self._rounded and self._counts(call)
        exact = silent and not call.marked and all(name in self.exact or is_whole(read) for name, read in reads)
        decided = silent and all(name in self.decided for name, _ in reads)
        self._note_partly(
            call, results, [name for name, read in reads if name not in self.exact and not is_whole(read)]
        )
        for name, result in zip(call.outputs, results, strict=False):
            if name in self._made and (exact or is_whole(result)):
                self.exact.add(name)
            if name in self._made and decided:
                self.decided.add(name)

    def _note_partly(self, call: Call, results: Values, inexact: Sequence[str]) -> None:
        """Which elements no engine can compute otherwise, where others round: of an operator of exact values, and of one behind it
        that keeps each in its place."""
        name = call.outputs[0]
        if name not in self._made or name not in self._graph.gridded or call.marked:
            return
        if not inexact and self._unrounded is not None:
            self._partly[name] = self._unrounded
        elif not self._rounded and tuple(inexact) == call.reads[:1] and inexact[0] in self._partly:
            before = self._partly[inexact[0]]
            in_place = call.operator in _BOUNDS or record_of(call.operator).order == "kept"
            if in_place and before.size == np.size(results[0]):
                self._partly[name] = before.reshape(np.shape(results[0]))

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        """Its rule is asked when the operator is done: those of many steps have many places that are alike."""
        if self._keep and self._counts(call):
            known = {**operands, **self._before_grid(call.reads[0])} if kind == "steps" and call.reads else operands
            self._sites.append(RuleSite(kind, value, call, known, no_again))
        return value

    def _before_grid(self, name: str) -> dict[str, bool | Tensor]:
        """What a tie rule must know of a value that is put on a grid."""
        partly_exact = {EXACTLY: self._partly.get(name, name in self.exact)}
        while (node := self._graph.producers.get(name)) is not None and node.op_type in _BETWEEN:
            name = node.input[0]
        return {**partly_exact, ELEMENTWISE: node is not None and node.op_type in _ELEMENTWISE}

    def answer(self, call: Call, results: Values) -> Values:
        if call.marked:
            sites, self._sites = self._sites, []
            places = self._recorded(sites, self.unit(call.outputs))
            self.places.setdefault(call.outputs, RoundingSites()).each.extend(places)
            self._rounded = not self._keep or any(place.deviation is not None for place in places)
            self._note_exact(call, results)
        return results

    def _recorded(self, sites: Sequence[RuleSite], unit: Arithmetic) -> list[RoundingSite]:
        places = [RoundingSite((), None)] * len(sites)
        for numbers in _alike(sites) if len(sites) > FEW else [[number] for number in range(len(sites))]:
            alike = [sites[number] for number in numbers]
            site = alike[0] if len(alike) == 1 else _stacked(alike)
            deviation = deviation_of(variance_of(INNER[site.kind], site, unit), site.value)
            own = [deviation] if len(alike) == 1 else _apart(deviation, len(alike))
            self._note(site.value, alike[0].value.size, own)
            for number, array in zip(numbers, own, strict=True):
                places[number] = RoundingSite(sites[number].value.shape, array, site.kind)
        return places

    def _note(self, value: Tensor, size: int, deviations: Sequence[Deviation | None]) -> None:
        """Of places of that size."""
        self.peak = max(self.peak, float(np.abs(value).max(initial=0.0)))
        self.largest = max(self.largest, size)
        self.values += sum([deviation.size for deviation in deviations if deviation is not None])

    def _at(self, kind: str, value: Tensor, call: Call, variance: Callable[[], Any]) -> Tensor:
        if self._keep:
            deviation = deviation_of(variance(), value)
            self._unrounded = None
            if deviation is not None and not self._rounded and self.in_single(call.outputs):
                zeros = np.broadcast_to(deviation == 0.0, value.shape)
                self._unrounded = zeros if zeros.any() else None
            self._rounded = self._rounded or deviation is not None
            self.products += products_of(call, value)
            if deviation is not None and self.in_single(call.outputs) and is_silent(deviation, value):
                deviation = None
            self._note(value, value.size, [deviation])
            self.places[call.outputs].each.append(RoundingSite(value.shape, deviation, kind))
        return value


def is_whole(value: Any) -> bool:
    """Whether an array's own type says that it holds whole numbers: then no rounding is left in it."""
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biu"


def _apart(deviation: Deviation | None, count: int) -> list[Deviation | None]:
    """Of each of several places; None of those without any noise."""
    if deviation is None:
        return [None] * count
    noisy = np.asarray(deviation.reshape(count, -1).any(axis=1))
    return [row if is_noisy else None for row, is_noisy in zip(deviation, noisy, strict=True)]


def _alike(sites: Sequence[RuleSite]) -> list[list[int]]:
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


def _stacked(sites: Sequence[RuleSite]) -> RuleSite:
    """One site of all, along a new first axis. Rules of places inside an operator know no axes."""
    first = sites[0]
    operands: dict[str, Any] = {}
    for name, operand in first.operands.items():
        each = [site.operands[name] for site in sites]
        if isinstance(operand, np.ndarray):
            operands[name] = np.stack(each)
        elif isinstance(operand, Squares):
            operands[name] = partial(Squares.of_all, each)
        else:
            operands[name] = (lambda each=each: np.stack([read() for read in each])) if callable(operand) else operand
    return RuleSite(first.kind, np.stack([site.value for site in sites]), first.call, operands, no_again)
