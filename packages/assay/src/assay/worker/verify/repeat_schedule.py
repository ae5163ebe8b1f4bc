"""In which order samples are asked again, and how often."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from assay.core.repeats import ENOUGH_CALLS

OFFSETS = (0, 16, 1)
"""Bytes behind a boundary of 64 at which inputs begin: there, where NumPy puts most arrays, and at a slice (of one element)."""
LEAST_S = 0.5
"""What repeated calls may take of any job, however short."""
EVIDENCE_S = 1.0
"""What they may take once one was seen to differ: it takes several to say when answers differ."""


def schedule(samples: int, sequences: Sequence[int], seed: int) -> Iterator[tuple[int, int]]:
    """Sample and offset of each call, without end. The first sample first, as it was fed before; then all in reversed order, each
    twice, and in random orders. Calls of a sequence stay in order, from its start."""
    yield 0, 0
    turn = 0
    for order in _orders(samples, sequences, random.Random(seed)):
        for sample in order:
            yield sample, OFFSETS[turn % len(OFFSETS)]
            turn += 1


def _orders(samples: int, sequences: Sequence[int], rng: random.Random) -> Iterator[list[int]]:
    if sequences and sum(sequences) == samples:
        rest = range(1, samples)
        while True:
            yield [*rest]
            rest = range(samples)
    every = list(range(samples))
    yield every[::-1]
    yield [sample for sample in every for _ in range(2)]
    while True:
        yield rng.sample(every, samples) if samples > 1 else every


def allowed_s(share: float, job_s: float) -> float:
    """Seconds for repeated calls, of a job that has taken `job_s` so far."""
    return max(LEAST_S, share * job_s) if share else 0.0


def is_enough(calls: int) -> bool:
    """Whether one bad call in 50 would have been seen."""
    return calls >= ENOUGH_CALLS
