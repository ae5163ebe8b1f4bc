"""Arithmetic coarser than promised: values rounded on the way into a layer, in its weights, or on the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import ml_dtypes
import numpy as np
from onnx import NodeProto, TensorProto

from assay.mutation.graph import Array, Chain, Graph, known
from assay.mutation.mutation_operator import MutationOperator

_SPLITTER = {"tf32": 2.0**13 + 1, "bf16": 2.0**16 + 1}
"""Veltkamp's constants: what is left of 24 significant bits is 11 (tf32) or 8 (bfloat16). Dekker 1971, 5.7."""


def layers(graph: Graph) -> Iterable[NodeProto]:
    """Convolutions and products with float inputs."""
    return [node for node in graph.open_to("tf32-inputs") if graph.dtype(node.output[0]) in (0, TensorProto.FLOAT)]


def float_nodes(graph: Graph) -> Iterable[NodeProto]:
    """Nodes that compute a float tensor from one (no constants, no pure movement)."""
    moving = {"Identity", "Constant", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather",
              "Concat", "Split", "Cast", "Shape", "Expand", "Pad", "ConstantOfShape", "Dropout"}  # fmt: skip
    return [
        node
        for node in graph.nodes
        if node.op_type not in moving and node.output and node.output[0] and graph.is_float(node.output[0])
    ]


def weight_places(graph: Graph, node: NodeProto) -> list[int]:
    """Which inputs of a layer are its constant weights (biases apart)."""
    places = known(node).weights
    weights = []
    for place in places:
        value = graph.input_value(node, place)
        if value is not None and value.dtype.kind == "f" and value.ndim >= 2 and value.size:
            weights.append(place)
    return weights


def weighted(graph: Graph) -> Iterable[NodeProto]:
    """Layers with constant weights."""
    return [node for node in graph.open_to("tf32-weights") if weight_places(graph, node)]


def rounded(array: Array, grade: str) -> Array:
    """The array rounded to nearest in tf32, bf16 or fp16, in its own type."""
    if grade == "tf32":
        wide = np.asarray(array, np.float64)
        mantissa, exponent = np.frexp(wide)
        return np.asarray(np.ldexp(np.rint(mantissa * 2.0**11) / 2.0**11, exponent)).astype(array.dtype)
    kind = np.float16 if grade == "fp16" else ml_dtypes.bfloat16
    with np.errstate(over="ignore"):
        return np.asarray(array.astype(kind).astype(array.dtype))


def _round(chain: Chain, grade: str) -> str:
    x, graph = chain.start, chain.graph
    if grade == "fp16":
        half = chain.add("Cast", [x], to=TensorProto.FLOAT16)
        return chain.add("Cast", [half], to=TensorProto.FLOAT)
    big = chain.add("Mul", [x, graph.scalar(_SPLITTER[grade], x)])
    return chain.add("Sub", [big, chain.add("Sub", [big, x])])


def _round_inputs(grade: str) -> Callable[[Graph, NodeProto, float], None]:
    def apply(graph: Graph, node: NodeProto, distance: float) -> None:
        place = 1 if graph.input_value(node, 0) is not None else 0
        chain = graph.before(node, place)
        chain.done(_round(chain, grade))

    return apply


def _round_weights(grade: str) -> Callable[[Graph, NodeProto, float], None]:
    def apply(graph: Graph, node: NodeProto, distance: float) -> None:
        for place in weight_places(graph, node):
            value = graph.input_value(node, place)
            assert value is not None
            graph.replace_input(node, place, rounded(value, grade))

    return apply


def _round_output(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.after(node)
    chain.done(_round(chain, "fp16"))


def _scaled(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.after(node)
    chain.done(chain.add("Mul", [chain.start, graph.scalar(1 + distance, node_like(graph, chain))]))


def node_like(graph: Graph, chain: Chain) -> str:
    """The value whose type new constants at this edge take."""
    return chain.start


def _noisy(graph: Graph, node: NodeProto, distance: float) -> None:
    """y * (1 + d * sin(977 y)): a relative error that is different for every value, the same in every run."""
    chain = graph.after(node)
    fast = chain.add("Mul", [chain.start, graph.scalar(977.0, chain.start)])
    ripple = chain.add("Mul", [chain.add("Sin", [fast]), graph.scalar(distance, chain.start)])
    chain.done(chain.add("Add", [chain.start, chain.add("Mul", [chain.start, ripple])]))


def _float32_nodes(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in float_nodes(graph) if graph.dtype(node.output[0]) == TensorProto.FLOAT]


_GRADES = {"tf32": "11 significant bits", "bf16": "8 significant bits", "fp16": "half precision"}

OPERATORS = (
    *(
        MutationOperator(f"{grade}-inputs", f"a product computed on inputs rounded to {bits}", layers, _round_inputs(grade))
        for grade, bits in _GRADES.items()
    ),
    *(
        MutationOperator(f"{grade}-weights", f"weights stored with {bits}", weighted, _round_weights(grade))
        for grade, bits in _GRADES.items()
    ),
    MutationOperator("fp16-output", "a result kept in half precision between two kernels", _float32_nodes, _round_output),
    MutationOperator("scale-off", "a scale constant with too few digits", float_nodes, _scaled, 2.0**-12, "relative error of the factor"),
    MutationOperator("noise", "a fast approximation of a function", float_nodes, _noisy, 2.0**-12, "relative amplitude"),
)  # fmt: skip
