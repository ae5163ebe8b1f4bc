"""Which nodes are left: delta debugging over graphs whose failing sets are known."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from assay.core.region import GraphNode, RegionGraph
from assay.triage.graph import Graph, Places
from assay.triage.reduce import MOST_SETS, earliest, fewest_outputs, minimize, shortest_prefix


def chain(length: int, operators: dict[int, str] | None = None) -> Graph:
    """v0 -> v1 -> ... ; node N writes vN and reads the value before."""
    if operators is None:
        operators = {}
    nodes = tuple(
        GraphNode(f"n{place}", operators.get(place, "Relu"), (f"v{place - 1}" if place else "x",), (f"v{place}",))
        for place in range(length)
    )
    known = ("x", *(f"v{place}" for place in range(length)))
    return Graph(RegionGraph(nodes, ("x",), (f"v{length - 1}",), known))


def finished(route: Coroutine[Any, Any, Any]) -> Any:
    """What a route returns that waits for nothing."""
    with pytest.raises(StopIteration) as stop:
        route.send(None)
    return stop.value.value


@pytest.mark.parametrize("needed", [{5}, {4, 5}, {3, 4, 5, 6}])
def test_what_is_left_is_what_fails(needed: set[int]) -> None:
    graph = chain(40)
    asked = []

    async def fails(places: Places) -> bool:
        asked.append(places)
        return needed <= places

    output = f"v{max(needed)}"
    left = finished(minimize(graph, (output,), graph.before(output), fails, lambda places: None))
    assert left == needed
    assert len(set(asked)) == len(asked) or len(asked) < 40


def test_the_shortest_beginning_ends_at_the_fault() -> None:
    graph = chain(64)

    async def fails_at(value: str, places: Places) -> bool:
        assert value
        assert places
        return {20, 21} <= places

    output, places = finished(shortest_prefix(graph, "v63", graph.before("v63"), fails_at))
    assert output == "v21"
    assert places == frozenset(range(22))


def test_what_comes_from_a_grid_brings_what_put_it_there() -> None:
    graph = chain(6, {2: "QuantizeLinear", 3: "DequantizeLinear", 4: "MatMul"})
    assert graph.closed({4}) == {2, 3, 4}
    assert graph.closed({5}) == {5}


def test_constants_are_never_cut_off_and_do_not_count() -> None:
    nodes = (
        GraphNode("c", "Constant", (), ("k",)),
        GraphNode("m", "Mul", ("x", "k"), ("y",)),
    )
    graph = Graph(RegionGraph(nodes, ("x",), ("y",), ("x", "k", "y")))
    assert graph.closed({1}) == {0, 1}
    assert graph.size({0, 1}) == 1
    assert graph.labels({0, 1}) == ["m (Mul)"]


def test_what_only_hands_the_error_on_is_left_out() -> None:
    graph = chain(12)

    async def fails_at(value: str, places: Places) -> bool:
        return bool(value) and {3, 4} <= places

    output, places = finished(earliest(graph, "v11", frozenset(range(3, 12)), fails_at))
    assert (output, places) == ("v4", {3, 4})
    assert finished(earliest(graph, "v4", frozenset({3, 4}), fails_at)) == ("v4", {3, 4})


@pytest.mark.parametrize("needed", [(3,), (0, 1), (0, 39), (17, 31)])
def test_outputs_that_a_failure_needs_together_are_found_in_few_tries(needed: tuple[int, ...]) -> None:
    asked: list[tuple[str, ...]] = []
    due = tuple(f"y{place}" for place in needed)

    async def fails(outputs: tuple[str, ...]) -> bool:
        asked.append(outputs)
        return {*due} <= {*outputs}

    kept = finished(fewest_outputs([f"y{place}" for place in range(40)], fails))
    assert {*due} <= {*kept}
    assert len(kept) <= 2 * len(due)
    assert len(asked) <= MOST_SETS
