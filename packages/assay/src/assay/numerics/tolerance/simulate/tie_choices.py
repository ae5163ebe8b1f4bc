"""The answers of a flow that rounds ties by a rule of its own: one for every choice of grids at which it does.

Which grids a backend rounds by its own kernels, and which by the standard, depends on what it fuses. Each does the same at every tie
of a grid. So every combination is evaluated, with its noise, and an output must be one of these answers: an allowance for every tie,
one way or the other, would hide faults that move some of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx.numpy_helper import to_array

from assay.numerics.operators.index import record_of
from assay.numerics.oracle.hooks import observed_by
from assay.numerics.oracle.tie_rules import Rules, ties_by
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.rules.dyadic import are_powers_of_two
from assay.numerics.tolerance.rules.rounding_rules import RuleSite
from assay.numerics.tolerance.rules.rounding_sites import RoundingSite
from assay.numerics.tolerance.rules.ties import READINGS, chooses
from assay.numerics.tolerance.simulate.site_recorder import SiteRecorder
from assay.ports import Tensors

if TYPE_CHECKING:
    from assay.numerics.tolerance.deriving import Deriving

MOST = 64
"""Answers by one reading of a rule: six grids whose ties it decides otherwise. With more the ties are left open."""
AFFORDED = 1 << 26
"""Of `coarse.work` for all of them together: some ten seconds."""


class _Watch(SiteRecorder):
    """`found` are the operators, by what they give, at which this rule decides a tie otherwise."""

    def __init__(self, deriving: Deriving, declared: str, rule: str) -> None:
        super().__init__(deriving.graph, deriving.arithmetic, kept=deriving.drawing.kept)
        self._declared, self._rule = declared, rule
        self.found: dict[tuple[str, ...], None] = {}

    def _recorded(self, sites: Sequence[RuleSite], unit: Arithmetic) -> list[RoundingSite]:
        for site in sites:
            if site.kind == "steps" and chooses(site, unit, self._declared, self._rule):
                self.found[site.call.outputs] = None
        return super()._recorded(sites, unit)


def may_meet_ties(graph: Any) -> bool:
    """Whether any value of this graph can lie exactly between two steps of a grid: only by scales that are powers of two, and by those
    that are not stored."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    return any(
        _is_dyadic(node, stored)
        or any(may_meet_ties(attribute.g) for attribute in node.attribute if attribute.HasField("g"))
        for node in graph.node
    )


def _is_dyadic(node: Any, stored: Mapping[str, Any]) -> bool:
    known = record_of(node.op_type)
    if not known.rounds or not known.scales:
        return False
    names = [node.input[place] for place in known.scales if place < len(node.input)]
    return all(name not in stored or are_powers_of_two(to_array(stored[name])) for name in names)


def choices(deriving: Deriving, inputs: Sequence[Tensors], declared: str, cost: int) -> list[Rules] | None:
    """Every combination of grids at which ties may be rounded by the rule that a flow declares, beside half to even everywhere; None
    where there are too many. `cost` is the work of evaluating one."""
    all_choices: list[Rules] = []
    for rule in READINGS.get(declared, ()):
        chosen = _combinations(deriving, inputs, declared, rule, min(MOST, max(2, AFFORDED // max(1, cost))))
        if chosen is None:
            return None
        all_choices += [choice for choice in chosen if choice]
    return all_choices


def _combinations(
    deriving: Deriving, inputs: Sequence[Tensors], declared: str, rule: str, most: int
) -> list[Rules] | None:
    """By one rule. What is rounded otherwise at one grid may be a tie at the next."""
    grids: dict[tuple[str, ...], None] = {}
    known: dict[frozenset[tuple[str, ...]], Rules] = {}
    todo: list[Rules] = [{}]
    while todo:
        rules = todo.pop()
        known[frozenset(rules)] = rules
        more = [grid for grid in _decided(deriving, inputs, rules, declared, rule) if grid not in grids]
        if not more:
            continue
        grids.update(dict.fromkeys(more))
        if 2 ** len(grids) > most:
            return None
        subsets = itertools.product((False, True), repeat=len(grids))
        every = [dict.fromkeys(itertools.compress(grids, subset), rule) for subset in subsets]
        todo = [choice for choice in every if frozenset(choice) not in known]
    return list(known.values())


def _decided(
    deriving: Deriving, inputs: Sequence[Tensors], rules: Rules, declared: str, rule: str
) -> dict[tuple[str, ...], None]:
    """Where the rule decides a tie of any sample otherwise, with ties rounded by `rules` before it."""
    decided: dict[tuple[str, ...], None] = {}
    for sample in inputs:
        watch = _Watch(deriving, declared, rule)
        with observed_by(watch), ties_by(rules), np.errstate(all="ignore"):
            deriving.drawing.exact(sample)
        decided |= watch.found
    return decided


def is_alike(derived_tolerance: DerivedTolerance, other: DerivedTolerance) -> bool:
    """Whether what ties decide changes no output, and no noise of one."""
    parts = (
        (derived_tolerance.oracle, other.oracle),
        (derived_tolerance.deviation, other.deviation),
        (derived_tolerance.margins, other.margins),
    )
    return derived_tolerance.header.outputs == other.header.outputs and all(
        mine.keys() == theirs.keys() and all(np.array_equal(mine[key], theirs[key], equal_nan=True) for key in mine)
        for left, right in parts
        for mine, theirs in zip(left, right, strict=True)
    )
