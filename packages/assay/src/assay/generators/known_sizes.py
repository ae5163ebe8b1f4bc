"""A model at sizes that it takes, with what follows from sizes alone as constants: exporters compute the shape of a Reshape, and inference
from types knows none behind it."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from assay.models.input_plan.graph import Graph, read_graph
from assay.models.input_plan.shape_engine import Evaluation
from assay.models.input_plan.sizes import Solution, solve
from assay.models.input_plan.symbols import shaped, symbols
from assay.numerics.shapes.values import UNKNOWN

SIZES = (16, 32, 48, 64, 96, 128)
"""That are tried for open axes but the batch, all at one size."""
LARGEST_INPUT = 65_536
"""Elements: what is larger takes seconds in float64."""
MOST_FOLDED = 64
"""Numbers of a value that becomes a constant: what computes more is no shape."""


def with_known_sizes(model: Any) -> Any:
    """A graph of it with the shapes that can be inferred. Sizes that the inputs leave open are 1 for the first axis and the smallest usual
    ones elsewhere that every operator takes; 1 where none are found."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    del fixed.graph.value_info[:]
    for value in fixed.graph.output:
        value.type.tensor_type.ClearField("shape")
    shapes, walked = _solved(fixed)
    for value in fixed.graph.input:
        chosen = shapes.get(value.name) or ()
        for place, axis in enumerate(value.type.tensor_type.shape.dim):
            if axis.dim_value <= 0:
                axis.dim_value = chosen[place] if place < len(chosen) else 1
    shaped_graph = onnx.shape_inference.infer_shapes(fixed, data_prop=True).graph
    if not (folded := _folded(shaped_graph, walked)):
        return shaped_graph
    nodes = [node for node in fixed.graph.node if not {*node.output} & folded.keys()]
    del fixed.graph.node[:]
    fixed.graph.node.extend(_read_ones(nodes, fixed.graph))
    fixed.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in folded.items())
    return onnx.shape_inference.infer_shapes(fixed, data_prop=True).graph


def _solved(model: Any) -> tuple[dict[str, tuple[int, ...] | None], Evaluation]:
    """Of usual sizes for all open axes but the batch those that leave windows most room, the fewest elements first; where none is taken,
    what a search finds."""
    try:
        graph: Graph = read_graph(model)
    except RuntimeError:  # functions that onnx cannot inline: nothing is known
        return {}, Evaluation()
    others = [name for name, is_batch in symbols(graph.declared).items() if not is_batch]
    tried = [dict.fromkeys(others, size) for size in SIZES] if others else [{}]
    solutions = [solve(graph, batch=1, fixed=fixed, data={}) for fixed in tried]
    good = [
        solution for solution in solutions if solution.unmet is None and _elements(graph, solution) <= LARGEST_INPUT
    ]
    chosen = min(good, key=lambda solution: (solution.walked.narrow, _elements(graph, solution)), default=None)
    chosen = chosen or solve(graph, batch=1, fixed={}, data={})
    if chosen.unmet is not None:
        return {}, Evaluation()
    return shaped(graph.declared, chosen.sizes), chosen.walked


def _elements(graph: Graph, solution: Solution) -> int:
    return max(
        (prod(shape) for shape in shaped(graph.declared, solution.sizes).values() if shape is not None), default=0
    )


def _folded(graph: Any, walked: Evaluation) -> dict[str, Any]:
    """Of nodes with one output, whole numbers that are known from sizes, in the type that inference knows. An output of the graph stays
    computed."""
    types = {value.name: value.type.tensor_type.elem_type for value in graph.value_info}
    folded = {}
    for node in graph.node:
        data = walked.values.get(node.output[0], UNKNOWN).data if len(node.output) == 1 else None
        element = types.get(node.output[0], 0) if node.output else 0
        if data is None or not element or data.size > MOST_FOLDED or node.op_type == "Constant":
            continue
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(element))
        if data.dtype.kind in "iub" and dtype.kind in "iub":
            folded[node.output[0]] = np.asarray(data).astype(dtype)
    return folded


def _read_ones(nodes: list[Any], graph: Any) -> list[Any]:
    """Those that lead to an output: what computed a shape is read by nobody now."""
    needed = {value.name for value in graph.output}
    kept = []
    for node in reversed(nodes):
        if needed & {*node.output}:
            kept.append(node)
            needed |= {*node.input} | {name for part in _subgraphs(node) for name in _outer_names(part)}
    return kept[::-1]


def _subgraphs(node: Any) -> list[Any]:
    return [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]


def _outer_names(graph: Any) -> set[str]:
    names = {name for node in graph.node for name in node.input} | {value.name for value in graph.output}
    return names.union(*(_outer_names(part) for node in graph.node for part in _subgraphs(node)))
