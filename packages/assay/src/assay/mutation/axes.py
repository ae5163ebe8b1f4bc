"""The right numbers at the wrong place: axes, permutations, layouts, indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from onnx import NodeProto

from assay.mutation.graph import Chain, Graph, known
from assay.mutation.mutation_operator import MutationOperator


def _rank(graph: Graph, name: str) -> int:
    return len(graph.shape(name) or ())


def _softmaxes(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("softmax-axis"):
        if _rank(graph, node.input[0]) >= 2:
            yield node


def _other_axis(graph: Graph, node: NodeProto, distance: float) -> None:
    rank = _rank(graph, node.input[0])
    default = -1 if graph.opset >= 13 else 1
    axis = int(graph.get(node, "axis", default)) % rank
    graph.set(node, "axis", axis - 1 if axis else 1)


def _accumulated(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("cumsum-axis"):
        if _rank(graph, node.input[0]) >= 2 and graph.input_value(node, 1) is not None:
            yield node


def _other_cumsum_axis(graph: Graph, node: NodeProto, distance: float) -> None:
    value = graph.input_value(node, 1)
    assert value is not None
    rank = _rank(graph, node.input[0])
    graph.replace_input(node, 1, np.asarray((int(value.reshape(-1)[0]) - 1) % rank).astype(value.dtype))


def _exclusive(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "exclusive", 1 - graph.get(node, "exclusive", 0))


def _joins(graph: Graph) -> Iterable[NodeProto]:
    """Joins and cuts along an axis, where another order of the parts gives the same shape."""
    for node in graph.open_to("swap-parts"):
        names = _parts(node)
        shapes = {graph.shape(name) for name in names}
        if len(set(names)) > 1 and len(shapes) == 1 and None not in shapes:
            yield node


def _parts(node: NodeProto) -> Any:
    """What it gives where that is much, else what it joins."""
    return node.output if len(node.output) > 1 else node.input


def _swap_parts(graph: Graph, node: NodeProto, distance: float) -> None:
    names = _parts(node)
    names[0], names[1] = names[1], names[0]


def _perm(graph: Graph, node: NodeProto) -> list[int]:
    rank = _rank(graph, node.input[0])
    return list(graph.get(node, "perm", list(reversed(range(rank)))))


def _permuting(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("swap-perm") if len(_perm(graph, node)) >= 2]


def _swap_perm(graph: Graph, node: NodeProto, distance: float) -> None:
    """The last two axes of the result exchanged; where their lengths differ, the two that agree."""
    perm, shape = _perm(graph, node), graph.shape(node.output[0]) or ()
    pairs = [(a, b) for b in reversed(range(len(perm))) for a in reversed(range(b))]
    alike = [(a, b) for a, b in pairs if len(shape) == len(perm) and shape[a] is not None and shape[a] == shape[b]]
    axis, other = (alike or pairs)[0]
    perm[axis], perm[other] = perm[other], perm[axis]
    graph.set(node, "perm", perm)


def _reshapable(graph: Graph) -> Iterable[NodeProto]:
    for node in _permuting(graph):
        shape = graph.shape(node.output[0])
        if shape and sum(d is None for d in shape) <= 1 and _perm(graph, node) != sorted(_perm(graph, node)):
            yield node


def _reshape_for_transpose(graph: Graph, node: NodeProto, distance: float) -> None:
    target = [-1 if d is None else d for d in graph.shape(node.output[0]) or ()]
    graph.replace(node, "Reshape", [node.input[0], graph.constant(np.asarray(target, np.int64))])


def _images(graph: Graph) -> Iterable[NodeProto]:
    """Windowed layers whose input has known channels, height and width."""
    for node in graph.open_to("nhwc-for-nchw"):
        shape = graph.shape(node.input[0]) or ()
        if len(shape) >= 3 and all(shape[1:]):
            yield node


def _read_nhwc(graph: Graph, node: NodeProto, distance: float) -> None:
    """The bytes of (N, C, H, W) read as (N, H, W, C)."""
    shape = [int(d or 0) for d in graph.shape(node.input[0]) or ()]
    rank = len(shape)
    chain = graph.before(node, 0)
    target = graph.constant(np.asarray([0, *shape[2:], shape[1]], np.int64))
    misread = chain.add("Reshape", [chain.start, target])
    chain.done(chain.add("Transpose", [misread], perm=[0, rank - 1, *range(1, rank - 1)]))


def _square_images(graph: Graph) -> Iterable[NodeProto]:
    for node in _images(graph):
        shape = graph.shape(node.input[0]) or ()
        if len(shape) == 4 and shape[2] == shape[3] and (shape[2] or 0) > 1:
            yield node


def _swap_height_width(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.before(node, 0)
    chain.done(chain.add("Transpose", [chain.start], perm=[0, 1, 3, 2]))


def _blocks(graph: Graph) -> Iterable[NodeProto]:
    return graph.open_to("depth-to-space-order")


def _other_blocks(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "mode", "DCR" if graph.get(node, "mode", b"DCR") == b"CRD" else "CRD")


def _gathers(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("gather-off-by-one"):
        if _gathered_length(graph, node) > 1:
            yield node


def _gathered_length(graph: Graph, node: NodeProto) -> int:
    shape = graph.shape(node.input[0])
    return int(shape[int(graph.get(node, "axis", 0))] or 0) if shape else 0


def _off_by_one(graph: Graph, node: NodeProto, distance: float) -> None:
    """index -> (index + 1) mod length, negative indices included."""
    length = _gathered_length(graph, node)
    chain = graph.before(node, 1)
    unit, n = graph.scalar(1, chain.start), graph.scalar(length, chain.start)
    chain.done(chain.add("Mod", [chain.add("Add", [chain.start, unit]), n]))


def _slices(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("slice-off-by-one"):
        if len(node.input) >= 3 and _movable(graph, node) is not None:
            yield node


def _movable(graph: Graph, node: NodeProto) -> tuple[int, int] | None:
    """Which entry of starts and ends can move by one (and how) without changing the length."""
    starts, ends = graph.input_value(node, 1), graph.input_value(node, 2)
    axes = graph.input_value(node, 3)
    shape = graph.shape(node.input[0]) or ()
    if starts is None or ends is None or not shape or starts.ndim != 1:
        return None
    for entry in range(len(starts)):
        length = shape[int(axes[entry]) if axes is not None else entry]
        start, end = int(starts[entry]), int(ends[entry])
        if length is None or start < 0 or end < 0:
            continue
        if end < length:
            return entry, 1
        if start > 0 and end == length:
            return entry, -1
    return None


def _shift_slice(graph: Graph, node: NodeProto, distance: float) -> None:
    slice_move = _movable(graph, node)
    assert slice_move is not None
    for place in (1, 2):
        value = graph.input_value(node, place)
        assert value is not None
        moved = value.copy()
        moved[slice_move[0]] += slice_move[1]
        graph.replace_input(node, place, moved)


def _argued(graph: Graph) -> Iterable[NodeProto]:
    return graph.open_to("argmax-ties")


def _last_of_ties(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "select_last_index", 1 - graph.get(node, "select_last_index", 0))


def _argmin(graph: Graph, node: NodeProto, distance: float) -> None:
    node.op_type = known(node).mistaken_for


def _topk(graph: Graph) -> Iterable[NodeProto]:
    return graph.open_to("topk-smallest")


def _smallest(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "largest", 1 - graph.get(node, "largest", 1))


def _reductions(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("reduce-axis"):
        if _reduced(graph, node) is not None:
            yield node


def _reduced(graph: Graph, node: NodeProto) -> Sequence[int] | None:
    """Other axes whose lengths agree with those reduced; None where there are none."""
    shape = graph.shape(node.input[0]) or ()
    written_axes = graph.input_value(node, 1) if len(node.input) > 1 else graph.get(node, "axes", None)
    if node.op_type.startswith("Arg"):
        written_axes = [graph.get(node, "axis", 0)]
    if written_axes is None or not shape or (not graph.get(node, "keepdims", 1) and len(shape) < 2):
        return None
    axes = [int(axis) % len(shape) for axis in np.asarray(written_axes).reshape(-1)]
    if len(axes) != 1:
        return None
    alike = [a for a in range(len(shape)) if a != axes[0] and shape[a] is not None and shape[a] == shape[axes[0]]]
    return alike or None


def _other_reduction(graph: Graph, node: NodeProto, distance: float) -> None:
    other = list(_reduced(graph, node) or ())[-1]
    if node.op_type.startswith("Arg"):
        graph.set(node, "axis", other)
    elif len(node.input) > 1:
        graph.replace_input(node, 1, np.asarray([other], np.int64))
    else:
        graph.set(node, "axes", [other])


def _broadcasts(graph: Graph) -> Iterable[NodeProto]:
    """Operators that spread a constant over one axis, which could be spread over another of the same length."""
    for node in graph.open_to("broken-broadcast"):
        if _respread(graph, node) is not None:
            yield node


def _respread(graph: Graph, node: NodeProto) -> tuple[int, tuple[int, ...]] | None:
    shape = graph.shape(node.output[0]) or ()
    for place in (0, 1):
        value = graph.input_value(node, place)
        if value is None or value.size < 2 or value.size != max(value.shape) or np.unique(value).size < 2:
            continue
        axis = len(shape) - value.ndim + int(np.argmax(value.shape))
        for other in range(len(shape)):
            if other != axis and shape[other] == value.size:
                return place, tuple(value.size if a == other else 1 for a in range(len(shape)))
    return None


def _spread_otherwise(graph: Graph, node: NodeProto, distance: float) -> None:
    reshape = _respread(graph, node)
    assert reshape is not None
    value = graph.input_value(node, reshape[0])
    assert value is not None
    graph.replace_input(node, reshape[0], value.reshape(reshape[1]))


def int64(chain: Chain, numbers: Sequence[int]) -> str:
    """A constant list of indices."""
    return chain.graph.constant(np.asarray(numbers, np.int64))


OPERATORS = (
    MutationOperator("softmax-axis", "softmax over the wrong axis", _softmaxes, _other_axis),
    MutationOperator("cumsum-axis", "a running sum along the wrong axis", _accumulated, _other_cumsum_axis),
    MutationOperator("cumsum-exclusive", "a running sum one step late", lambda graph: graph.open_to("cumsum-exclusive"), _exclusive),
    MutationOperator("reduce-axis", "a reduction over the wrong axis", _reductions,
             _other_reduction),
    MutationOperator("swap-parts", "two outputs (or two parts) exchanged", _joins, _swap_parts),
    MutationOperator("swap-perm", "a permutation with two axes exchanged", _permuting, _swap_perm),
    MutationOperator("reshape-for-transpose", "heads merged, or axes moved, without moving the data", _reshapable,
             _reshape_for_transpose),
    MutationOperator("nhwc-for-nchw", "NHWC read as NCHW", _images, _read_nhwc),
    MutationOperator("swap-height-width", "height and width exchanged", _square_images,
             _swap_height_width),
    MutationOperator("depth-to-space-order", "blocks in the other order", _blocks, _other_blocks),
    MutationOperator("gather-off-by-one", "an index off by one", _gathers, _off_by_one),
    MutationOperator("slice-off-by-one", "a slice that begins one too late or too early", _slices, _shift_slice),
    MutationOperator("argmax-ties", "the last of equal maxima taken for the first", _argued, _last_of_ties),
    MutationOperator("argmin-for-argmax", "the smallest taken for the largest", _argued, _argmin),
    MutationOperator("topk-smallest", "the smallest taken for the largest", _topk, _smallest),
    MutationOperator("broken-broadcast", "a constant spread over the wrong axis", _broadcasts,
             _spread_otherwise),
)  # fmt: skip
