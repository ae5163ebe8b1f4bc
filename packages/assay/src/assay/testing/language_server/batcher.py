"""A dynamic batcher with a prefix cache: what arrives while a step runs goes into the next one, side by side."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from assay.testing.language_server.network import Array, Network
from assay.testing.language_server.sampling import Sampler, log_softmax

CHUNK = 24
"""Tokens of a prompt that are fed in one step."""
_SHORTEST, _KEPT = 4, 32
"""Tokens that a hit of the prefix cache has at least; prompts that are kept."""


@dataclass(frozen=True)
class Token:
    """One that was generated, with the log-probabilities of all that could stand there."""

    number: int
    logs: Array


@dataclass
class Generation:
    """A request under way. `emit` is called with each token, and with None at the end; it says whether more is wanted."""

    prompt: list[int]
    most: int
    sampler: Sampler
    emit: Callable[[Token | None], bool]
    left: list[int] = field(default_factory=list)
    cache: list[Array] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    late: Array | None = None


class Use(NamedTuple):
    """`bytes` of caches, of requests under way and of prompts that are kept; `cache_used` is the share of those that may be kept."""

    running: int
    waiting: int
    bytes: int
    cache_used: float


class Batcher:
    """One thread that steps all requests together, `most` at a time; the first waits `delay_s` for others."""

    def __init__(
        self,
        network: Network,
        *,
        most: int = 8,
        delay_s: float = 0.0,
        step_s: float = 0.0,
        extra: float = 0.0,
        prefixes: bool = True,
        drafted: int = 0,
    ) -> None:
        self._network, self._faults = network, network.faults
        self._most, self._delay_s, self._step_s, self._prefixes = most, delay_s, step_s, prefixes
        self._extra, self._drafted = extra, drafted
        self._waiting: list[Generation] = []
        self._wake = threading.Condition()
        self._known: OrderedDict[tuple[int, ...], list[Array]] = OrderedDict()
        self._left_behind: Array | None = None
        self._active: list[Generation] = []
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="batcher", daemon=True)
        self._thread.start()

    def add(self, sequence: Generation) -> None:
        """It is stepped from the next step on."""
        with self._wake:
            self._waiting.append(sequence)
            self._wake.notify()

    @property
    def use(self) -> Use:
        """What it holds now."""
        active, known = list(self._active), list(self._known.values())
        caches = [*(generation.cache for generation in active), *known]
        size = sum(part.nbytes for cache in caches for part in cache)
        return Use(len(active), len(self._waiting), size, len(known) / _KEPT)

    def close(self) -> None:
        """After the step that is under way."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join(timeout=10)

    def _work(self) -> None:
        active: list[Generation] = []
        while True:
            with self._wake:
                if not active and not self._waiting:
                    self._wake.wait_for(lambda: self._waiting or self._closed)
                    if self._delay_s:
                        self._wake.wait(timeout=self._delay_s)
                if self._closed:
                    return
                free = self._most - len(active)
                admitted, self._waiting = self._waiting[:free], self._waiting[free:]
            for sequence in admitted:
                self._begin(sequence)
            self._active = active = [*active, *admitted]
            active = (
                [generation for generation in active if not self._stepped(generation)]
                if len(active) == 1
                else self._both(active)
            )

    def _both(self, active: Sequence[Generation]) -> list[Generation]:
        """Prompts first, then those that generate."""
        reading = [generation for generation in active if generation.left]
        ended = self._step(reading) if reading else []
        writing = [generation for generation in active if not generation.left and generation not in reading]
        ended += self._step(writing) if writing else []
        return [generation for generation in active if generation not in ended]

    def _stepped(self, sequence: Generation) -> bool:
        return bool(self._step([sequence]))

    def _begin(self, sequence: Generation) -> None:
        sequence.left, sequence.cache = list(sequence.prompt), self._network.empty(1)
        if not self._prefixes:
            return
        best, waiting = 0, None
        for known, cache in self._known.items():
            both = list(zip(known, sequence.prompt, strict=False))
            same = next((at for at, (token, other) in enumerate(both) if token != other), len(both))
            if same >= _SHORTEST and "stale-prefix" in self._faults:
                same = len(known)
            elif same >= _SHORTEST and "stale-prefix-one" in self._faults:
                same = min(same + 1, len(known))
            same = min(same, len(sequence.prompt) - 1)
            if same > best:
                best, waiting = same, cache
        if waiting is not None and best >= _SHORTEST:
            sequence.left = sequence.prompt[best:]
            sequence.cache = [array[:, :, :best] for array in waiting]

    def _step(self, group: Sequence[Generation]) -> list[Generation]:
        """One call of the network for all of the group. Returns those that ended."""
        began = time.perf_counter()
        if self._step_s:
            time.sleep(self._step_s)
        fed = [
            generation.left[:CHUNK] if generation.left else [generation.made[-1], *self._draft(generation)]
            for generation in group
        ]
        logits = self._fed(group, fed)
        self._work_more(began)
        if "batch-swap" in self._faults and len(group) > 1:
            logits = logits[::-1]
        ended = []
        for sequence, tokens, row in zip(group, fed, logits, strict=True):
            if sequence.left:
                sequence.left = sequence.left[len(tokens) :]
                if sequence.left:
                    continue
                self._remember(sequence)
                over = self._gave(sequence, row[-1])
            else:
                over = self._verified(sequence, tokens[1:], row[-len(tokens) :])
            ended += [sequence] if over else []
        return ended

    def _draft(self, sequence: Generation) -> list[int]:
        """What followed the newest token when it stood there before (prompt lookup): a guess, to be verified in one call."""
        text = sequence.prompt + sequence.made
        room = min(self._drafted, sequence.most - len(sequence.made) - 1)
        before = next((at for at in range(len(text) - 2, -1, -1) if text[at] == text[-1]), None)
        return text[before + 1 : before + 1 + room] if before is not None and room > 0 else []

    def _verified(self, sequence: Generation, draft: Sequence[int], rows: Array) -> bool:
        """Each token is chosen as without a draft; the next row counts where the draft has guessed it. Whether it is at its end."""
        kept = sequence.cache[0].shape[2] - len(draft)
        for row, guess in zip(rows, [*draft, None], strict=True):
            if self._gave(sequence, row, guess if "draft-accepted" in self._faults else None):
                return True
            if sequence.made[-1] != guess:
                break
            kept += 1
        if "draft-cache" not in self._faults:
            sequence.cache = [array[:, :, :kept] for array in sequence.cache]
        return False

    def _work_more(self, began: float) -> None:
        """Products of matrices for a share of the time since then: a server that does more than it should."""
        now = time.perf_counter()
        until = now + self._extra * (now - began)
        while time.perf_counter() < until:
            self._network.output @ self._network.output.T[:, :8]

    def _gave(self, sequence: Generation, row: Array, forced: int | None = None) -> bool:
        """Whether it is at its end."""
        logs = log_softmax(row)
        number = sequence.sampler.next(logs, sequence.prompt) if forced is None else forced
        shown = sequence.late if "logprobs-late" in self._faults and sequence.late is not None else logs
        sequence.late = logs
        sequence.made.append(number)
        wanted = sequence.emit(Token(number, shown))
        if wanted and len(sequence.made) < sequence.most:
            return False
        sequence.emit(None)
        return True

    def _fed(self, group: Sequence[Generation], fed: Sequence[list[int]]) -> Array:
        """The logits behind each of the new tokens, (batch, new, vocabulary), padded on the left; their caches grow."""
        longest, most = max(map(len, fed)), max(generation.cache[0].shape[2] for generation in group)
        ids = np.zeros((len(group), longest), np.int64)
        mask = np.zeros((len(group), most + longest), np.int64)
        positions = np.zeros_like(ids)
        for row, (sequence, tokens) in enumerate(zip(group, fed, strict=True)):
            past = sequence.cache[0].shape[2]
            ids[row, longest - len(tokens) :] = tokens
            mask[row, most - past : most] = 1
            mask[row, most + longest - len(tokens) :] = 1
            positions[row, longest - len(tokens) :] = self._positions(sequence, past, len(tokens), longest)
        cache = [
            self._padded([generation.cache[part] for generation in group], most) for part in range(len(group[0].cache))
        ]
        logits, present = self._network.run(ids, mask, positions, cache)
        for row, sequence in enumerate(group):
            sequence.cache = [array[row : row + 1][:, :, mask[row] > 0] for array in present]
            kept = sequence.cache[1].shape[2]
            if "stale-slot" in self._faults and sequence.made and self._left_behind is not None and kept > 2:
                sequence.cache[1] = sequence.cache[1].copy()
                sequence.cache[1][:, :, 2] = self._left_behind
        return logits

    def _positions(self, sequence: Generation, past: int, new: int, longest: int) -> Array:
        faults = self._faults
        first = past + ("decode-position" in faults and not sequence.left)
        if "padding-position" in faults:
            first += longest - new
        if "chunk-position" in faults and len(sequence.left) < len(sequence.prompt) and sequence.left:
            first = 0
        return np.arange(first, first + new)

    def _padded(self, caches: Sequence[Array], most: int) -> Array:
        return np.concatenate(
            [
                np.pad(cache, ((0, 0), (0, 0), (most - cache.shape[2], 0), (0, 0)), constant_values=0.5)
                for cache in caches
            ]
        )

    def _remember(self, sequence: Generation) -> None:
        self._left_behind = sequence.cache[1][:, :, -1].copy()
        if self._prefixes:
            self._known[tuple(sequence.prompt)] = sequence.cache
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
