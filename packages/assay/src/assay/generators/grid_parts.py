"""A node between two grids taken off: what it gives is put on the grid that it reads from, so that its reader is behind a grid still."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from assay.errors import Lowering
from assay.generators.case_parts import needed_for, part_of
from assay.generators.case_values import CaseValues
from assay.generators.other_operators import GRID
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

TYPES = ("int8", "uint8", "int16", "uint16")


def on_the_grid_before(values: CaseValues, output: str) -> Iterator[GeneratedCase]:
    """Each node alone taken off that reads from a DequantizeLinear of one scale and gives real numbers. A fusion wants a grid on both
    sides: without one, the rest would be right."""
    nodes = values.model.graph.node
    grids = {node.output[0]: node for node in nodes if node.op_type == "DequantizeLinear"}
    for place, node in enumerate(nodes):
        grid = next((grids[name] for name in node.input if name in grids), None)
        if node.op_type in GRID or grid is None or node.output[0] in values.outputs:
            continue
        whole = _read_from_grid(values, place, grid)
        if whole is not None and (part := _evaluated_part(whole, output)) is not None:
            yield part


def _read_from_grid(values: CaseValues, place: int, grid: Any) -> GeneratedCase | None:
    """The case in which a DequantizeLinear on that grid gives what the node at that place gives, as near as the grid has it."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in values.model.graph.initializer}
    types, gives = values.types(), values.model.graph.node[place].output[0]
    scale, zero = (stored.get(name) for name in (*grid.input[1:], "", "")[:2])
    element = types.get(grid.input[0], 0)
    if scale is None or scale.size != 1 or gives not in values.wide or types.get(gives) != types.get(grid.output[0]):
        return None
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(element))
    if dtype.name not in TYPES or (zero is None and len(grid.input) > 2):
        return None
    fed = f"{gives}/grid"
    model = onnx.ModelProto()
    model.CopyFrom(values.model)
    name = model.graph.node[place].name
    model.graph.node[place].CopyFrom(helper.make_node(grid.op_type, [fed, *grid.input[1:]], [gives], name=name))
    steps = _steps(values.wide[gives], scale, zero, dtype)
    model.graph.input.append(helper.make_tensor_value_info(fed, element, list(steps.shape)))
    inputs: Mapping[str, Tensor] = {**values.case.inputs, fed: steps}
    return dataclasses.replace(
        values.case, model=model.SerializeToString(deterministic=True), inputs=inputs, others=(), uses=()
    )


def _steps(numbers: Tensor, scale: Tensor, zero: Tensor | None, dtype: np.dtype[Any]) -> Tensor:
    ends = np.iinfo(dtype)
    middle = 0 if zero is None else int(zero.reshape(()))
    steps = np.rint(numbers / float(scale.reshape(()))) + middle
    return np.asarray(np.clip(steps, ends.min, ends.max).astype(dtype))


def _evaluated_part(case: GeneratedCase, output: str) -> GeneratedCase | None:
    values = CaseValues(case)
    try:
        values.evaluate()
    except Lowering:
        return None
    return part_of(values, needed_for(values.model.graph.node, {output}), [output])
