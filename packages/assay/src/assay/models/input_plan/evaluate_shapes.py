"""Walks a graph with given sizes of its inputs."""

from __future__ import annotations

from collections.abc import Mapping

# The rules of the operators register themselves.
from assay.models.input_plan import (  # noqa: F401
    rules_control,
    rules_elementwise,
    rules_linear,
    rules_movement,
    rules_sizes,
    rules_window,
)
from assay.models.input_plan.graph import Array, Dims, Graph, Value, of_data
from assay.models.input_plan.shape_engine import EMPTY, Evaluation, Unmet
from assay.models.input_plan.shape_rules import Conflict


def evaluate(graph: Graph, shapes: Mapping[str, Dims | None], data: Mapping[str, Array]) -> Evaluation:
    """The graph with inputs of these shapes, and of these values where they are given. An output that would be empty is an
    unmet constraint, too."""
    found = Evaluation(opset=graph.opset)
    for name in graph.inputs:
        found.values[name] = of_data(data[name]) if name in data else Value(shapes.get(name))
    try:
        outputs = found.walk(graph, found.values)
    except Conflict:
        return found
    for name, value in zip(graph.outputs, outputs, strict=True):
        if value.shape is not None and 0 in value.shape:
            text = f"it would be empty, of shape {list(value.shape)}"
            found.unmet = Unmet(name, EMPTY, text, (), found.progress + 1)
            break
    return found
