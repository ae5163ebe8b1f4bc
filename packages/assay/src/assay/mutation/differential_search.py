"""Two engines side by side, one of them with a lie in it: do they ever differ, and on which inputs the most?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.model import Model
from assay.mutation import input_generators
from assay.mutation.input_generators import Array, Sample

Run = Callable[[Sample], Mapping[str, Array]]
SECONDS = 20.0
"""For the search at one mutant."""
STEPS = 24
"""Of the walk that starts at the best input found."""
DRAWS = 2
"""Of each fill."""
KEPT = 3
"""Inputs kept for the gate to judge, the most telling first."""


@dataclass(frozen=True)
class TriedInput:
    """One input: what it is, what the sound engine answers, and how far the mutant is from that. `start` is what a walk began at.

    `effect` is the norm of the difference over that of the answer, the largest of all outputs and of their elements;
    infinite where an integer, a shape or a class (NaN, infinity) differs, or the mutant fails to run.
    """

    what: str
    inputs: Sample
    outputs: Mapping[str, Array]
    effect: float
    equal: bool
    start: str = ""


def try_input(sound: Run, mutant: Run, what: str, inputs: Sample) -> TriedInput | None:
    """None for an input that the sound engine does not take, or answers with something that is no number."""
    try:
        expected = sound(inputs)
    except Exception:  # noqa: BLE001  an input made up here may be illegal: then it is not one
        return None
    if not all(np.isfinite(array).all() for array in expected.values() if array.dtype.kind == "f"):
        return None
    try:
        actual = mutant(inputs)
    except Exception:  # noqa: BLE001  the mutant may do anything
        return TriedInput(what, inputs, expected, np.inf, False)
    return TriedInput(what, inputs, expected, _effect(actual, expected), _equal(actual, expected))


def _equal(actual: Mapping[str, Array], expected: Mapping[str, Array]) -> bool:
    return list(actual) == list(expected) and all(
        actual[name].shape == array.shape
        and actual[name].dtype == array.dtype
        and (np.array_equal(actual[name], array) if array.dtype == object else _same_bits(actual[name], array))
        for name, array in expected.items()
    )


def _same_bits(array: Array, other: Array) -> bool:
    # Zeros of both signs are one number.
    return array.tobytes() == other.tobytes() or bool(np.array_equal(array, other))


def _effect(actual: Mapping[str, Array], expected: Mapping[str, Array]) -> float:
    if list(actual) != list(expected):
        return float(np.inf)
    return max((_difference(actual[name], array) for name, array in expected.items()), default=0.0)


def _difference(actual: Array, expected: Array) -> float:
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return float(np.inf)
    if expected.dtype.kind in "iubOSU" or not expected.size:
        return 0.0 if np.array_equal(actual, expected) else float(np.inf)
    wide, other = actual.astype(np.float64), expected.astype(np.float64)
    if not np.isfinite(wide).all():
        return float(np.inf)
    error, size = np.abs(wide - other), np.sqrt(np.mean(other**2)) + 1e-300
    return float(max(np.sqrt(np.mean(error**2)), error.max() / np.sqrt(error.size)) / size)


def search(
    sound: Run, mutant: Run, samples: Sequence[Sample], model: Model, seed: int, seconds: float = SECONDS
) -> tuple[list[TriedInput], list[TriedInput]]:
    """What the golden samples show, and what inputs made up from them show: fills first, then a walk from the best."""
    until = time.monotonic() + seconds
    golden = [effect for sample in samples if (effect := try_input(sound, mutant, "golden", sample)) is not None]
    rng = np.random.default_rng([seed, 4])
    known = input_generators.ranges(samples)
    tried_inputs: list[TriedInput] = []
    for what, inputs in _candidates(samples, model, known, rng):
        if time.monotonic() > until:
            break
        effect = try_input(sound, mutant, what, inputs)
        if effect is not None:
            tried_inputs.append(effect)
    best = max(tried_inputs, key=lambda effect: effect.effect, default=None)
    for _ in range(STEPS):
        if best is None or not np.isfinite(best.effect) or time.monotonic() > until:
            break
        start = best.start or best.what
        effect = try_input(sound, mutant, f"a walk from {start}", input_generators.walked(best.inputs, known, rng))
        if effect is not None:
            effect = replace(effect, start=start)
            tried_inputs.append(effect)
            best = effect if effect.effect > best.effect else best
    return golden, tried_inputs


def _candidates(
    samples: Sequence[Sample], model: Model, known: Mapping[str, input_generators.Range], rng: np.random.Generator
) -> Iterator[tuple[str, Sample]]:
    yield from input_generators.enlarged(samples, model.inputs)
    for rows in input_generators.about_thresholds(model, DRAWS, rng):
        yield "rows about the thresholds of trees", rows
    for fill in input_generators.INPUT_GENERATORS:
        for _ in range(DRAWS):
            yield fill, input_generators.filled(samples[int(rng.integers(len(samples)))], fill, known, rng)


def largest_effect(tried_inputs: Sequence[TriedInput]) -> list[TriedInput]:
    """The best of each kind of input, the largest effect first; none without an effect."""
    best: dict[str, TriedInput] = {}
    for tried in tried_inputs:
        if tried.effect > 0 and (tried.what not in best or best[tried.what].effect < tried.effect):
            best[tried.what] = tried
    return sorted(best.values(), key=lambda tried: -tried.effect)[:KEPT]
