"""Twenty-nine more wrong rewrites, written after the generators and never looked at beside them: what is found that nobody had in mind?

`python benchmarks/fuzz_planted.py SECONDS SEED --more` plants these in the place of the forty.
"""

from __future__ import annotations

import numpy as np
from planted_graph import Graph, fault

# What moves elements ---------------------------------------------------------------------------------------------------------------


@fault("Transpose")
def transpose_of_equal_sizes(graph: Graph) -> None:
    """One whose answer has the shape of its operand is taken for nothing."""
    for node in graph.nodes:
        shape = graph.shape(node.output[0])
        if node.op_type == "Transpose" and len(shape) > 1 and shape == graph.shape(node.input[0]):
            graph.become(node, "Identity")


@fault("Transpose ReduceSum")
def axes_of_a_turned_sum(graph: Graph) -> None:
    """The Transpose before a sum over one axis is dropped, and the axis is not moved, where all sizes are kept."""
    for turn, total, place in graph.pairs("Transpose", "ReduceSum"):
        if place == 0 and graph.shape(turn.input[0]) == graph.shape(turn.output[0]):
            total.input[0] = turn.input[0]
            graph.changed = True


@fault("Slice Slice")
def slices_merged(graph: Graph) -> None:
    """The starts of the second count from the beginning of what the first reads."""
    for first, second, place in graph.pairs("Slice", "Slice"):
        reads = [graph.constant(second, at) for at in (1, 2, 3, 4)]
        if place == 0 and all(held is not None for held in reads[:2]) and len(second.input) >= len(first.input):
            second.input[0] = first.input[0]
            graph.changed = True


@fault("Tile Tile")
def tiles_merged(graph: Graph) -> None:
    """The larger repeats in place of the product."""
    for first, second, place in graph.pairs("Tile", "Tile"):
        a, b = graph.constant(first, 1), graph.constant(second, 1)
        if place == 0 and a is not None and b is not None:
            graph.store(second, 1, np.maximum(a, b))
            second.input[0] = first.input[0]


@fault("Pad Pad")
def pads_merged(graph: Graph) -> None:
    """The value of the second for both."""
    for first, second, place in graph.pairs("Pad", "Pad"):
        a, b = graph.constant(first, 1), graph.constant(second, 1)
        plain = all(
            graph.get(node, "mode", b"constant") == b"constant" and len(node.input) < 4 for node in (first, second)
        )
        if place == 0 and plain and a is not None and b is not None and not (a < 0).any() and not (b < 0).any():
            graph.store(second, 1, a + b)
            second.input[0] = first.input[0]


@fault("Expand ReduceSum")
def sum_of_expanded(graph: Graph) -> None:
    """As often as it was expanded is forgotten."""
    for first, total, place in graph.pairs("Expand", "ReduceSum"):
        if place == 0 and len(graph.shape(first.input[0])) == len(graph.shape(first.output[0])):
            total.input[0] = first.input[0]
            graph.changed = True


@fault("Squeeze Unsqueeze")
def unsqueezed_again(graph: Graph) -> None:
    """Taken for nothing where the rank is the same."""
    for less, more, place in graph.pairs("Squeeze", "Unsqueeze"):
        if place == 0 and len(graph.shape(less.input[0])) == len(graph.shape(more.output[0])):
            graph.become(more, "Identity", [less.input[0]])


@fault("GatherElements")
def elements_along_the_first(graph: Graph) -> None:
    """A negative axis is the first."""
    for node in graph.nodes:
        if node.op_type == "GatherElements" and graph.get(node, "axis", 0) < 0:
            graph.put(node, "axis", 0)


@fault("Transpose Gather")
def gathered_behind_transpose(graph: Graph) -> None:
    """The axis is not moved where the Transpose is dropped: only the one that is gathered along matters, it is thought."""
    for turn, gather, place in graph.pairs("Transpose", "Gather"):
        if place == 0 and graph.shape(turn.input[0]) == graph.shape(turn.output[0]):
            gather.input[0] = turn.input[0]
            graph.changed = True


# Arithmetic ------------------------------------------------------------------------------------------------------------------------


