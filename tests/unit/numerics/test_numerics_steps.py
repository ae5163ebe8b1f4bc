"""A long evaluation says how far it is, to who listens."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.core.step import Step
from assay.numerics.steps import at_draw, at_sample, each_sample, listening
from assay.numerics.tolerance.derive import derive


def test_nobody_needs_to_listen() -> None:
    at_sample(1, 2)
    at_draw(1, 2)
    assert list(each_sample("ab")) == ["a", "b"]


def test_a_sample_begins_without_a_draw_and_a_draw_keeps_its_sample() -> None:
    steps: list[Step] = []
    with listening(steps.append):
        for number, _ in enumerate(each_sample("ab"), 1):
            at_draw(number, 8)
    at_sample(9, 9)
    assert steps == [Step(1, 2), Step(1, 2, 1, 8), Step(2, 2), Step(2, 2, 2, 8)]


def test_a_derivation_tells_its_samples_and_its_draws(linear: Path) -> None:
    steps: list[Step] = []
    rows = np.random.default_rng(0).standard_normal((3, 1, 4), np.float32)
    with listening(steps.append):
        derive(linear, [{"x": row} for row in rows], "float32")
    samples = [step.sample for step in steps]
    assert (samples[0], samples == sorted(samples)) == (1, True)
    assert {step.samples for step in steps} == {3}
    assert any(step.draws > 1 and 1 <= step.draw <= step.draws for step in steps)
