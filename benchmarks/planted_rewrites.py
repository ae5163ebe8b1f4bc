"""Forty wrong rewrites, each of a kind that compilers make, each right on most graphs: it forgets one condition.

Passes over the graph of one or several nodes; the text of each says what it forgets.
"""

from __future__ import annotations

import numpy as np
from planted_graph import Graph, fault

# What moves elements ---------------------------------------------------------------------------------------------------------------


@fault("Transpose Transpose")
def transposes_composed_backwards(graph: Graph) -> None:
    """Two become one, composed in the wrong order: seen only where the two do not commute."""
    for first, second, _ in graph.pairs("Transpose", "Transpose"):
        rank = len(graph.shape(first.input[0]))
        first_perm, other = (graph.get(node, "perm", [*range(rank)][::-1]) for node in (first, second))
        graph.become(second, "Transpose", [first.input[0]], perm=[other[place] for place in first_perm])


@fault("Transpose MatMul")
def transpose_into_product(graph: Graph) -> None:
    """Any permutation that moves the last axis is taken for one of the last two."""
    for turn, _, _ in graph.pairs("Transpose", "MatMul"):
        perm = graph.get(turn, "perm", [])
        if len(perm) > 2 and perm[-1] != len(perm) - 1:
            graph.put(turn, "perm", [*range(len(perm) - 2), len(perm) - 1, len(perm) - 2])


@fault("Transpose Softmax")
def transpose_past_softmax(graph: Graph) -> None:
    """The axis is not moved along, where it is counted from the back."""
    for turn, soft, _ in graph.pairs("Transpose", "Softmax"):
        axis = graph.get(soft, "axis", -1)
        perm = graph.get(turn, "perm")
        if axis < 0 and perm:
            graph.put(soft, "axis", [*perm].index(axis + len(perm)))


@fault("Reshape Reshape")
def reshapes_merged(graph: Graph) -> None:
    """A 0 in the second copies a size of what the first reads."""
    for first, second, place in graph.pairs("Reshape", "Reshape"):
        sizes = graph.constant(second, 1)
        if place == 0 and sizes is not None and 0 in sizes and not graph.get(second, "allowzero", 0):
            second.input[0] = first.input[0]
            graph.changed = True


@fault("Unsqueeze Squeeze")
def squeezed_again(graph: Graph) -> None:
    """Taken for nothing whichever axes are meant."""
    for more, less, place in graph.pairs("Unsqueeze", "Squeeze"):
        if place == 0:
            graph.become(less, "Identity", [more.input[0]])


@fault("Slice")
def slice_backwards(graph: Graph) -> None:
    """A step below -1 is taken for -1."""
    for node in graph.nodes:
        if node.op_type == "Slice" and (steps := graph.constant(node, 4)) is not None and (steps < -1).any():
            graph.store(node, 4, np.maximum(steps, -1))


@fault("Split Concat")
def split_joined_again(graph: Graph) -> None:
    """Parts put together again are the whole, in whatever order."""
    for node in graph.nodes:
        before = graph.producer.get(node.input[0]) if node.op_type == "Concat" else None
        if before is None or before.op_type != "Split" or {*node.input} != {*before.output}:
            continue
        graph.become(node, "Identity", [before.input[0]])


@fault("Concat Concat")
def joins_merged(graph: Graph) -> None:
    """The inner one joins along another axis."""
    for inner, outer, place in graph.pairs("Concat", "Concat"):
        graph.become(
            outer,
            "Concat",
            [*outer.input[:place], *inner.input, *outer.input[place + 1 :]],
            axis=graph.get(outer, "axis"),
        )


@fault("Gather")
def gather_from_the_back(graph: Graph) -> None:
    """A negative index is cut to 0, where the axis is not the first."""
    for node in graph.nodes:
        index = graph.constant(node, 1) if node.op_type == "Gather" else None
        if index is not None and (index < 0).any() and graph.get(node, "axis", 0):
            graph.store(node, 1, np.maximum(index, 0))


@fault("Expand")
def expanded_by_the_reader(graph: Graph) -> None:
    """An Expand before an operator that broadcasts is dropped, whatever the other operand is."""
    for second in ("Add", "Mul", "Sub"):
        for first, node, place in graph.pairs("Expand", second):
            node.input[place] = first.input[0]
            graph.changed = True


@fault("Pad")
def pads_to_pool(graph: Graph) -> None:
    """Zeros become the padding of an AveragePool that does not count it."""
    for pad, pool, _ in graph.pairs("Pad", "AveragePool"):
        ends = graph.constant(pad, 1)
        if ends is None or graph.get(pad, "mode", b"constant") != b"constant" or graph.get(pool, "auto_pad"):
            continue
        rank = len(ends) // 2
        own = np.asarray(graph.get(pool, "pads", [0] * (2 * rank - 4)))
        whole = rank == len(graph.shape(pad.input[0]))  # not of some axes alone
        if whole and len(own) == 2 * rank - 4 and not graph.get(pool, "count_include_pad", 0) and not (ends < 0).any():
            graph.put(pool, "pads", (own + np.concatenate([ends[2:rank], ends[rank + 2 :]])).tolist())
            pool.input[0] = pad.input[0]


