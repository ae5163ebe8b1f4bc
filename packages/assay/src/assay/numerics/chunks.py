"""All samples of one output as one stream of flat pairs, without concatenating them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from assay.ports import Tensor

CHUNK = 1 << 17
"""Elements worked on at once: with its buffers it stays in the second-level cache."""

BLOCK = 1 << 22
"""Elements of one piece of work. Fixed, so that sums do not depend on the number of threads."""

MOST_THREADS = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Piece:
    """Elements `start`, `start + 1` ... of the stream: flat views (or a small copy) of both sides."""

    start: int
    actual: Tensor
    expected: Tensor


def blocks(actual: Sequence[Tensor], expected: Sequence[Tensor]) -> Iterator[list[Piece]]:
    """Groups of at most BLOCK elements, in the order of the stream. Shapes agree pairwise."""
    block: list[Piece] = []
    room, start = BLOCK, 0
    for left, right in zip(actual, expected, strict=True):
        flat_left, flat_right = left.reshape(-1), right.reshape(-1)
        done = 0
        while done < flat_left.size:
            take = min(room, flat_left.size - done)
            piece = Piece(start, flat_left[done : done + take], flat_right[done : done + take])
            block.append(piece)
            done, start, room = done + take, start + take, room - take
            if room == 0:
                yield block
                block, room = [], BLOCK
    if block:
        yield block


def chunks(block: Sequence[Piece]) -> Iterator[Piece]:
    """The block in pieces of at most CHUNK elements; neighbours that are small are joined into one."""
    small: list[Piece] = []
    size = 0
    for piece in block:
        if small and size + piece.actual.size > CHUNK:
            yield _joined(small)
            small, size = [], 0
        if piece.actual.size <= CHUNK // 2:
            small.append(piece)
            size += piece.actual.size
            continue
        if small:
            yield _joined(small)
            small, size = [], 0
        for at in range(0, piece.actual.size, CHUNK):
            end = at + CHUNK
            yield Piece(piece.start + at, piece.actual[at:end], piece.expected[at:end])
    if small:
        yield _joined(small)


def _joined(pieces: Sequence[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    return Piece(
        pieces[0].start,
        np.concatenate([piece.actual for piece in pieces]),
        np.concatenate([piece.expected for piece in pieces]),
    )


def over_blocks(
    work: Callable[[list[Piece]], T], actual: Sequence[Tensor], expected: Sequence[Tensor], threads: int = 0
) -> list[T]:
    """`work` on every block, results in order. `threads` 0: one per core this process may use, at most MOST_THREADS."""
    parts = list(blocks(actual, expected))
    count = threads or min(MOST_THREADS, _cores())
    if count == 1 or len(parts) < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, parts))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def locate(position: int, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The index of a position of the stream: the sample first, then the index inside its tensor."""
    for sample, shape in enumerate(shapes):
        size = int(np.prod(shape, dtype=np.int64))
        if position < size:
            return (sample, *(int(axis) for axis in np.unravel_index(position, shape)))
        position -= size
    raise IndexError(position)
