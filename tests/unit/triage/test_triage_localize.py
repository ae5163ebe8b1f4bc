"""Windows of the graph: what lies beside one another, in its order or around what joins."""

from __future__ import annotations

from assay.core.region import GraphNode, RegionGraph
from assay.triage.graph import Graph
from assay.triage.localize import gathered, windows_of

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
    assert not any(ends <= one for each in chained for one in each)
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
