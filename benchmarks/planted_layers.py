"""The other half of `planted_rewrites`: wrong rewrites of reductions, layers and quantizers."""

from __future__ import annotations

import numpy as np
from planted_graph import Graph, fault

# Reductions ------------------------------------------------------------------------------------------------------------------------


@fault("ReduceSum ReduceSum")
def sums_merged(graph: Graph) -> None:
    """The axes of the second are those of the first's answer, which lost some."""
    for first, second, place in graph.pairs("ReduceSum", "ReduceSum"):
        first_axes, other = graph.constant(first, 1), graph.constant(second, 1)
        if place == 0 and first_axes is not None and other is not None and not graph.get(first, "keepdims", 1):
            axes = np.unique(np.concatenate([first_axes, other]))
            graph.store(second, 1, axes)
            second.input[0] = first.input[0]


@fault("Neg")
def largest_of_negated(graph: Graph) -> None:
    """max(-x) becomes -max(x)."""
    for first, second, place in graph.pairs("Neg", "ReduceMax"):
        if place == 0:
            first.op_type, second.op_type = "ReduceMax", "Neg"
            first.attribute.extend(second.attribute)
            first.input.extend(second.input[1:])
            del second.attribute[:], second.input[1:]
            graph.changed = True


@fault("Softmax Log")
def log_of_softmax(graph: Graph) -> None:
    """The axis of the LogSoftmax is the last."""
    for first, second, _ in graph.pairs("Softmax", "Log"):
        graph.become(second, "LogSoftmax", [first.input[0]], axis=-1)


@fault("CumSum")
def sums_from_the_end(graph: Graph) -> None:
    """`exclusive` is forgotten where `reverse` is set."""
    for node in graph.nodes:
        if node.op_type == "CumSum" and graph.get(node, "reverse", 0) and graph.get(node, "exclusive", 0):
            graph.put(node, "exclusive", 0)


@fault("ArgMax")
def last_of_equal(graph: Graph) -> None:
    """`select_last_index` is lost behind a Cast or a Clip, whose answers are often equal."""
    for first in ("Cast", "Clip", "Relu", "Round"):
        for _, second, _ in graph.pairs(first, "ArgMax"):
            if graph.get(second, "select_last_index", 0):
                graph.put(second, "select_last_index", 0)


# Layers ----------------------------------------------------------------------------------------------------------------------------


@fault("Conv Add")
def bias_along_the_last_axis(graph: Graph) -> None:
    """A constant of as many numbers as there are channels is the bias, whichever axis it lies along."""
    for layer, more, place in graph.pairs("Conv", "Add"):
        held = graph.constant(more, 1 - place)
        channels = graph.shape(layer.output[0])[1]
        if held is not None and held.size == channels > 1 and held.shape[-1:] == (channels,):
            graph.store(more, 1 - place, held.reshape(channels, *[1] * (len(graph.shape(layer.output[0])) - 2)))


@fault("Conv Mul")
def scale_of_the_channels(graph: Graph) -> None:
    """A constant of one number for each channel scales the weights, but not the bias."""
    for layer, more, place in graph.pairs("Conv", "Mul"):
        held, weights = graph.constant(more, 1 - place), graph.constant(layer, 1)
        if held is not None and weights is not None and held.size == 1 and len(layer.input) > 2:
            graph.store(layer, 1, weights * held.reshape(()))
            graph.become(more, "Identity", [layer.output[0]])


@fault("Conv BatchNormalization")
def epsilon_of_the_norm(graph: Graph) -> None:
    """Folded with the default epsilon."""
    for _, norm, place in graph.pairs("Conv", "BatchNormalization"):
        if place == 0 and graph.get(norm, "epsilon", 1e-5) > 1e-4:
            graph.put(norm, "epsilon", 1e-5)


@fault("Conv")
def activation_of_grouped(graph: Graph) -> None:
    """The slope of a LeakyRelu behind a convolution in groups is the default."""
    for layer, bent, _ in graph.pairs("Conv", "LeakyRelu"):
        if graph.get(layer, "group", 1) > 1:
            graph.put(bent, "alpha", 0.01)


@fault("Gemm Relu")
def factor_before_relu(graph: Graph) -> None:
    """beta is dropped."""
    for product, _, _ in graph.pairs("Gemm", "Relu"):
        if graph.get(product, "beta", 1.0) != 1.0 and len(product.input) > 2:
            graph.put(product, "beta", None)


@fault("MatMul Add")
def column_of_a_product(graph: Graph) -> None:
    """A constant column is added as a row, where the product is square."""
    for product, more, place in graph.pairs("MatMul", "Add"):
        held, sizes = graph.constant(more, 1 - place), graph.shape(product.output[0])
        if held is not None and len(sizes) == 2 and sizes[0] == sizes[1] > 1 and held.shape == (sizes[0], 1):
            graph.store(more, 1 - place, held.reshape(1, -1))


@fault("Conv Relu")
def output_in_the_middle(graph: Graph) -> None:
    """Fused though the convolution is an output of the graph: that output has the Relu, too."""
    for node in graph.nodes:
        before = graph.producer.get(node.input[0]) if node.op_type == "Relu" else None
        if before is None or before.op_type != "Conv" or before.output[0] not in graph.outputs:
            continue
        inner = f"{before.output[0]}/planted"
        graph.follow(before, "Relu", inner)
        node.input[0] = inner


# Quantizers ------------------------------------------------------------------------------------------------------------------------


@fault("DequantizeLinear QuantizeLinear")
def grids_cancel(graph: Graph) -> None:
    """Two grids of one type are taken for one, whatever their scales."""
    for first, second, place in graph.pairs("DequantizeLinear", "QuantizeLinear"):
        first_scale, other = graph.constant(first, 2), graph.constant(second, 2)
        if place == 0 and first_scale is not None and other is not None and first_scale.dtype == other.dtype:
            graph.become(second, "Identity", [first.input[0]])


@fault("DequantizeLinear")
def zero_of_the_weights(graph: Graph) -> None:
    """Signed weights are taken to have the zero point 0, in a product."""
    for first, _, place in graph.pairs("DequantizeLinear", "MatMul"):
        zero = graph.constant(first, 2)
        if place == 1 and zero is not None and zero.dtype == np.uint8 and zero.any():
            graph.store(first, 2, np.full_like(zero, 128))


@fault("QuantizeLinear DequantizeLinear MaxPool")
def pool_between_grids(graph: Graph) -> None:
    """A pool in whole numbers pads with 0, which is not the lowest of int8."""
    for first, pool, _ in graph.pairs("DequantizeLinear", "MaxPool"):
        zero = graph.constant(first, 2)
        if zero is not None and zero.dtype == np.int8 and any(graph.get(pool, "pads", [0])):
            before = f"{first.output[0]}/planted"
            graph.follow(pool, "Relu", before)
