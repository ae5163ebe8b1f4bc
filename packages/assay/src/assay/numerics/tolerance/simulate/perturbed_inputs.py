"""What a noisy evaluation starts from: inputs, and stored numbers as a backend may fold, pack or round them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import held, stored
from assay.numerics.tolerance.simulate.double_evaluation import as_type
from assay.numerics.tolerance.simulate.graph_study import Graph
from assay.numerics.tolerance.simulate.noise import Draw, spread_of
from assay.numerics.tolerance.simulate.quantized_biases import spread_on_grid
from assay.numerics.tolerance.simulate.site_recorder import SiteRecorder
from assay.numerics.tolerance.simulate.weight_grids import spreads_on_grid
from assay.ports import Tensor, Tensors

_UNIT = 2.0**-24


class PerturbedInputs:
    """Of one model and contract; in a flow coarser than float32 everything is stored again."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic, weights: Tensors) -> None:
        self._graph = graph
        self._arithmetic = arithmetic
        self._coarse = arithmetic.storage > _UNIT
        names = (*graph.weights, *graph.others) if self._coarse else graph.weights
        self._inexact = [name for name in names if not held(weights[name], arithmetic.weights)]
        spreads = {bias.name: spread_on_grid(weights[bias.name], bias, weights) for bias in graph.biases}
        self.regridded = frozenset(name for name, spread in spreads.items() if spread is not None and spread.any())
        levels = arithmetic.weight_levels
        self._on_grid = spreads_on_grid(graph, weights, levels, arithmetic.table_levels) if levels else {}

    @property
    def kept(self) -> frozenset[str]:
        """Inputs and stored numbers that every engine takes as they are."""
        return frozenset() if self._coarse else self._graph.given - self.regridded.union(self._inexact, self._on_grid)

    def feeds(self, evaluator: Evaluator, inputs: Tensors, draw: Draw) -> dict[str, Tensor]:
        """Of one draw."""
        feeds = as_type(inputs, evaluator.computes_in)
        return feeds | {name: draw.weight(value, spread) for name, value, spread in self._moved(evaluator, feeds)}

    def rows(
        self, evaluator: Evaluator, inputs: Tensors, draws: Sequence[Draw], quiet: int, still: int = 0
    ) -> tuple[dict[str, Tensor], list[str]]:
        """Of several, a row for each behind so many `quiet` ones that take everything as it is, and before so many `still` ones;
        and the names of what differs between them."""
        feeds = as_type(inputs, evaluator.computes_in)
        moved = {}
        for name, value, spread in self._moved(evaluator, feeds):
            rows = np.empty((quiet + len(draws) + still, *value.shape), value.dtype)
            drawn = rows[quiet : quiet + len(draws)]
            np.multiply(Draw.several(draws, value.shape, signed=False), spread, out=drawn)
            drawn += value
            rows[:quiet] = rows[quiet + len(draws) :] = value
            moved[name] = rows
        return feeds | moved, list(moved)

    def _moved(self, evaluator: Evaluator, feeds: Tensors) -> list[tuple[str, Tensor, Tensor]]:
        """Name, value and standard deviation of what each draw moves."""
        moved = {name: (value, spread_of(value, unit)) for name, value, unit in self._rounded(evaluator, feeds)}
        for name, grid in self._on_grid.items():
            if name not in feeds:
                moved[name] = evaluator.rt_inits_[name], grid.astype(evaluator.computes_in)
        for bias in self._graph.biases:
            value = evaluator.rt_inits_[bias.name]
            if bias.name not in feeds and (spread := spread_on_grid(value, bias, evaluator.rt_inits_)) is not None:
                before = moved[bias.name][1] if bias.name in moved else 0.0
                moved[bias.name] = value, np.hypot(before, spread)
        return [(name, value, spread) for name, (value, spread) in moved.items()]

    def _rounded(self, evaluator: Evaluator, feeds: Tensors) -> list[tuple[str, Tensor, float]]:
        """Name, value and unit of what is stored in another type, folded or repacked."""
        storage = self._arithmetic.storage
        rounded: list[tuple[str, Tensor, float]] = []
        if self._coarse:
            real = [
                pair for pair in feeds.items() if pair[1].dtype == evaluator.computes_in and pair[0] in self._graph.data
            ]
            rounded = [(name, value, storage) for name, value in real if not stored(value, storage)]
        for name in self._inexact:
            if name not in feeds:
                unit = self._arithmetic.of(self._graph.types.get(name, "")).weights
                rounded.append((name, evaluator.rt_inits_[name], unit))
        return rounded

    def untouched(
        self, evaluator: Evaluator, inputs: Tensors, recorder: SiteRecorder, output_names: Sequence[str]
    ) -> list[str]:
        """Values that no noise reaches, where they meet those that it does."""
        noisy = {
            *self.regridded,
            *self._inexact,
            *self._on_grid,
            *(set(inputs) & self._graph.data if self._coarse else ()),
        }
        return evaluator.boundary(noisy, lambda outputs: recorder.is_noisy(outputs), output_names)
