"""The shapes of all tensors of a graph for given sizes of its inputs, and the first constraint that these sizes do not meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from assay.core.constraint import Constraint
from assay.models.input_plan.graph import Graph
from assay.numerics.operators.index import by_name, onnx_operators
from assay.numerics.shapes.constraints import Conflict, ShapeRule
from assay.numerics.shapes.values import UNKNOWN, Node, Value

EMPTY = "output"
"""In place of an operator: an output of the graph would be empty."""


@cache
def _rules() -> dict[str, ShapeRule]:
    """By the name alone; the records are loaded with the first graph."""
    return by_name(lambda record: record.shape)


def rule_of(node: Node) -> ShapeRule | None:
    """That of its domain first, then that of the name alone. None: nothing is known of it."""
    own = onnx_operators().get((node.domain, node.op))
    return own.shape if own is not None and own.shape is not None else _rules().get(node.op)


@dataclass(frozen=True)
class Unmet:
    """A constraint that sizes do not meet, and (is, should be) pairs. `progress` counts the operators before it."""

    constraint: Constraint
    pairs: tuple[tuple[int, int], ...]
    progress: int


@dataclass
class Evaluation:
    """One walk over the graph. `values` are those of the outer graph, `inner` those of each subgraph that was entered;
    `narrow` counts windows that are larger than what they slide over, padding apart, or that end before all that a Pad added, which
    `unread` more elements would make them read; `untaken` branches that these sizes cannot enter, where nobody knows which is taken."""

    values: dict[str, Value] = field(default_factory=dict)
    inner: dict[int, dict[str, Value]] = field(default_factory=dict)
    unmet: Unmet | None = None
    narrow: int = 0
    unread: int = 0
    untaken: int = 0
    opset: int = 0
    progress: int = 0
    stack: list[dict[str, Value]] = field(default_factory=list)

    def walk(self, graph: Graph, scope: dict[str, Value]) -> list[Value]:
        """The outputs of a graph in which `scope` is known, which is extended. Raises Conflict."""
        scope.update(graph.constants)
        self.stack.append(scope)
        for node in graph.nodes:
            self.step(node, scope)
        self.stack.pop()
        return [scope.get(name, UNKNOWN) for name in graph.outputs]

    def enter(self, graph: Graph, inputs: Sequence[Value] = ()) -> list[Value]:
        """A subgraph, which sees the values of the graphs around it. Raises Conflict."""
        inner = dict(self.stack[-1])
        inner.update(zip(graph.inputs, inputs, strict=False))
        self.inner[id(graph)] = inner
        return self.walk(graph, inner)

    def step(self, node: Node, scope: dict[str, Value]) -> None:
        """One operator. Raises Conflict, which names it."""
        inputs = [scope.get(name, UNKNOWN) if name else UNKNOWN for name in node.inputs]
        rule = rule_of(node)
        outputs: Sequence[Value]
        self.progress += 1
        try:
            outputs = rule(node, inputs, self) if rule is not None else ()
        except Conflict as conflict:
            if self.unmet is None:
                broken = Constraint(conflict.code, conflict.facts, operator=node.op, node=node.label)
                self.unmet = Unmet(broken, conflict.pairs, self.progress)
            raise
        except (IndexError, TypeError, ValueError, KeyError, OverflowError, ZeroDivisionError, MemoryError):
            # Whatever an operator is given that its rule does not expect is the evaluator's to judge.
            outputs = ()
        for place, name in enumerate(node.outputs):
            if name:
                scope[name] = _padded(inputs, outputs[place]) if place < len(outputs) else UNKNOWN


def _padded(inputs: Sequence[Value], output: Value) -> Value:
    """As what it is made of, as long as the last axis keeps its length."""
    source = inputs[0] if inputs else UNKNOWN
    if (
        output.padded
        or not source.padded
        or not output.shape
        or not source.shape
        or output.shape[-1] != source.shape[-1]
    ):
        return output
    return Value(output.shape, output.data, source.padded)
