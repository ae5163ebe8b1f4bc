"""Walks a graph with given sizes of its inputs."""

from __future__ import annotations

from collections.abc import Mapping

from assay.core.constraint import Constraint, ConstraintCode
from assay.models.input_plan.graph import Graph
from assay.models.input_plan.shape_engine import Evaluation, Unmet
from assay.numerics.shapes.constraints import Conflict
from assay.numerics.shapes.values import Array, Dims, Value, of_data


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
            found.unmet = Unmet(Constraint(ConstraintCode.EMPTY_OUTPUT, node=name), (), found.progress + 1)
            break
    return found
