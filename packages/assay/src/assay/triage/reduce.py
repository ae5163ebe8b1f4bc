"""The smallest set of nodes that fails in the same way: delta debugging (Zeller, Hildebrandt, IEEE TSE 28(2), 2002) over the nodes
that one output is computed by. A node that is taken away leaves its value behind as an input: no output is ever added."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise

from assay.triage.graph import Graph, Places

FailsAt = Callable[[str, Places], Awaitable[bool]]
Fails = Callable[[Places], Awaitable[bool]]


async def shortest_prefix(graph: Graph, output: str, places: Places, fails_at: FailsAt) -> tuple[str, Places]:
    """The earliest value found by bisection that is wrong already, and the nodes before it. Nothing makes that monotone: what it returns
    fails, and may not be the earliest."""
    chain = [place for place in graph.order if place in places]
    low, high = 0, len(chain) - 1
    best = output, places
    while low < high:
        middle = (low + high) // 2
        value = next((name for name in graph.nodes[chain[middle]].writes if name in graph.known), "")
        before = graph.before(value, places) if value else frozenset()
        if value and await fails_at(value, before):
            best, high = (value, before), middle
        else:
            low = middle + 1
    return best


async def earliest(graph: Graph, output: str, places: Places, fails_at: FailsAt) -> tuple[str, Places]:
    """The first value of a small set that is wrong already, asked one by one: what is behind it only hands the error on."""
    for place in (candidate for candidate in graph.order if candidate in places):
        for value in (name for name in graph.nodes[place].writes if name in graph.known):
            before = graph.before(value, places)
            if graph.size(before) < graph.size(places) and await fails_at(value, before):
                return value, before
    return output, places


async def minimize(
    graph: Graph, outputs: Sequence[str], places: Places, fails: Fails, keep: Callable[[Places], None]
) -> Places:
    """A subset of `places` that fails, and none of whose nodes can be left out. `keep` is told of each smaller one."""
    best = places
    parts = 2
    while graph.size(best) > 1:
        nodes = [place for place in graph.order if place in best]
        parts = min(parts, len(nodes))
        smaller = await _smaller(graph, outputs, best, _split(nodes, parts), fails)
        if smaller is not None:
            best, parts = smaller, max(parts - 1, 2)
            keep(best)
        elif parts >= len(nodes):
            break
        else:
            parts = min(2 * parts, len(nodes))
    return best


async def _smaller(
    graph: Graph, outputs: Sequence[str], best: Places, pieces: list[list[int]], fails: Fails
) -> Places | None:
    tried: set[Places] = {best}
    for rest in (
        *([*piece] for piece in pieces),
        *([number for number in best if number not in piece] for piece in pieces),
    ):
        places = graph.before_all(outputs, graph.closed(rest))
        if not places or places in tried or graph.size(places) >= graph.size(best):
            continue
        tried.add(places)
        if await fails(places):
            return places
    return None


def _split(nodes: list[int], parts: int) -> list[list[int]]:
    size, more = divmod(len(nodes), parts)
    ends = [number * size + min(number, more) for number in range(parts + 1)]
    return [nodes[start:end] for start, end in pairwise(ends)]


MOST_SETS = 24
"""Sets of outputs that are tried: each may end a process."""


async def fewest_outputs(
    outputs: Sequence[str], fails: Callable[[tuple[str, ...]], Awaitable[bool]]
) -> tuple[str, ...]:
    """Of outputs with which a model fails, those of which none can be left out, as far as so many tries go: a half of them goes, then a
    quarter, and at last each alone."""
    best, tries = tuple(outputs), 0
    size = len(best) // 2
    while size and tries < MOST_SETS:
        for start in range(0, len(best), size):
            rest = (*best[:start], *best[start + size :])
            if not rest or tries >= MOST_SETS:
                continue
            tries += 1
            if await fails(rest):
                best, size = rest, min(2 * size, len(rest))
                break
        size //= 2
    return best
