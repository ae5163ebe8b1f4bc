"""The next token from log-probabilities: greedy, or drawn by the seed of the request."""

from __future__ import annotations

import numpy as np

from assay.testing.language_server.network import Array

_CLOSE = 0.7
"""Nats between two tokens, for a fault."""


def log_softmax(logits: Array) -> Array:
    """Of one row, in float64."""
    raised = logits.astype(np.float64) - float(logits.max())
    return np.asarray(raised - np.log(np.exp(raised).sum()))


class Sampler:
    """Draws of one request. `temperature` 0 is greedy."""

    def __init__(self, temperature: float, seed: int | None, faults: frozenset[str]) -> None:
        if "seed-constant" in faults:
            seed = 1
        self._draw = np.random.default_rng(None if "seed-ignored" in faults else seed)
        self._temperature, self._faults = temperature, faults

    def next(self, logs: Array, before: list[int]) -> int:
        """The number of the token behind these tokens."""
        order = np.argsort(-logs, kind="stable")
        if not self._temperature:
            close = "greedy-second" in self._faults and logs[order[0]] - logs[order[1]] < _CLOSE
            return int(order[1] if close else order[0])
        temperature = self._temperature * (1.3 if "sampler-temperature" in self._faults else 1.0)
        weights = np.exp((logs - logs.max()) / temperature)
        if "sampler-top" in self._faults:
            weights[order[8:]] = 0.0
        if "sampler-repetition" in self._faults:
            weights[list(set(before))] *= 0.3
        return int(self._draw.choice(len(weights), p=weights / weights.sum()))
