"""Whether the values of a graph are defined once, and before they are used. What is told names the node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assay.core.model_part import ModelPart
from assay.models.examination.quoting import shown
from assay.models.examination.walk import given_in, node_part, subgraphs

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

Problem = tuple[str, tuple[int | str | ModelPart, ...]]
"""A code, and the values of its sentence."""
_LONGEST = 8
"""Nodes of a cycle that are named."""


def order_problems(graph: GraphProto, outer: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """What is wrong with names and order, subgraphs included. `outer` are the names a subgraph sees from around it."""
    yield from _duplicates(graph)
    producers = {name: index for index, node in enumerate(graph.node) for name in node.output if name}
    known = set(outer) | given_in(graph)
    for index, node in enumerate(graph.node):
        for name in sorted(_needs(node) - known):
            if name not in producers:
                known.add(name)  # told once
                yield "undefined-value", (shown(name), node_part(node, index))
            else:
                yield _order_problem(graph, index, name, producers)
                return
        for subgraph in _subgraphs(node):
            yield from order_problems(subgraph, frozenset(known))
        known.update(name for name in node.output if name)
    for value in graph.output:
        if value.name not in known:
            yield "missing-output", (shown(value.name),)


def _order_problem(graph: GraphProto, index: int, name: str, producers: dict[str, int]) -> Problem:
    loop = _cycle(graph, producers)
    if loop:
        steps = [node_part(graph.node[step], step) for step in (*loop, loop[0])]
        return "cycle", tuple(steps) if len(steps) <= _LONGEST else (*steps[:_LONGEST], "...", steps[-1])
    late = producers[name]
    return "unsorted", (node_part(graph.node[index], index), node_part(graph.node[late], late), shown(name))


def _cycle(graph: GraphProto, producers: dict[str, int]) -> list[int]:
    """The nodes of one cycle in the order of the data, empty where there is none (depth-first, without recursion)."""
    feeds = [sorted({producers[name] for name in _needs(node) if name in producers}) for node in graph.node]
    done: set[int] = set()
    for start in range(len(feeds)):
        path: list[int] = []
        on_path: set[int] = set()
        stack: list[tuple[int, bool]] = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                path.pop()
                on_path.discard(node)
                done.add(node)
            elif node in on_path:
                loop = path[path.index(node) :][::-1]
                first = loop.index(min(loop))
                return loop[first:] + loop[:first]
            elif node not in done:
                path.append(node)
                on_path.add(node)
                stack.append((node, True))
                stack.extend((source, False) for source in feeds[node])
    return []


def _duplicates(graph: GraphProto) -> Iterator[Problem]:
    def twice(names: Iterable[str]) -> list[str]:
        return sorted(name for name, count in Counter(names).items() if count > 1 and name)

    lists = {
        "input": [value.name for value in graph.input],
        "output": [value.name for value in graph.output],
        "initializer": [*(t.name for t in graph.initializer), *(s.values.name for s in graph.sparse_initializer)],
    }
    for kind, names in lists.items():
        for name in twice(names):
            yield "duplicate-value", (kind, shown(name))
    places, first = given_in(graph), dict[str, ModelPart]()
    for index, node in enumerate(graph.node):
        for name in filter(None, node.output):
            part = node_part(node, index)
            if name in first:
                yield "defined-twice", (shown(name), first[name], part)
            elif name in places:
                yield "defined-over", (shown(name), part)
            first.setdefault(name, part)


def _needs(node: NodeProto) -> set[str]:
    """Names the node reads: its inputs, and what its subgraphs take from around them."""
    names = set(filter(None, node.input))
    for graph in _subgraphs(node):
        inside = given_in(graph) | {name for inner in graph.node for name in inner.output}
        free = {name for inner in graph.node for name in _needs(inner)} | {value.name for value in graph.output}
        names |= free - inside
    return names


def _subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    return (graph for _, graph in subgraphs(node))
