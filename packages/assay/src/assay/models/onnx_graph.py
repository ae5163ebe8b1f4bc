"""Whether the values of a graph are defined once, and before they are used. The texts name the node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


def graph_problems(graph: GraphProto, outer: frozenset[str] = frozenset()) -> Iterator[str]:
    """What is wrong with names and order, subgraphs included, as the predicate of a sentence about the model.

    `outer` are the names a subgraph sees from around it.
    """
    yield from _duplicates(graph)
    producers = {name: index for index, node in enumerate(graph.node) for name in node.output if name}
    known = set(outer) | _given(graph)
    for index, node in enumerate(graph.node):
        for name in sorted(_needs(node) - known):
            if name not in producers:
                yield (
                    f"uses a value that nobody defines: {name!r} in {_call(node, index)}; "
                    "make it an input, an initializer or the output of a node"
                )
            else:
                yield _order_problem(graph, index, name, producers)
                return
        for subgraph in _subgraphs(node):
            yield from graph_problems(subgraph, frozenset(known))
        known.update(name for name in node.output if name)
    for value in graph.output:
        if value.name not in known:
            yield f"has an output that nobody computes: {value.name!r}; remove it or add the node that computes it"


def _order_problem(graph: GraphProto, index: int, name: str, producers: dict[str, int]) -> str:
    loop = _cycle(graph, producers)
    if loop:
        path = " -> ".join(_call(graph.node[step], step) for step in (*loop, loop[0]))
        return f"has a cyclic graph: {path}; cut the loop and export the model again"
    late = producers[name]
    return (
        f"has an unsorted graph: {_call(graph.node[index], index)} comes before {_call(graph.node[late], late)}, "
        f"which computes its input {name!r}; sort the nodes topologically"
    )


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


def _duplicates(graph: GraphProto) -> Iterator[str]:
    def twice(names: Iterable[str]) -> list[str]:
        return sorted(name for name, count in Counter(names).items() if count > 1 and name)

    lists = {
        "input": [value.name for value in graph.input],
        "output": [value.name for value in graph.output],
        "initializer": [*(t.name for t in graph.initializer), *(s.values.name for s in graph.sparse_initializer)],
    }
    for kind, names in lists.items():
        for name in twice(names):
            yield f"has two {kind}s called {name!r}; give each its own name"
    given, first = _given(graph), dict[str, str]()
    for index, node in enumerate(graph.node):
        for name in filter(None, node.output):
            if name in given or name in first:
                other = first.get(name, "an input or initializer")
                yield (
                    f"defines the value {name!r} twice: by {other} and by {_call(node, index)}; "
                    "give each value its own name"
                )
            first.setdefault(name, _call(node, index))


def _given(graph: GraphProto) -> set[str]:
    return (
        {value.name for value in graph.input}
        | {tensor.name for tensor in graph.initializer}
        | {sparse.values.name for sparse in graph.sparse_initializer}
    )


def _needs(node: NodeProto) -> set[str]:
    """Names the node reads: its inputs, and what its subgraphs take from around them."""
    names = set(filter(None, node.input))
    for graph in _subgraphs(node):
        inside = _given(graph) | {name for inner in graph.node for name in inner.output}
        free = {name for inner in graph.node for name in _needs(inner)} | {value.name for value in graph.output}
        names |= free - inside
    return names


def _subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _call(node: NodeProto, index: int) -> str:
    return f"node {node.name!r} ({node.op_type})" if node.name else f"node number {index} ({node.op_type})"
