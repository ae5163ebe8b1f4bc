"""A small graph made smaller still: sizes first, then plain numbers in place of the recorded ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from assay.core.region import RegionEdit
from assay.core.result import RegionResult

Edits = tuple[RegionEdit, ...]
Tries = Callable[[Edits], Awaitable[RegionResult | None]]
"""The result with these edits, where the model still fails in the same way; None where it does not."""

FILLS = ("ones", "minus_ones", "counting", "whole", "decimal")
ROUNDS = 3
TENSORS = 24
"""At most so many are made plain: the rest is small once sizes are."""


async def shrink(result: RegionResult, tries: Tries, keep: Callable[[Edits], None]) -> Edits:
    """Edits after which the model of `result` fails as before. `keep` is told of each list that does."""
    edits: Edits = ()
    for _ in range(ROUNDS):
        before = edits
        for size in result.sizes:
            for to in _smaller(size):
                region_result = await tries((*edits, RegionEdit("size", size=size, to=to)))
                if region_result is not None:
                    edits, result = (*edits, RegionEdit("size", size=size, to=to)), region_result
                    keep(edits)
                    break
        if edits == before:
            break
    for name in result.tensors[:TENSORS]:
        for fill in FILLS:
            if await tries((*edits, RegionEdit("fill", name=name, fill=fill))) is not None:
                edits = (*edits, RegionEdit("fill", name=name, fill=fill))
                keep(edits)
                break
    return edits


def _smaller(size: int) -> Iterator[int]:
    yield from dict.fromkeys(smaller for smaller in (1, 2, 3, size // 4, size // 2, size - 1) if 0 < smaller < size)
