"""The other half of `planted_more`: wrong rewrites of reductions, layers and quantizers."""

from __future__ import annotations

import numpy as np
from planted_graph import Graph, fault

# Reductions and what counts --------------------------------------------------------------------------------------------------------


@fault("ReduceMean Sub")
def mean_along_the_last(graph: Graph) -> None:
    """The mean that is taken off is one over the last axis."""
    for mean, _, _ in graph.pairs("ReduceMean", "Sub"):
        axes = graph.constant(mean, 1) if len(mean.input) > 1 else graph.get(mean, "axes")
        if axes is not None and graph.get(mean, "keepdims", 1) and len(axes) == 1:
            if len(mean.input) > 1:
                graph.store(mean, 1, np.asarray([-1], np.int64))
            else:
                graph.put(
                    mean,
                    "axes",
                    [-1] if graph.model.opset_import[0].version >= 11 else [len(graph.shape(mean.input[0])) - 1],
                )


@fault("ReduceMax Squeeze")
def squeezed_maximum(graph: Graph) -> None:
    """The axes that are squeezed are those that are reduced."""
    for most, less, place in graph.pairs("ReduceMax", "Squeeze"):
        if place == 0 and graph.get(most, "keepdims", 1):
            graph.put(most, "keepdims", 0)
            graph.become(less, "Identity", [most.output[0]])


@fault("CumSum")
def sums_along_the_first(graph: Graph) -> None:
    """A negative axis is the first."""
    for node in graph.nodes:
        axis = graph.constant(node, 1) if node.op_type == "CumSum" else None
        if axis is not None and (axis < 0).any():
            graph.store(node, 1, np.zeros_like(axis))


@fault("TopK")
def largest_always(graph: Graph) -> None:
    """`largest` is forgotten along any axis but the last."""
    for node in graph.nodes:
        axis, rank = graph.get(node, "axis", -1), len(graph.shape(node.input[0]))
        if node.op_type == "TopK" and not graph.get(node, "largest", 1) and axis % max(rank, 1) != rank - 1:
            graph.put(node, "largest", 1)


# Layers ----------------------------------------------------------------------------------------------------------------------------


@fault("Conv")
def lower_is_upper(graph: Graph) -> None:
    """SAME_LOWER is read as SAME_UPPER."""
    for node in graph.nodes:
        if node.op_type == "Conv" and graph.get(node, "auto_pad") == b"SAME_LOWER":
            graph.put(node, "auto_pad", "SAME_UPPER")


@fault("AveragePool")
def counted_with_strides(graph: Graph) -> None:
    """`count_include_pad` is forgotten with strides."""
    for node in graph.nodes:
        strides = graph.get(node, "strides", [1])
        if node.op_type == "AveragePool" and graph.get(node, "count_include_pad", 0) and max(strides) > 1:
            graph.put(node, "count_include_pad", 0)


@fault("Gemm")
def turned_twice(graph: Graph) -> None:
    """Square weights are stored turned, and the flag stays."""
    for node in graph.nodes:
        held = graph.constant(node, 1) if node.op_type == "Gemm" else None
        if held is not None and graph.get(node, "transB", 0) and held.shape[0] == held.shape[1] > 1:
            graph.store(node, 1, held.T.copy())


@fault("Gemm BatchNormalization")
def norm_of_a_product(graph: Graph) -> None:
    """Folded with the default epsilon."""
    for _, norm, place in graph.pairs("Gemm", "BatchNormalization"):
        if place == 0 and graph.get(norm, "epsilon", 1e-5) > 1e-4:
            graph.put(norm, "epsilon", 1e-5)


# Quantizers ------------------------------------------------------------------------------------------------------------------------


@fault("DequantizeLinear Relu")
def relu_of_bytes(graph: Graph) -> None:
    """What has no sign is never below 0."""
    for first, second, _ in graph.pairs("DequantizeLinear", "Relu"):
        zero = graph.constant(first, 2)
        if zero is not None and zero.dtype == np.uint8:
            graph.become(second, "Identity", [first.output[0]])


@fault("Transpose DequantizeLinear")
def axis_of_the_scales(graph: Graph) -> None:
    """The axis of the scales is not moved where a Transpose before it is dropped, all sizes being kept."""
    for turn, grid, place in graph.pairs("Transpose", "DequantizeLinear"):
        scales = graph.constant(grid, 1)
        if (
            place == 0
            and scales is not None
            and scales.size > 1
            and graph.shape(turn.input[0]) == graph.shape(turn.output[0])
        ):
            grid.input[0] = turn.input[0]
            graph.changed = True


@fault("QuantizeLinear DequantizeLinear Add")
def grids_of_a_sum(graph: Graph) -> None:
    """A sum in whole numbers takes the second operand to be on the grid of the first."""
    grids = {node.output[0]: node for node in graph.nodes if node.op_type == "DequantizeLinear"}
    for node in graph.nodes:
        if node.op_type == "Add" and all(name in grids for name in node.input) and node.input[0] != node.input[1]:
            first, second = (grids[name] for name in node.input)
            scale = graph.constant(first, 1)
            if scale is not None and scale.size == 1 and len(second.attribute) == 0:
                graph.store(second, 1, scale)
