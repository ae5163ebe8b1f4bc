"""Every prompt fed in several ways, and which answers must agree because the tokens before them are the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from assay.core.schedules import NAMES, PADDED
from assay.models.own_data.prompts.beginnings import Beginnings
from assay.models.own_data.prompts.signature import Signature
from assay.ports import Tensor

STEPS = 8
"""Tokens that are fed one by one."""
PIECES = 3
MATES = 3
"""Prompts in a batch."""

Values = dict[str, Tensor]
Prompts = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Feeding:
    """Calls that follow one another on one cache. `tokens` are, call by call, the rows of the new tokens; PADDED where none is."""

    schedule: str
    tokens: list[Tensor]


@dataclass
class Scheduled:
    """`calls` are the sequences; `labels` have an entry for each call: the number of its schedule, and for each place of its answer
    (batch, position) the number of the tokens up to it (`prefix`, those of `Beginnings` of the prompts) and the token that follows
    (`next_token`), PADDED where there is none."""

    calls: list[list[Values]] = field(default_factory=list)
    labels: Values = field(default_factory=dict)


def scheduled(prompts: Prompts, signature: Signature) -> Scheduled:
    """The calls for these prompts, in every schedule that the model can take."""
    beginnings = Beginnings()
    following: dict[int, int] = {}
    for ids in prompts:
        following |= zip(beginnings.of(ids), ids[1:], strict=False)
    schedules = Scheduled()
    rows: list[tuple[int, Tensor, Tensor]] = []
    for sequence in _sequences(prompts, signature):
        calls, before = [], np.empty((len(sequence.tokens[0]), 0), np.int64)
        ends = [PADDED] * len(before)
        for number, tokens in enumerate(sequence.tokens):
            before = np.concatenate([before, tokens], axis=1)
            mask = (before != PADDED).astype(np.int64)
            calls.append(signature.call(np.maximum(tokens, 0), mask, first=number == 0))
            prefix = [beginnings.of(row, end) for row, end in zip(tokens.tolist(), ends, strict=True)]
            ends = [
                next((token for token in reversed(row) if token != PADDED), end)
                for row, end in zip(prefix, ends, strict=True)
            ]
            follows = np.array([[following.get(token, PADDED) for token in row] for row in prefix])
            rows.append((NAMES.index(sequence.schedule), np.array(prefix), follows))
        schedules.calls.append(calls)
    shape = tuple(max(prefix.shape[axis] for _, prefix, _ in rows) for axis in (0, 1))
    schedules.labels = {
        "schedule": np.array([schedule for schedule, _, _ in rows]),
        "prefix": np.stack([_padded(prefix, shape) for _, prefix, _ in rows]),
        "next_token": np.stack([_padded(follows, shape) for _, _, follows in rows]),
    }
    return schedules


def _sequences(prompts: Prompts, signature: Signature) -> Iterator[Feeding]:
    alone = [np.array([ids], np.int64) for ids in prompts]
    yield from (Feeding("whole", [ids]) for ids in alone)
    yield from (Feeding("prefix", [ids[:, : ids.shape[1] // 2]]) for ids in alone[:MATES] if ids.shape[1] > 3)
    if signature.state:
        yield from (Feeding("steps", _steps(ids)) for ids in alone[:MATES])
        yield from (
            Feeding("chunks", np.array_split(ids, PIECES, axis=1)) for ids in alone[:MATES] if ids.shape[1] > PIECES
        )
    if not signature.batched:
        return
    longest = max(len(ids) for ids in prompts)
    mates = [prompts[at % len(prompts)] for at in range(MATES)]
    mates[0] = mates[0] if len(prompts) > 1 else mates[0][: len(mates[0]) // 2]
    common = min(len(ids) for ids in mates)
    for turn in range(MATES):  # each of them at each place
        rows = np.array([ids[:common] for ids in (*mates[turn:], *mates[:turn])], np.int64)
        yield Feeding("batch", _steps(rows, 2) if signature.state else [rows])
    if signature.masked and common < longest:
        rows = np.array([*zip_longest(*(reversed(ids) for ids in mates), fillvalue=PADDED)][::-1], np.int64).T
        yield Feeding("padding", _steps(rows, 2) if signature.state else [rows])
        # Read alone: who goes on behind padding has a gap in the cache, which few engines promise to know of.
        yield Feeding("right-padding", [np.array([*zip_longest(*mates, fillvalue=PADDED)], np.int64).T])


def _steps(ids: Tensor, steps: int = STEPS) -> list[Tensor]:
    """All but the last in one call, then those one by one."""
    alone = min(steps, ids.shape[1] - 1)
    return np.split(ids, np.arange(ids.shape[1] - alone, ids.shape[1]), axis=1)


def _padded(array: Tensor, shape: tuple[int, ...]) -> Tensor:
    filled = np.full(shape, PADDED, np.int64)
    filled[: array.shape[0], : array.shape[1]] = array
    return filled
