"""A model evaluated once, exactly or with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.hooks import observed_by
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.derived_tolerance import DRAWS
from assay.numerics.tolerance.rules.noise_pool import NoisePool
from assay.numerics.tolerance.simulate.double_evaluation import as_type, named, wide_evaluator
from assay.numerics.tolerance.simulate.graph_study import Graph
from assay.numerics.tolerance.simulate.noise import Draw
from assay.numerics.tolerance.simulate.perturbed_inputs import PerturbedInputs
from assay.numerics.tolerance.simulate.site_recorder import SiteRecorder
from assay.numerics.tolerance.simulate.spread import Unstable
from assay.ports import Tensor, Tensors


@dataclass
class Sample:
    """What one sample gives: the oracle's values by name, the standard deviations, what decides, the names of what no noise
    reaches, and of what it reaches only by whole steps of exact numbers."""

    values: dict[str, Tensor] = field(default_factory=dict)
    deviations: dict[str, Tensor] = field(default_factory=dict)
    margins: dict[str, Tensor] = field(default_factory=dict)
    unstable: dict[str, Unstable] = field(default_factory=dict)
    decided: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()
    recorded_bytes: int = 0
    cost: int = 0
    kept: dict[str, Any] = field(default_factory=dict)


class NoisyEvaluation:
    """Of one model (its graph without `weights`, and these) and contract. `taps` are values wanted beside the outputs, `draws` how many
    noisy evaluations a sample takes."""

    def __init__(self, light: Any, weights: Tensors, graph: Graph, arithmetic: Arithmetic, seed: int) -> None:
        self.graph = graph
        self.arithmetic = arithmetic
        self.seed = seed
        self.outputs = [value.name for value in light.graph.output]
        self.taps: tuple[str, ...] = ()
        self.wide = wide_evaluator(light, weights)
        self.draws = DRAWS
        self.feeding = PerturbedInputs(graph, arithmetic, self.wide.rt_inits_)

    def exact(self, inputs: Tensors, more: Sequence[str] = ()) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Outputs and taps by name, and the values called `more`."""
        names = [*self.outputs, *self.taps]
        values = self.wide.evaluate(as_type(inputs, np.float64), (*self.taps, *more))
        return named(names, values[: len(names)]), dict(zip(more, values[len(names) :], strict=True))

    def draw_of(self, turn: tuple[int, int], amplified: float, recorder: SiteRecorder | None, pool: NoisePool) -> Draw:
        """The numbers of one noisy evaluation."""
        places = recorder.places if recorder is not None else None
        return Draw(self.graph, self.arithmetic, (self.seed, *turn), amplified, places, pool)

    def evaluated(
        self, evaluator: Evaluator, inputs: Tensors, draw: Draw, known: dict[str, Any] | None = None
    ) -> dict[str, Tensor]:
        """One noisy evaluation by itself."""
        with observed_by(draw), np.errstate(all="ignore"):
            values = evaluator.evaluate(self.feeding.feeds(evaluator, inputs, draw), self.taps, known)
        return named([*self.outputs, *self.taps], values)
