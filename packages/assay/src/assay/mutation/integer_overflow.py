"""Integers computed in a type that cannot hold them."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import NodeProto, TensorProto

from assay.mutation.graph import Graph, known
from assay.mutation.mutation_operator import MutationOperator


def _long(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.nodes:
        long = any(node.output) and graph.dtype(node.output[0]) == TensorProto.INT64
        if long and graph.value(node.output[0]) is None and node.op_type != "Identity":
            yield node


def _as_int32(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.after(node)
    narrow = chain.add("Cast", [chain.start], to=TensorProto.INT32)
    chain.done(chain.add("Cast", [narrow], to=TensorProto.INT64))


def _lengths(graph: Graph) -> Iterable[NodeProto]:
    """Arithmetic on integers; rounding of floats to whole numbers counts as such."""
    for node in graph.open_to("bf16-lengths"):
        kind = graph.dtype(node.output[0])
        if kind in (TensorProto.INT64, TensorProto.INT32) or known(node).rounds:
            yield node


def _in_bf16(graph: Graph, node: NodeProto, distance: float) -> None:
    """Eight significant bits: whole numbers up to 256 survive."""
    chain = graph.after(node)
    kind = graph.dtype(chain.start)
    whole = kind in (TensorProto.INT64, TensorProto.INT32)
    value = chain.add("Cast", [chain.start], to=TensorProto.FLOAT) if whole else chain.start
    like = chain.start if not whole else value
    big = chain.add("Mul", [value, graph.scalar(2.0**16 + 1, like)])
    rounded = chain.add("Sub", [big, chain.add("Sub", [big, value])])
    chain.done(chain.add("Cast", [rounded], to=kind) if whole else rounded)


def _casts(graph: Graph) -> Iterable[NodeProto]:
    """Casts from float to integer."""
    for node in graph.open_to("round-for-truncate"):
        if graph.is_float(node.input[0]) and graph.dtype(node.output[0]) in (TensorProto.INT64, TensorProto.INT32):
            yield node


def _round_first(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.before(node, 0)
    chain.done(chain.add("Round", [chain.start]))


OPERATORS = (
    MutationOperator("int32-for-int64", "int64 held in int32", _long, _as_int32),
    MutationOperator("bf16-lengths", "whole numbers computed in bfloat16", _lengths,
             _in_bf16),
    MutationOperator("round-for-truncate", "a float rounded where a cast truncates", _casts,
             _round_first),
)  # fmt: skip
