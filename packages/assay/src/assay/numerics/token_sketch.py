"""A golden of one token's probabilities in at most 4 kB: the most probable tokens as they are, and a sketch of all others.

The divergence is a sum of parts that are none below 0: with the error e of a log-probability, KL(p || q) = sum of
p * (e + exp(-e) - 1), as the q add up to 1. Of the tokens that are stored each part is known. Of the tail the sketch tells the
length of e: signs drawn with a seed keep it within a known factor (Achlioptas, Database-friendly random projections, 2003),
and the length bounds what the tail adds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assay.ports import Tensor

MOST_BYTES = 4096
TOP, ROWS = 240, 200
"""240 numbers with their log-probabilities in double are 2,880 bytes, 200 sums in single 800, mass and squares of the tail 16: a golden
keeps the token itself, too."""
_MISSED = 1e-9
"""Chance, over the drawn signs, that a bound is none."""
_LARGEST = 700.0
"""Whose exponential is a number in double."""
_HALF = 2.0**-24
"""Relative rounding of a sum that is stored in single."""


@dataclass(frozen=True)
class TokenSketch:
    """`ids` and their `logs`, the most probable first; `sums` of the tail's log-probabilities by sign; `mass` and `squares` are the sums of
    the tail's probabilities and of their squares."""

    ids: Tensor
    logs: Tensor
    sums: Tensor
    mass: float
    squares: float

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(tensor.nbytes for tensor in self.tensors().values()) + 16

    def tensors(self) -> dict[str, Tensor]:
        """By name, those that are no single number."""
        return {"ids": self.ids, "logs": self.logs, "sums": self.sums}


class Sketcher:
    """The signs for one vocabulary. `seed` must not be known to what is judged."""

    def __init__(self, vocabulary: int, *, seed: int, top: int = TOP, rows: int = ROWS) -> None:
        self.top, self.rows = min(top, vocabulary), rows
        draw = np.random.default_rng(seed)
        self._signs = (2 * draw.integers(0, 2, (rows, vocabulary), np.int8) - 1).astype(np.float32)
        self._shrunk = _most_shrunk(rows)

    def sketch(self, logs: Tensor) -> TokenSketch:
        """Of log-probabilities of a reference in double, all of them finite."""
        order = np.argsort(-logs, kind="stable")
        top, rest = order[: self.top], order[self.top :]
        tail = np.exp(logs[rest])
        return TokenSketch(
            top.astype(np.uint32),
            logs[top],
            self._sums(logs, rest).astype(np.float32),
            float(tail.sum()),
            float(tail @ tail),
        )

    def divergence(self, golden: TokenSketch, logs: Tensor) -> tuple[float, float]:
        """Of a model's log-probabilities from the golden's, at least and at most, in nats. Beyond the bound in 1 of a billion draws of
        the signs; a number that is none is infinitely far."""
        if not np.isfinite(logs).all():
            return math.inf, math.inf
        known = _known(golden.logs, logs[golden.ids])
        rest = np.delete(np.arange(len(logs)), golden.ids)
        if not len(rest):
            return known, known
        answer = float(np.exp(logs[rest]).sum())
        # All of the tail as one token: the data processing inequality (Cover and Thomas, Elements of Information Theory, 2.8).
        least = golden.mass * _excess(math.log(golden.mass / answer)) if golden.mass > 0 and answer > 0 else answer
        sums = golden.sums.astype(np.float64)
        apart = float(np.linalg.norm(self._sums(logs, rest) - sums)) + _HALF * float(np.linalg.norm(sums))
        length = apart / math.sqrt(self.rows * self._shrunk)
        return known + max(0.0, least), known + self._tail(golden, answer, length)

    def _tail(self, golden: TokenSketch, answer: float, length: float) -> float:
        """The lesser of two bounds: no error is larger than the length of all, and no probability of the tail than the least
        that is stored; or the sum of p * e is at most the product of both lengths (Cauchy and Schwarz)."""
        largest = min(math.exp(float(golden.logs[-1])), math.sqrt(golden.squares))
        by_size = largest * length**2 / 2 * math.exp(length) if length < 700 else math.inf
        return min(by_size, math.sqrt(golden.squares) * length + max(0.0, answer - golden.mass))

    def _sums(self, logs: Tensor, rest: Tensor) -> Tensor:
        return self._signs[:, rest].astype(np.float64) @ logs[rest]


def least_apart(token_sketch: TokenSketch, other: TokenSketch) -> float:
    """The divergence of the second model from the first, at least, in nats: of the tokens that both store, and of all others as one."""
    _, mine, theirs = np.intersect1d(token_sketch.ids, other.ids, return_indices=True)
    rest = [
        float(np.exp(np.delete(sketch.logs, shared)).sum()) + sketch.mass
        for sketch, shared in ((token_sketch, mine), (other, theirs))
    ]
    known = _known(token_sketch.logs[mine], other.logs[theirs])
    if not rest[0] or not rest[1]:
        return max(0.0, known) if not rest[0] else math.inf
    return max(0.0, known + rest[0] * _excess(math.log(rest[0] / rest[1])))


def _known(golden: Tensor, answer: Tensor) -> float:
    """Of tokens that are stored: the sum of p * (e + exp(-e) - 1), which is p * (e - 1) + q where exp(-e) is no number."""
    error, shares = golden - answer, np.exp(golden)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = np.where(error < -_LARGEST, shares * (error - 1) + np.exp(answer), shares * (error + np.expm1(-error)))
    return float(parts.sum())


def _excess(error: float) -> float:
    return error + math.expm1(-error)


def _most_shrunk(rows: int) -> float:
    """To which share the square of a length shrinks at most. A row sees a square Q of mean 1 whose square has a mean of at most 3, so that
    exp(-h * Q) has at most 1 - h + 3 * h^2 / 2, and the chance of less than a share s is at most (exp(h * s) times that)^rows for any h."""
    steps = np.linspace(0.001, 0.6, 600)
    shares = np.linspace(0.0, 1.0, 2_001)
    chances = rows * (steps * shares[:, None] + np.log(1 - steps + 1.5 * steps**2)).min(axis=1)
    return float(shares[chances <= math.log(_MISSED)].max(initial=0.0))
