"""Windows that slide wrongly: pads, rounding of lengths, kinds of pooling."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from onnx import NodeProto

from assay.mutation.graph import Graph, known
from assay.mutation.mutation_operator import MutationOperator


def _pads(graph: Graph, node: NodeProto) -> list[int]:
    return list(graph.get(node, "pads", []))


def _padded(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("shift-padding") if any(_pads(graph, node))]


def _shift_pads(graph: Graph, node: NodeProto, distance: float) -> None:
    """One from the end to the beginning of the last padded axis, or back: shapes stay."""
    pads = _pads(graph, node)
    axes = len(pads) // 2
    axis = next(a for a in reversed(range(axes)) if pads[a] or pads[a + axes])
    step = 1 if pads[a_end := axis + axes] else -1
    pads[axis] += step
    pads[a_end] -= step
    graph.set(node, "pads", pads)


def _same(graph: Graph) -> Iterable[NodeProto]:
    return [
        node
        for node in graph.open_to("same-upper-lower")
        if graph.get(node, "auto_pad", b"") in (b"SAME_UPPER", b"SAME_LOWER")
    ]


def _other_same(graph: Graph, node: NodeProto, distance: float) -> None:
    upper = graph.get(node, "auto_pad") == b"SAME_UPPER"
    graph.set(node, "auto_pad", "SAME_LOWER" if upper else "SAME_UPPER")


def _pools(graph: Graph) -> Iterable[NodeProto]:
    return graph.open_to("ceil-for-floor")


def _other_rounding(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "ceil_mode", 1 - graph.get(node, "ceil_mode", 0))


def _averaging_pads(graph: Graph) -> Iterable[NodeProto]:
    return [
        node for node in graph.open_to("count-padding") if any(_pads(graph, node)) or graph.get(node, "ceil_mode", 0)
    ]


def _count_pads(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "count_include_pad", 1 - graph.get(node, "count_include_pad", 0))


def _exchangeable(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("pool-kind"):
        if len([name for name in node.output if name]) == 1 and graph.is_float(node.output[0]):
            yield node


def _other_pool(graph: Graph, node: NodeProto, distance: float) -> None:
    for name in ("storage_order", "count_include_pad"):
        graph.set(node, name, None)
    if graph.opset < 19 and node.op_type == "MaxPool":
        graph.set(node, "dilations", None)
    node.op_type = known(node).mistaken_for


def _dilatable(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("drop-dilation") if any(d > 1 for d in graph.get(node, "dilations", []))]


def _undilate(graph: Graph, node: NodeProto, distance: float) -> None:
    """Dilations dropped, pads grown so that the shape stays."""
    dilations, pads = list(graph.get(node, "dilations")), _pads(graph, node)
    kernel = graph.get(node, "kernel_shape") or [d or 1 for d in (graph.shape(node.input[1]) or ())[2:]]
    axes = len(dilations)
    pads = pads or [0] * 2 * axes
    for axis, (dilation, size) in enumerate(zip(dilations, kernel, strict=True)):
        lost = (dilation - 1) * (size - 1)
        pads[axis] -= lost // 2
        pads[axis + axes] -= lost - lost // 2
    graph.set(node, "dilations", None)
    graph.set(node, "pads", pads)


def _filled(graph: Graph) -> Iterable[NodeProto]:
    """Pads that fill with a constant, and are not known to add nothing."""
    for node in graph.open_to("pad-value"):
        pads = graph.input_value(node, 1) if graph.opset >= 11 else np.asarray(_pads(graph, node))
        known = graph.opset < 11 or len(node.input) < 3 or not node.input[2] or graph.input_value(node, 2) is not None
        if graph.get(node, "mode", b"constant") == b"constant" and known and (pads is None or np.any(pads > 0)):
            yield node


def _other_fill(graph: Graph, node: NodeProto, distance: float) -> None:
    """Zero for the model's value; `distance` where zero is that."""
    if graph.opset < 11:
        graph.set(node, "value", 0.0 if graph.get(node, "value", 0.0) else distance)
        return
    fill = graph.input_value(node, 2)
    kind = fill.dtype if fill is not None else graph.numpy_dtype(node.input[0])
    graph.replace_input(node, 2, np.asarray(0 if fill is not None and np.any(fill != 0) else distance).astype(kind))


def _reflecting(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("pad-mode") if graph.get(node, "mode", b"constant") != b"constant"]


def _other_mode(graph: Graph, node: NodeProto, distance: float) -> None:
    """The border repeated, which lengths never forbid; nothing but zeros where that is the model's own."""
    graph.set(node, "mode", "constant" if graph.get(node, "mode") == b"edge" else "edge")


OPERATORS = (
    MutationOperator("shift-padding", "padding moved by one", _padded, _shift_pads),
    MutationOperator("same-upper-lower", "SAME_LOWER taken for SAME_UPPER", _same, _other_same),
    MutationOperator("ceil-for-floor", "ceil taken for floor (or the reverse) in the length of a pool", _pools, _other_rounding),
    MutationOperator("count-padding", "padding counted in an average, or left out", _averaging_pads, _count_pads),
    MutationOperator("pool-kind", "maximum taken for average, or the reverse", _exchangeable, _other_pool),
    MutationOperator("pad-value", "the fill value of a padding lost: zero taken for it, or another where it is zero",
             _filled, _other_fill, 1.0, "the value taken for zero"),
    MutationOperator("pad-mode", "the border repeated for one that is reflected, zeros for one that is repeated", _reflecting, _other_mode),
    MutationOperator("drop-dilation", "dilation ignored", _dilatable, _undilate),
)  # fmt: skip
