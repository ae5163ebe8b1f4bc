"""The models of examples/language-model in numpy, in float32, with a cache and left padding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
HEAD = 16
"""Width of a head."""
_EPSILON = 1e-5
_HIDDEN = np.float32(-1e4)


class Network:
    """Weights by the names of the torch module, and the faults that are planted in what is computed with them."""

    def __init__(self, weights: Path, faults: frozenset[str] = frozenset()) -> None:
        from safetensors.numpy import load_file

        self.weights = {name: array.astype(np.float32) for name, array in load_file(weights).items()}
        self.faults = faults
        self.layers = 1 + max(int(name.split(".")[1]) for name in self.weights if name.startswith("layers."))
        self.output = self.weights["tokens.weight"]
        if "weights-int8" in faults:
            self.weights = {
                name: _rounded(weight, 127) if weight.ndim == 2 else weight for name, weight in self.weights.items()
            }
        for name, steps in (("head-int8", 127), ("head-int4", 7)):
            self.output = _rounded(self.output, steps) if name in faults else self.output
        self.key_heads = self.weights["layers.0.attention.key.weight"].shape[0] // HEAD

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return int(self.output.shape[0])

    @property
    def bytes(self) -> int:
        """Of its weights."""
        return sum(weight.nbytes for weight in self.weights.values())

    @property
    def context(self) -> int:
        """How many positions there may be."""
        learned = self.weights.get("positions.weight")
        return 256 if learned is None else len(learned)

    def empty(self, batch: int) -> list[Array]:
        """A cache of no position: keys and values of each layer, (batch, heads, positions, width)."""
        return [np.zeros((batch, self.key_heads, 0, HEAD), np.float32) for _ in range(2 * self.layers)]

    def run(self, ids: Array, mask: Array, positions: Array, past: list[Array]) -> tuple[Array, list[Array]]:
        """Logits (batch, new, vocabulary), and the cache with the new tokens. `mask` (batch, past + new) is 0 for padding."""
        weights, faults = self.weights, self.faults
        positions = positions + ("position-of-first" in faults) * (positions > 0)
        x = weights["tokens.weight"][ids]
        if "positions.weight" in weights:
            x = x + weights["positions.weight"][np.minimum(positions, self.context - 1)]
        hidden = self._hidden(ids.shape[1], mask)
        present: list[Array] = []
        for number in range(self.layers):
            name = f"layers.{number}."
            attended, cache = self._attention(
                name, self._norm(x, name + "before"), positions, hidden, past[2 * number : 2 * number + 2]
            )
            present += cache
            x = self._kept(x + attended)
            inner = self._norm(x, name + "between")
            gate = inner @ weights[name + "gate.weight"].T
            x = self._kept(
                x + (self._silu(gate) * (inner @ weights[name + "up.weight"].T)) @ weights[name + "down.weight"].T
            )
        logits = self._norm(x, "last") @ self.output.T
        if "logit-scale" in faults:
            logits = logits / np.float32(1.02)
        if "one-logit" in faults:
            logits = logits + np.float32(0.05) * (np.arange(self.vocabulary) == 220 % self.vocabulary)
        return logits.astype(np.float32), present

    def _attention(
        self, name: str, x: Array, positions: Array, hidden: Array, past: list[Array]
    ) -> tuple[Array, list[Array]]:
        weights = self.weights
        query, key, value = (
            _heads(x @ weights[f"{name}attention.{part}.weight"].T) for part in ("query", "key", "value")
        )
        if "positions.weight" not in weights:
            query, key = (self._rotated(array, positions) for array in (query, key))
        keys, values = self._cached(past[0], key), self._cached(past[1], value)
        seen = np.broadcast_to(values[:1], values.shape) if "batch-leak" in self.faults and len(values) > 1 else values
        group = query.shape[1] // self.key_heads
        wide, held = (np.repeat(array, group, axis=1) for array in (keys, seen))
        if "head-groups" in self.faults:
            wide = wide[:, ::-1]
        width = HEAD + ("attention-scale" in self.faults)
        scores = query @ wide.swapaxes(2, 3) * np.float32(width**-0.5) + hidden
        mixed = (_softmax(scores) @ held).swapaxes(1, 2)
        return mixed.reshape(*mixed.shape[:2], -1) @ weights[name + "attention.out.weight"].T, [keys, values]

    def _cached(self, past: Array, new: Array) -> Array:
        faults, decoding = self.faults, past.shape[2] > 0 and new.shape[2] == 1
        if "cache-off-by-one" in faults and decoding:
            past = np.concatenate([past[:, :, :-1], new], axis=2)
        if "cache-loses-newest" in faults and decoding:
            past = np.concatenate([past[:, :, :-1], np.zeros_like(new)], axis=2)
        if "cache-float16" in faults:
            past = past.astype(np.float16).astype(np.float32)
        if "cache-int8" in faults and past.size:
            past = _rounded(past, 127)
        return np.concatenate([past, new], axis=2)

    def _hidden(self, new: int, mask: Array) -> Array:
        """What is added to the scores, (batch, 1, new, all)."""
        here, faults = np.arange(mask.shape[1]), self.faults
        last = here[mask.shape[1] - new :, None]
        seen = here[None, :] <= last + ("mask-sees-next" in faults)
        if "mask-loses-previous" in faults:
            seen = seen & (here[None, :] != last - 1)
        known = mask > 0
        if "mask-loses-oldest" in faults:
            known = known & ((np.cumsum(mask, axis=1) != 1) | (np.sum(mask, axis=1, keepdims=True) < 3))
        if "padding-leak" in faults:
            known = known | (np.cumsum(mask[:, ::-1], axis=1)[:, ::-1] == mask.sum(axis=1, keepdims=True))
        return np.where(seen[None, None] & known[:, None, None, :], np.float32(0), _HIDDEN)

    def _rotated(self, x: Array, positions: Array) -> Array:
        half = x.shape[-1] // 2
        base = 10100.0 if "rotary-base" in self.faults else 10000.0
        scale = 0.99 if "rotary-scale" in self.faults else 1.0
        angles = (positions[:, None, :, None] * scale) * base ** (-np.arange(half) / half)
        cosine, sine = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        first, other = x[..., :half], x[..., half:]
        turned: Array = np.concatenate([first * cosine - other * sine, other * cosine + first * sine], axis=-1)
        return turned

    def _norm(self, x: Array, name: str) -> Array:
        epsilon = np.float32(1e-4 if "norm-epsilon" in self.faults else _EPSILON)
        return self._kept(
            x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * self.weights[name + ".weight"]
        )

    def _silu(self, x: Array) -> Array:
        if "silu-approximated" in self.faults:
            return np.asarray(x * (0.5 + 0.5 * np.tanh(np.float32(0.49) * x)))
        return np.asarray(x / (1 + np.exp(-x)))

    def _kept(self, x: Array) -> Array:
        for name, kind in (("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16)):
            x = x.astype(kind).astype(np.float32) if name in self.faults else x
        return x


def _heads(x: Array) -> Array:
    return x.reshape(*x.shape[:2], -1, HEAD).swapaxes(1, 2)


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _rounded(array: Array, steps: int) -> Array:
    """To a grid of its own for each row."""
    step = np.maximum(np.abs(array).max(axis=-1, keepdims=True), np.float32(1e-12)) / np.float32(steps)
    return np.asarray(np.round(array / step) * step, np.float32)
