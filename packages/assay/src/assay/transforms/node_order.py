"""Nodes of a graph in the order that ONNX demands: each after those whose outputs it, or a branch inside of it, reads."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


def sort_file(path: Path) -> None:
    """Write the file again where its nodes are out of order; weights beside it stay where they are. Quantizers of ONNX Runtime
    (1.31.1) append nodes after those that read them, and its loader takes that."""
    import onnx

    proto = onnx.load(path, load_external_data=False)
    if sort_nodes(proto.graph):
        onnx.save(proto, path)


def sort_nodes(graph: GraphProto) -> bool:
    """Sort in place, branches and loop bodies included, and keep the order of the file wherever it may stay. Whether anything moved.

    A graph with a cycle has no order, and is left as it is.
    """
    moved = [sort_nodes(body) for node in graph.node for body in _bodies(node)]
    order = _order(graph)
    if order is None or order == sorted(order):
        return any(moved)
    nodes = [graph.node[number] for number in order]
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    return True


def _order(graph: GraphProto) -> list[int] | None:
    producer = {name: number for number, node in enumerate(graph.node) for name in node.output if name}
    before = [
        {producer[name] for name in _reads(node) if name in producer and producer[name] != number}
        for number, node in enumerate(graph.node)
    ]
    after: list[list[int]] = [[] for _ in before]
    for number, producers in enumerate(before):
        for source in producers:
            after[source].append(number)
    waits = [len(producers) for producers in before]
    ready = [number for number, count in enumerate(waits) if not count]
    order: list[int] = []
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        for later in after[number]:
            waits[later] -= 1
            if not waits[later]:
                heapq.heappush(ready, later)
    return order if len(order) == len(waits) else None


def _reads(node: NodeProto) -> Iterator[str]:
    """Names that a node reads, and those that its bodies read and do not make themselves."""
    yield from filter(None, node.input)
    for body in _bodies(node):
        own = {value.name for value in (*body.input, *body.initializer)}
        own |= {name for inner in body.node for name in inner.output}
        own |= {tensor.values.name for tensor in body.sparse_initializer}
        read = [name for inner in body.node for name in _reads(inner)] + [value.name for value in body.output]
        yield from (name for name in read if name not in own)


def _bodies(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs
