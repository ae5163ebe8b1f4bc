"""Windows of the graph: what lies beside one another, in its order or around what joins."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest
from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.job import RegionJob, other_kind
from assay.core.region import GraphNode, RegionError, RegionGraph
from assay.core.result import RegionResult
from assay.testing.builders import make_job
from assay.triage.graph import Graph
from assay.triage.localize import FEW, gathered, shows_beside_others, windows_of
from assay.triage.prober import Prober

LONG = 20
"""Nodes of the longer branch."""


def branched() -> Graph:
    """A Split, one half of which goes through a long chain, and the Concat of both; a dequantized weight beside it."""
    nodes = [GraphNode("split", "Split", ("x",), ("a", "b0"))]
    nodes += [GraphNode(f"c{at}", "Relu", (f"b{at}",), (f"b{at + 1}",)) for at in range(LONG)]
    nodes += [GraphNode("join", "Concat", (f"b{LONG}", "a"), ("j",))]
    nodes += [GraphNode("weight", "DequantizeLinear", ("w",), ("d",)), GraphNode("conv", "Conv", ("j", "d"), ("y",))]
    written = [name for node in nodes for name in node.writes]
    return Graph(RegionGraph(tuple(nodes), ("x",), ("y",), ("x", *written)))


def test_what_a_long_branch_keeps_apart_is_gathered_around_what_joins_it() -> None:
    graph = branched()
    ends = {0, LONG + 1, LONG + 3}
    chained = [windows_of(graph, graph.order, 8, start) for start in (0, 4)]
    assert not any(ends <= places for each in chained for places in each)
    (around,) = gathered(graph, graph.order, 8)
    assert ends <= around
    assert LONG + 2 in around, "the weight of what it has"
    assert len(around) <= 10


def test_a_weight_between_grids_joins_nothing() -> None:
    nodes = (GraphNode("weight", "DequantizeLinear", ("w",), ("d",)), GraphNode("conv", "Conv", ("x", "d"), ("y",)))
    assert gathered(Graph(RegionGraph(nodes, ("x",), ("y",), ("x", "d", "y"))), [0, 1], 8) == []


def test_the_ends_of_a_window_are_what_nothing_in_it_reads() -> None:
    graph = branched()
    assert graph.ends({0, 1, LONG + 1}) == ["j", "b1"]


class Jobs:
    """The first part of each question is that wrong."""

    def __init__(self, error: float) -> None:
        self.error, self.asked = error, list[RegionJob]()

    async def run(self, job: RegionJob) -> RegionResult:
        self.asked.append(job)
        errors = (RegionError(0, "y", "", None, self.error), RegionError(1, "c0", "", None, 0.0))
        return replace(empty_result(job), errors=errors)


@pytest.mark.parametrize(("beside", "shows"), [(0.5, True), (1e-7, False)])
def test_a_fault_that_is_gone_beside_another_part_is_not_looked_for_in_windows(beside: float, shows: bool) -> None:
    nodes = tuple(GraphNode(f"c{at}", "Relu", (f"b{at}",), (f"b{at + 1}",)) for at in range(FEW + 1))
    graph = Graph(RegionGraph(nodes, ("b0",), (f"b{FEW + 1}",), tuple(f"b{at}" for at in range(FEW + 2))))
    jobs = Jobs(beside)
    job = other_kind(make_job(), RegionJob, values_dir="", windows=())
    prober = Prober(cast("Any", type("Services", (), {"jobs": jobs})()), job, time.monotonic() + 60)
    everything = frozenset(range(FEW + 1))
    assert asyncio.run(shows_beside_others(graph, prober, everything, 0.5)) is shows
    assert [len(window) for window in jobs.asked[0].windows] == [FEW + 1, 1]
