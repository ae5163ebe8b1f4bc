"""Parts of a case: fewer nodes, fed with what float64 gives for the values at their border."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from onnx import helper

from assay.errors import Lowering
from assay.generators.case_values import CaseValues
from assay.generators.other_operators import GRID
from assay.generators.schemas import NotMade
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase


def single_nodes(values: CaseValues) -> Iterator[GeneratedCase]:
    """Each node alone, in the order of the graph; nothing where there is but one."""
    nodes = values.model.graph.node
    if len(nodes) > 1:
        for place, node in enumerate(nodes):
            part = part_of(values, [place], [name for name in node.output if name])
            if part is not None:
                yield part


def nodes_alone(case: GeneratedCase) -> list[GeneratedCase]:
    """Each node at the sizes of these inputs, the whole where there is but one. None where nobody can evaluate it."""
    try:
        values = CaseValues(case)
        values.evaluate()
    except (Lowering, NotMade):
        return []
    parts = [*single_nodes(values)]
    whole = None if len(values.model.graph.node) > 1 else part_of(values, [0], [*values.outputs])
    return [*parts, *([whole] if whole is not None else [])]


def behind_quantizers(case: GeneratedCase) -> list[GeneratedCase]:
    """Each node that is no quantizer, with the quantizers that its operands come through. None where nobody can evaluate it."""
    try:
        values = CaseValues(case)
        values.evaluate()
    except (Lowering, NotMade):
        return []
    nodes = values.model.graph.node
    makers = {name: place for place, node in enumerate(nodes) for name in node.output if name}
    parts = []
    for place, node in enumerate(nodes):
        places, reads = [place], [*node.input]
        for name in reads if node.op_type not in GRID else ():
            maker = makers.get(name)
            if maker is not None and maker not in places and nodes[maker].op_type in GRID:
                places.append(maker)
                reads += nodes[maker].input
        if 1 < len(places) < len(nodes):
            parts.append(part_of(values, sorted(places), [name for name in node.output if name]))
    return [part for part in parts if part is not None]


def without_quantizers(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """Without those that its inputs come through; those of constants stay."""
    try:
        values = CaseValues(case)
        values.evaluate()
    except (Lowering, NotMade):
        return
    nodes = values.model.graph.node
    stored = {constant.name for constant in values.model.graph.initializer}
    kept = [place for place, node in enumerate(nodes) if node.op_type not in GRID or node.input[0] in stored]
    if 1 < len(kept) < len(nodes) and (part := part_of(values, kept, [*values.outputs])) is not None:
        yield "quantizers", part


def shorter(values: CaseValues, output: str) -> Iterator[GeneratedCase]:
    """Parts that are tried in turn where no node alone is wrong: what the wrong output needs, with that output alone; then what leads to a
    value that its node reads, with that value as the output; then all without one of the other outputs, and without one more node,
    whose outputs are fed instead."""
    nodes = values.model.graph.node
    needed = needed_for(nodes, {output})
    if len(needed) < len(nodes) or len(values.outputs) > 1:
        part = part_of(values, needed, [output])
        if part is not None:
            yield part
    for name in dict.fromkeys(name for node in nodes if output in node.output for name in node.input if name):
        if before := needed_for(nodes, {name}):
            part = part_of(values, before, [name])
            if part is not None:
                yield part
    kept = [*values.outputs]
    for left in kept[::-1] if len(kept) > 2 else ():
        rest = [name for name in kept if name != left]
        if left != output and (part := part_of(values, needed_for(nodes, {*rest}), rest)) is not None:
            yield part
    for place in range(len(nodes)):
        if any(name in kept for name in nodes[place].output):
            continue
        part = part_of(values, [number for number in range(len(nodes)) if number != place], kept)
        if part is not None:
            yield part


def needed_for(nodes: Sequence[Any], outputs: set[str]) -> list[int]:
    """The places of the nodes that lead to these values."""
    needed, places = {*outputs}, []
    for place in range(len(nodes) - 1, -1, -1):
        if needed & set(nodes[place].output):
            places.append(place)
            needed |= set(nodes[place].input)
    return places[::-1]


def part_of(values: CaseValues, places: Sequence[int], outputs: Sequence[str]) -> GeneratedCase | None:
    """These nodes. None where the type of a value is not known, or nothing is fed."""
    model = values.model
    types, shapes = values.types(), values.all()
    nodes = [model.graph.node[place] for place in places]
    made = {name for node in nodes for name in node.output}
    reads = dict.fromkeys(name for node in nodes for name in node.input if name and name not in made)
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    fed = [name for name in reads if name not in stored]
    if not fed or not outputs or any(name not in types or name not in shapes for name in (*fed, *outputs)):
        return None
    if any(name not in made for name in outputs):
        return None
    feeds: dict[str, Tensor] = {name: _in_type(shapes[name], types[name]) for name in fed}
    graph = helper.make_graph(
        nodes,
        "part",
        [_declared(name, types[name], feeds[name].shape) for name in fed],
        [_declared(name, types[name], shapes[name].shape) for name in outputs],
        [stored[name] for name in reads if name in stored],
    )
    part = helper.make_model(
        graph, opset_imports=model.opset_import, ir_version=model.ir_version, producer_name=model.producer_name
    )
    return GeneratedCase(part.SerializeToString(deterministic=True), feeds)


def _in_type(value: Tensor, element: int) -> Tensor:
    return np.asarray(value).astype(helper.tensor_dtype_to_np_dtype(element))


def _declared(name: str, element: int, shape: Sequence[int]) -> Any:
    return helper.make_tensor_value_info(name, element, list(shape))
