"""The graph of the model under triage, as sets of places of its nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

from assay.core.region import RegionGraph

Places = frozenset[int]
_CONSTANT = "Constant"
_FROM_GRID, _TO_GRID = "DequantizeLinear", "QuantizeLinear"


class Graph:
    """What can be asked of the graph without a backend."""

    def __init__(self, graph: RegionGraph) -> None:
        self.nodes, self.outputs, self.known = graph.nodes, graph.outputs, frozenset(graph.known)
        self.opset = graph.opset
        self.producer = {name: place for place, node in enumerate(graph.nodes) for name in node.writes}

    @cached_property
    def readers(self) -> dict[str, list[int]]:
        """The places of the nodes that read a value."""
        readers_by_name: dict[str, list[int]] = {}
        for place, node in enumerate(self.nodes):
            for name in node.reads:
                readers_by_name.setdefault(name, []).append(place)
        return readers_by_name

    @cached_property
    def order(self) -> list[int]:
        """Places by depth-first search from the outputs, constants apart: a pattern whose nodes lie far apart in the file is
        together here."""
        seen: dict[int, None] = {}
        for output in self.outputs:
            stack = [(self.producer[output], False)] if output in self.producer else []
            while stack:
                place, entered = stack.pop()
                if place in seen:
                    continue
                if entered:
                    seen[place] = None
                    continue
                stack.append((place, True))
                before = [self.producer[name] for name in self.nodes[place].reads if name in self.producer]
                stack += [(producer, False) for producer in reversed(before) if producer not in seen]
        return [place for place in seen if self.nodes[place].operator != _CONSTANT]

    def closed(self, places: Iterable[int]) -> Places:
        """With what must not be cut off: constants, and what comes from a grid with what put it there (a kernel of quantized
        numbers is made of these)."""
        closure = set(places)
        todo = list(closure)
        while todo:
            for name in self.nodes[todo.pop()].reads:
                before = self.producer.get(name)
                if before is None or before in closure:
                    continue
                glued = self.nodes[before].operator in (_CONSTANT, _FROM_GRID)
                grid = self.nodes[before].operator == _TO_GRID and any(
                    self.nodes[reader].operator == _FROM_GRID and reader in closure for reader in self.readers[name]
                )
                if glued or grid or name not in self.known:
                    closure.add(before)
                    todo.append(before)
        return frozenset(closure)

    def before(self, output: str, within: Collection[int] | None = None) -> Places:
        """The nodes (of `within`) that the value is computed by, constants apart from none."""
        nodes: set[int] = set()
        todo = [self.producer[output]] if output in self.producer else []
        while todo:
            place = todo.pop()
            if place in nodes or (within is not None and place not in within):
                continue
            nodes.add(place)
            todo += [self.producer[name] for name in self.nodes[place].reads if name in self.producer]
        return frozenset(nodes)

    def before_all(self, outputs: Iterable[str], within: Collection[int] | None = None) -> Places:
        """Those before several values; none where one of these is not computed within."""
        parts = [self.before(output, within) for output in outputs]
        return frozenset().union(*parts) if all(parts) else frozenset()

    def ends(self, places: Collection[int]) -> list[str]:
        """Values that nothing within reads, the last first."""
        read = {name for place in places for name in self.nodes[place].reads}
        made = [name for place in sorted(places, reverse=True) for name in self.nodes[place].writes]
        return [name for name in made if name not in read and name in self.known]

    def size(self, places: Iterable[int]) -> int:
        """Nodes, constants apart."""
        return sum(self.nodes[place].operator != _CONSTANT for place in places)

    def labels(self, places: Iterable[int]) -> list[str]:
        """In the order of the graph, constants apart."""
        return [self.nodes[place].label for place in sorted(places) if self.nodes[place].operator != _CONSTANT]

    def operators(self, places: Iterable[int]) -> list[str]:
        """In the order of the graph, constants apart."""
        return [self.nodes[place].operator for place in sorted(places) if self.nodes[place].operator != _CONSTANT]