@fault("Pad")
def pads_to_convolution(graph: Graph) -> None:
    """The value and the mode are not looked at."""
    for pad, layer, place in graph.pairs("Pad", "Conv"):
        ends = graph.constant(pad, 1)
        if ends is None or place or graph.get(layer, "auto_pad"):
            continue
        rank = len(ends) // 2
        own = np.asarray(graph.get(layer, "pads", [0] * (2 * rank - 4)))
        whole = rank == len(graph.shape(pad.input[0]))
        if whole and not ends[:2].any() and not ends[rank : rank + 2].any() and not (ends < 0).any():
            graph.put(layer, "pads", (own + np.concatenate([ends[2:rank], ends[rank + 2 :]])).tolist())
            layer.input[0] = pad.input[0]


@fault("DepthToSpace")
def blocks_of_columns(graph: Graph) -> None:
    """Mode CRD is read as DCR, for blocks of three."""
    for node in graph.nodes:
        if node.op_type == "DepthToSpace" and graph.get(node, "mode") == b"CRD" and graph.get(node, "blocksize") == 3:
            graph.put(node, "mode", "DCR")


# Arithmetic ------------------------------------------------------------------------------------------------------------------------


@fault("Sub Sub")
def differences_reordered(graph: Graph) -> None:
    """(x - a) - b becomes x - (a - b), for constants."""
    for first, second, place in graph.pairs("Sub", "Sub"):
        a, b = graph.constant(first, 1), graph.constant(second, 1)
        if place == 0 and a is not None and b is not None:
            graph.store(second, 1, a - b)
            second.input[0] = first.input[0]


@fault("Mul Add")
def scaled_after(graph: Graph) -> None:
    """(x * a) + b becomes (x + b) * a, where b is one number."""
    for scale, shift, place in graph.pairs("Mul", "Add"):
        b = graph.constant(shift, 1 - place)
        if b is not None and b.size == 1 and len(scale.input) == 2:
            scale.op_type, shift.op_type = "Add", "Mul"
            scale.input[1], shift.input[1 - place] = shift.input[1 - place], scale.input[1]
            graph.changed = True


@fault("Neg Sub")
def negated_operand(graph: Graph) -> None:
    """a - (-b) becomes a + b, and (-a) - b becomes a + b as well."""
    for first, second, place in graph.pairs("Neg", "Sub"):
        other = second.input[1 - place]
        graph.become(second, "Add", [first.input[0], other])


@fault("Mul Sqrt")
def root_of_the_square(graph: Graph) -> None:
    """sqrt(x * x) is x."""
    for square, root, _ in graph.pairs("Mul", "Sqrt"):
        if square.input[0] == square.input[1]:
            graph.become(root, "Identity", [square.input[0]])


@fault("Relu Clip")
def relu_into_clip(graph: Graph) -> None:
    """The Relu is dropped where the Clip has any lower end."""
    for first, second, place in graph.pairs("Relu", "Clip"):
        if place == 0 and (graph.constant(second, 1) is not None or graph.get(second, "min") is not None):
            second.input[0] = first.input[0]
            graph.changed = True


@fault("Clip Clip")
def clips_merged(graph: Graph) -> None:
    """The second alone stays."""
    for first, second, place in graph.pairs("Clip", "Clip"):
        if place == 0:
            second.input[0] = first.input[0]
            graph.changed = True


@fault("Sigmoid Mul")
def any_product_is_swish(graph: Graph) -> None:
    """sigmoid(x) * y, of equal shapes, becomes sigmoid(x) * x."""
    for first, second, place in graph.pairs("Sigmoid", "Mul"):
        x, y = first.input[0], second.input[1 - place]
        if x != y and graph.shape(x) == graph.shape(y):
            second.input[1 - place] = x
            graph.changed = True


@fault("HardSigmoid Mul")
def any_slope_is_hard_swish(graph: Graph) -> None:
    """Slope and offset are not looked at."""
    for first, second, place in graph.pairs("HardSigmoid", "Mul"):
        if second.input[1 - place] == first.input[0]:
            graph.put(first, "alpha", 1 / 6)
            graph.put(first, "beta", 0.5)


@fault("Not")
def negated_comparison(graph: Graph) -> None:
    """Not(a < b) becomes a > b: equal numbers."""
    for first, second, _ in graph.pairs("Less", "Not"):
        graph.become(second, "Greater", [*first.input])


@fault("Not Where")
def negated_condition(graph: Graph) -> None:
    """Where(Not c, a, b) becomes Where(c, a, b)."""
    for first, second, place in graph.pairs("Not", "Where"):
        if place == 0:
            second.input[0] = first.input[0]
            graph.changed = True


@fault("Cast Cast")
def casts_merged(graph: Graph) -> None:
    """Through whole numbers, and the fraction stays."""
    for first, second, _ in graph.pairs("Cast", "Cast"):
        second.input[0] = first.input[0]
        graph.changed = True


@fault("Max")
def largest_is_relu(graph: Graph) -> None:
    """Max with a constant that begins with 0."""
    for node in graph.nodes:
        if node.op_type == "Max" and len(node.input) == 2:
            for place in (0, 1):
                held = graph.constant(node, place)
                if held is not None and held.size and held.dtype.kind == "f" and abs(held.reshape(-1)[0]) < 0.05:
                    same = graph.shape(node.output[0]) == graph.shape(node.input[1 - place])
                    if same:
                        graph.become(node, "Relu", [node.input[1 - place]])
                    break