@fault("Div Mul")
def quotient_times(graph: Graph) -> None:
    """(x / a) * b becomes x / (a * b), for constants."""
    for first, second, place in graph.pairs("Div", "Mul"):
        a, b = graph.constant(first, 1), graph.constant(second, 1 - place)
        if a is not None and b is not None and a.dtype.kind == "f":
            graph.store(first, 1, (a * b).astype(a.dtype))
            graph.become(second, "Identity", [first.output[0]])


@fault("Pow")
def square_by_the_first(graph: Graph) -> None:
    """An exponent that begins with 2 is a square."""
    for node in graph.nodes:
        held = graph.constant(node, 1) if node.op_type == "Pow" else None
        if (
            held is not None
            and held.size
            and held.reshape(-1)[0] == 2
            and graph.shape(node.output[0]) == graph.shape(node.input[0])
        ):
            graph.become(node, "Mul", [node.input[0], node.input[0]])


@fault("Relu Mul")
def factor_through_relu(graph: Graph) -> None:
    """relu(x) * c becomes relu(x * c), for any c of one number."""
    for bent, scale, place in graph.pairs("Relu", "Mul"):
        held = graph.constant(scale, 1 - place)
        if held is not None and held.size == 1 and len(graph.shape(scale.output[0])) == len(graph.shape(bent.input[0])):
            scale.input[place], bent.op_type, scale.op_type = bent.input[0], "Mul", "Relu"
            other = scale.input[1 - place]
            del scale.input[:]
            scale.input.append(bent.output[0])
            bent.input.append(other)
            graph.changed = True


@fault("Clip Relu")
def relu_behind_clip(graph: Graph) -> None:
    """Dropped behind a Clip with any end."""
    for first, second, _ in graph.pairs("Clip", "Relu"):
        if len(first.input) > 1 or first.attribute:
            graph.become(second, "Identity", [first.output[0]])


@fault("Sign Mul")
def sign_times_any(graph: Graph) -> None:
    """sign(x) * y becomes |y|."""
    for _, second, place in graph.pairs("Sign", "Mul"):
        other = second.input[1 - place]
        if graph.shape(other) == graph.shape(second.output[0]):
            graph.become(second, "Abs", [other])


@fault("Sqrt Div")
def root_in_a_divisor(graph: Graph) -> None:
    """c / sqrt(x) becomes 1 / sqrt(x), for a constant c of one number."""
    for root, quotient, place in graph.pairs("Sqrt", "Div"):
        held = graph.constant(quotient, 0)
        if place == 1 and held is not None and held.size == 1 and held.ndim <= len(graph.shape(root.output[0])):
            graph.become(quotient, "Reciprocal", [root.output[0]])


@fault("Max Min")
def ends_of_a_clip(graph: Graph) -> None:
    """min(max(x, a), b) becomes max(min(x, b), a): the same unless a is above b."""
    for first, second, _ in graph.pairs("Max", "Min"):
        if len(first.input) == len(second.input) == 2:
            first.op_type, second.op_type = "Min", "Max"
            a = next(
                (name for name in first.input if graph.constant(first, [*first.input].index(name)) is not None), ""
            )
            b = next((name for name in second.input if name != first.output[0]), "")
            if a and b and graph.shape(first.output[0]) == graph.shape(second.output[0]):
                first.input[[*first.input].index(a)], second.input[[*second.input].index(b)] = b, a
                graph.changed = True


@fault("Greater Not")
def not_greater(graph: Graph) -> None:
    """Not(a > b) becomes a < b."""
    for first, second, _ in graph.pairs("Greater", "Not"):
        graph.become(second, "Less", [*first.input])


@fault("Add Relu")
def relu_for_both_readers(graph: Graph) -> None:
    """An Add that something else reads, too, gets the Relu for both."""
    for node in [*graph.nodes]:
        before = graph.producer.get(node.input[0]) if node.op_type == "Relu" else None
        if before is None or before.op_type != "Add" or before.output[0] in graph.outputs:
            continue
        readers = [other for other in graph.nodes if before.output[0] in other.input and other.name != node.name]
        if readers:
            inner = f"{before.output[0]}/planted"
            graph.follow(before, "Relu", inner)
            node.input[0] = inner
