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
    evaluation = Evaluation(opset=graph.opset)
    for name in graph.inputs:
        evaluation.values[name] = of_data(data[name]) if name in data else Value(shapes.get(name))
    try:
        outputs = evaluation.walk(graph, evaluation.values)
    except Conflict:
        return evaluation
    for name, value in zip(graph.outputs, outputs, strict=True):
        if value.shape is not None and 0 in value.shape:
            evaluation.unmet = Unmet(Constraint(ConstraintCode.EMPTY_OUTPUT, node=name), (), evaluation.progress + 1)
            break
    return evaluation
