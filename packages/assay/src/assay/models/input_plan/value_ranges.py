"""What each input of a graph must hold, carried backwards from the operators that would refuse other values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

from assay.models.input_plan.graph import Graph, subgraphs
from assay.models.input_plan.shape_engine import Evaluation
from assay.numerics.operators.index import record_of
from assay.numerics.shapes.needed_values import DIVISOR, Demands, Need
from assay.numerics.shapes.values import UNKNOWN, Node, Value

Needs = dict[str, Need]


def demanded(node: Node, inputs: Sequence[Value]) -> Demands:
    """What an operator asks of the values that it is given, whatever becomes of its outputs."""
    ranges = record_of(node.op).ranges
    if ranges is not None:
        yield from ((place, _named(need, node)) for place, need in ranges(node, inputs))


def _named(need: Need, node: Node) -> Need:
    return replace(need, operator=node.op, node=node.label)


def carried(node: Node, inputs: Sequence[Value], outputs: Sequence[Need | None]) -> Demands:
    """What an input of an operator must hold, so that its output holds what is asked of it."""
    output_range = next((output for output in outputs if output is not None), None)
    known = record_of(node.op)
    if output_range is None or known.carries is None or (output_range.kind == DIVISOR and not known.passes_divisor):
        return
    if (output_range.low, output_range.high) != (-inf, inf) or output_range.texts:
        yield from known.carries(node, inputs, output_range)


def value_ranges(graph: Graph, walked: Evaluation) -> Needs:
    """By name of the input. Shapes are those of `walked`, in which the axes that indices run over have their sizes."""
    needs: Needs = {}
    _backwards(graph, walked.values, needs, walked)
    return {name: needs[name] for name in graph.inputs if name in needs}


def _backwards(graph: Graph, values: dict[str, Value], needs: Needs, walked: Evaluation) -> None:
    for node in reversed(graph.nodes):
        inputs = [values.get(name, UNKNOWN) if name else UNKNOWN for name in node.inputs]
        outputs = [needs.get(name) for name in node.outputs]
        demands = [*demanded(node, inputs), *carried(node, inputs, outputs)]
        for place, need in demands:
            if place < len(node.inputs) and node.inputs[place]:
                _add(needs, node.inputs[place], need)
        for branch in subgraphs(node):
            for name, need in _within(node, branch, outputs, walked):
                _add(needs, name, need)


def _within(node: Node, body: Graph, outputs: list[Need | None], walked: Evaluation) -> Iterator[tuple[str, Need]]:
    """What a body that is run asks of the values around it."""
    values = walked.inner.get(id(body))
    if values is None:
        return
    # If gives all outputs of a branch; a loop's condition comes before what it gives, a scan has none.
    skipped = 1 if node.op == "Loop" else 0
    inner: Needs = {}
    for name, need in zip(body.outputs[skipped:], outputs, strict=False):
        if need is not None:
            _add(inner, name, need)
    _backwards(body, values, inner, walked)
    # A loop's body takes the iteration and the condition, the node the trip count and the condition.
    outer = dict(zip(body.inputs, node.inputs, strict=False)) if node.op in ("Loop", "Scan") else {}
    own = {name for inside in body.nodes for name in inside.outputs} | set(body.constants)
    for name, need in inner.items():
        if name in own or (node.op == "Loop" and name in body.inputs[:2]):
            continue
        if outer.get(name, name):
            yield outer.get(name, name), need


def _add(needs: Needs, name: str, need: Need) -> None:
    needs[name] = needs[name].meet(need) if name in needs else need


def compared_constants(graph: Graph) -> dict[str, tuple[float, ...]]:
    """The numbers that a scalar input is compared with, by Equal, in the order of the graph: both branches are wanted."""
    numbers_by_input: dict[str, list[float]] = {}
    _compared(graph, {name: name for name in graph.inputs}, dict(graph.constants), numbers_by_input)
    return {name: tuple(dict.fromkeys(numbers)) for name, numbers in numbers_by_input.items()}


_ALIASES = ("Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Gather")


def _compared(
    graph: Graph, aliases: dict[str, str], constants: dict[str, Value], numbers: dict[str, list[float]]
) -> None:
    constants = constants | graph.constants
    aliases = dict(aliases)
    for node in graph.nodes:
        if node.op in _ALIASES and node.inputs and node.inputs[0] in aliases:
            aliases[node.outputs[0]] = aliases[node.inputs[0]]
        if node.op == "Equal":
            for name, other in (node.inputs, node.inputs[::-1]):
                value = constants.get(other, UNKNOWN).data
                if name in aliases and value is not None and value.size == 1 and value.dtype.kind in "iuf":
                    numbers.setdefault(aliases[name], []).append(float(value.reshape(-1)[0]))
        for body in subgraphs(node):
            _compared(body, aliases, constants, numbers)
