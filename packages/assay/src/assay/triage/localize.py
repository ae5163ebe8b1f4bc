"""Where: the narrowest window of the graph that is wrong when it is built alone, from values that float64 gives.

Windows of 1, 2, 4 ... nodes are unconnected parts of one model, so that one build judges them all, and a second one those that are
moved by half a window. No window has an output that the whole graph does not need: a tap keeps fusions from happening.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.core.outcome import Outcome
from assay.core.region import RegionError
from assay.triage.graph import Graph, Places
from assay.triage.prober import Prober
from assay.triage.symptom import WITHIN, Symptom

WIDTHS = (1, 2, 4, 8, 16, 32)


LEAST_GATHERED = 8
"""Nodes of a window around one that joins values: fewer lie beside one another in the order."""


@dataclass(frozen=True)
class Suspect:
    """A part that is wrong alone, and its output that is."""

    places: Places
    symptom: Symptom


SCREEN = 1e-3
"""What is off by less is looked at only where the verdict is about as little, or nothing else is wrong."""
SHARE = 1e-2
"""Of the end's error: a part that is off by less is not looked at."""
ROUNDING = 2.0**-22
"""Less is that of float32: looked at only where the verdict is about so little, too."""
FEW = 32
"""Nodes up to which windows cost less than asking whether they can show anything."""


async def suspects(graph: Graph, prober: Prober, end: float, avoid: Places = frozenset()) -> list[Suspect]:
    """Of the first width at which a window is wrong, gravest first; none where no window is. `end` is the error of the outputs.
    Windows that touch `avoid` are not asked. Afterwards the prober screens as was right for what was found."""
    least = min(SCREEN, SHARE * end)
    for screen in [max(least, ROUNDING), *([0.0] if least < ROUNDING else [])]:
        prober.screen(screen)
        suspected = await _by_width(graph, prober, avoid)
        if suspected:
            return suspected
    return []


async def shows_beside_others(graph: Graph, prober: Prober, everything: Places, end: float) -> bool:
    """Whether the model fails as well with a part beside it that has nothing to do with it: where it does not, no windows that are built
    together show anything."""
    if prober.tries > 1 or prober.unstable or graph.size(everything) <= FEW:
        return True
    result = await prober.ask([everything, graph.closed(graph.order[:1])], derive=False)
    alone = next((error.rel_l2 for error in result.errors if error.window == 0), None)
    return alone is None or alone >= end / WITHIN


async def _by_width(graph: Graph, prober: Prober, avoid: Places) -> list[Suspect]:
    order = [place for place in graph.order if place not in avoid]
    for width in WIDTHS:
        if width > len(order) and width > 1:
            break
        halves = [0] if width == 1 else [0, width // 2]
        windows = [windows_of(graph, order, width, start) for start in halves]
        windows += [gathered(graph, order, width)] if width >= LEAST_GATHERED else []
        routes = [wrong_windows(graph, prober, window) for window in windows]
        suspected = [suspect for each in await prober.services.jobs.all_of(routes) for suspect in each]
        if suspected:
            return sorted(suspected, key=lambda suspect: -(suspect.symptom.budget or suspect.symptom.size))
    return []


def windows_of(graph: Graph, order: Sequence[int], width: int, start: int) -> list[Places]:
    """So many nodes each in that order, the first behind `start` of them."""
    pieces = [order[at : at + width] for at in range(start, len(order), width)]
    if start:
        pieces.append(order[:start])
    return [graph.closed(piece) for piece in pieces if piece]


def gathered(graph: Graph, order: Sequence[int], width: int) -> list[Places]:
    """Around each node that joins values: the nearest that these are computed by, and the nearest that read it, half of the width each. In
    no order of the graph do branches of different lengths lie beside what joins them."""
    within = set(order)
    joins = [place for place in order if len(_computed(graph, place, within)) > 1]
    windows = {_around(graph, place, width, within): None for place in joins}
    return list(dict.fromkeys(graph.closed(window) for window in windows))


def _around(graph: Graph, place: int, width: int, within: set[int]) -> Places:
    behind = _nearest([place], lambda node_place: _computed(graph, node_place, within), width // 2)
    ahead = _nearest([place], lambda node_place: _reading(graph, node_place, within), width // 2)
    return frozenset(behind) | frozenset(ahead)


def _nearest(start: list[int], beside: Callable[[int], Sequence[int]], most: int) -> list[int]:
    nearest = dict.fromkeys(start)
    for place in (queue := list(start)):
        for neighbour in beside(place):
            if neighbour not in nearest and len(nearest) <= most:
                nearest[neighbour] = None
                queue.append(neighbour)
    return list(nearest)


def _reading(graph: Graph, place: int, within: set[int]) -> list[int]:
    return [reader for name in graph.nodes[place].writes for reader in graph.readers.get(name, ()) if reader in within]


def _computed(graph: Graph, place: int, within: set[int]) -> list[int]:
    """The nodes that what it reads is computed by, weights between grids apart."""
    before = [graph.producer[name] for name in graph.nodes[place].reads if name in graph.producer]
    return [
        producer
        for producer in dict.fromkeys(before)
        if producer in within and any(name in graph.known for name in graph.nodes[producer].reads)
    ]


async def wrong_windows(graph: Graph, prober: Prober, windows: Sequence[Places]) -> list[Suspect]:
    """Asked at once; in halves where the backend does not take them all."""
    if not windows:
        return []
    result = await prober.ask(windows)
    if result.outcome is not Outcome.OK and len(windows) > 1:
        middle = len(windows) // 2
        return [
            *await wrong_windows(graph, prober, windows[:middle]),
            *await wrong_windows(graph, prober, windows[middle:]),
        ]
    if result.outcome is not Outcome.OK:
        symptom = prober.symptom_of(result)
        return [Suspect(windows[0], symptom)] if symptom is not None else []
    return [_suspect(windows[error.window], error) for error in result.errors if error.kind]


def _suspect(places: Places, error: RegionError) -> Suspect:
    return Suspect(places, Symptom(error.kind, error.output, error.rel_l2, error.budget))
