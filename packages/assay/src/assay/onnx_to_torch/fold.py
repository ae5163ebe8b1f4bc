"""Integers that constants alone decide are computed once, before anything is traced: they are mostly on their way to a shape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from assay.errors import Lowering
from assay.onnx_to_torch.dtypes import Array, from_numpy, to_numpy
from assay.onnx_to_torch.graph import Graph, dead_values
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import HOST, OPERATORS

LARGEST = 4096
"""Elements of all inputs together, and of each result."""

_KEPT = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "If", "Loop", "Scan", "SequenceMap")


def folded(graph: Graph) -> Graph:
    """The same graph with fewer nodes. Floating values are left to the graph: it may be computed in another precision."""
    constants = dict(graph.constants)
    nodes: list[Node] = []
    for node in graph.nodes:
        results = _results(node, constants)
        if results is None:
            nodes.append(node)
        else:
            constants.update(results)
    return replace(graph, constants=constants, nodes=tuple(nodes), dead=dead_values(nodes, set(graph.outputs)))


def _results(node: Node, constants: dict[str, Array]) -> dict[str, Array] | None:
    inputs = [constants.get(name) if name else None for name in node.inputs]
    known = all(array is not None or not name for array, name in zip(inputs, node.inputs, strict=True))
    if not known or not node.inputs or node.operator in _KEPT:
        return None
    if sum(array.size for array in inputs if array is not None) > LARGEST:
        return None
    operator = OPERATORS.get((node.domain, node.operator))
    if operator is None or (node.operator in HOST and node.operator in ("Shape", "Size")):
        return None
    try:
        arguments: list[Any] = [
            array if array is None or index in operator.host else from_numpy(array)
            for index, array in enumerate(inputs)
        ]
        made = operator.function(node, *arguments)
    except (Lowering, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        # The node says so itself, with its name, when the graph is traced.
        return None
    values = made if isinstance(made, tuple) else (made,)
    if not all(isinstance(value, torch.Tensor) and _is_small_integer(value) for value in values):
        return None
    return {name: to_numpy(value) for name, value in zip(node.outputs, values, strict=False) if name}


def _is_small_integer(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex() and tensor.numel() <= LARGEST
