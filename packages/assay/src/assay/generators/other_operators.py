"""What tells whether the operator matters in a case of one node: another one in its place that is not made alike and takes the same
operands; and one scale for all in place of one for each row."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import onnx
from onnx import helper, numpy_helper

from assay.core.screening import INSTEAD, SCALES
from assay.generators.operators import forms
from assay.generators.schemas import LATEST, NotMade, schema_at
from assay.ports.generator import GeneratedCase

GRID = ("QuantizeLinear", "DequantizeLinear")
OTHERS = {1: ("Relu", "Abs", "Neg", "Not"), 2: ("Add", "Min", "MatMul", "Gemm", "And")}
"""By the number of operands those that are tried; what makes no valid case says nothing."""


def in_place_of(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """Others in the place of the one node that is no quantizer ("instead Add")."""
    model = onnx.load_from_string(case.model)
    place = _place(model)
    if place is None:
        return
    node = model.graph.node[place]
    opset = next(imported.version for imported in model.opset_import if imported.domain == "")
    for name in OTHERS.get(len(node.input), ()):
        if name == node.op_type or forms().get(name) is forms().get(node.op_type, name):
            continue
        other = onnx.load_from_string(case.model)
        other.graph.node[place].CopyFrom(helper.make_node(name, node.input, node.output, name=node.name))
        for version in dict.fromkeys((opset, LATEST)):  # the newest takes more types
            for imported in other.opset_import:
                imported.version = version if imported.domain == "" else imported.version
            if _is_made(name, version):
                yield f"{INSTEAD}{name}", dataclasses.replace(case, model=_bytes(other))


def with_operator(case: GeneratedCase, mine: Sequence[str], theirs: Sequence[str]) -> GeneratedCase | None:
    """The case, whose operators are `mine`, with those of `theirs`, and of its attributes those that they know. None where its nodes are
    others, or one does not exist in that opset or with so many operands."""
    model = onnx.load_from_string(case.model)
    opset = next(imported.version for imported in model.opset_import if imported.domain == "")
    if [node.op_type for node in model.graph.node] != [*mine]:
        return None
    for node, name in zip(model.graph.node, theirs, strict=True):
        if node.op_type == name:
            continue
        if not _is_made(name, opset) or len(node.input) < schema_at(name, opset).min_input:
            return None
        del node.input[schema_at(name, opset).max_input :]
        known = schema_at(name, opset).attributes
        kept = [attribute for attribute in node.attribute if attribute.name in known]
        node.op_type = name
        del node.attribute[:]
        node.attribute.extend(kept)
    return dataclasses.replace(case, model=_bytes(model))


def with_one_scale(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """The first scale and zero point of each quantizer for all: "scales" where one of them has several."""
    model = onnx.load_from_string(case.model)
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    changed = False
    for node in model.graph.node:
        if node.op_type not in GRID:
            continue
        grids = [stored[name] for name in node.input[1:3] if name in stored]
        if len(grids) != len([name for name in node.input[1:3] if name]) or any(
            len(tensor.dims) > 1 for tensor in grids
        ):
            continue
        for tensor in grids:
            array = numpy_helper.to_array(tensor)
            if array.size > 1:
                tensor.CopyFrom(numpy_helper.from_array(array[0].reshape(()), tensor.name))
                changed = True
        if all(not tensor.dims for tensor in grids):
            kept = [attribute for attribute in node.attribute if attribute.name != "axis"]
            del node.attribute[:]
            node.attribute.extend(kept)
    if changed:
        yield SCALES, dataclasses.replace(case, model=_bytes(model))


def _is_made(name: str, opset: int) -> bool:
    try:
        schema_at(name, opset)
    except NotMade:
        return False
    return True


def _place(model: Any) -> int | None:
    """Of the one node that is no quantizer and has all its inputs; None where there are none or several."""
    places = [place for place, node in enumerate(model.graph.node) if node.op_type not in GRID]
    if len(places) != 1:
        return None
    node = model.graph.node[places[0]]
    return places[0] if len(node.output) == 1 and all(node.input) else None


def _bytes(model: Any) -> bytes:
    return bytes(model.SerializeToString(deterministic=True))
