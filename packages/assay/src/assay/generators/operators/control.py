"""Graphs within nodes: branches, loops and scans, whose bodies read their own inputs and values from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from assay.generators.build import Build, Operand, numpy_of
from assay.generators.operators.form import form
from assay.generators.output_types import declared
from assay.generators.schemas import NotMade

_TYPES = ("float32", "float32", "float64", "int64")


def _steps(build: Build, source: str, target: str, name: str, dtype: str, other: str) -> list[Any]:
    """One to three nodes from a value to a value of the same type and shape; `other` is one to compute with."""
    draws = build.draws
    nodes, before = [], source
    for place in range(count := draws.between(1, 3)):
        after = target if place == count - 1 else f"{name}_{place}"
        operator = draws.one_of(("Add", "Sub", "Max", "Min", "Neg", "Identity", "Abs"))
        reads = [before, other] if operator in ("Add", "Sub", "Max", "Min") else [before]
        least = {"Max": 12, "Min": 12}.get(operator, 7)
        if build.opset < least or (dtype == "int64" and build.opset < 13 and operator in ("Max", "Min")):
            operator, reads = "Add", [before, other]
        nodes.append(helper.make_node(operator, reads[::-1] if draws.chance(30) else reads, [after]))
        before = after
    return nodes


def _name(build: Build) -> str:
    return f"b{len(build.nodes)}"


@form("If")
def branch(build: Build, operator: str) -> list[Operand]:
    """Both branches read what is outside; the condition is an input or a constant, which takes one of them away."""
    draws = build.draws
    dtype = draws.one_of(_TYPES)
    x = build.operand(dtype, ranks=(0, 1, 2, 3))
    y = build.operand(dtype, x.shape, fixed=40)
    name = _name(build)
    bodies = []
    for side in ("then", "else"):
        target = f"{name}_{side}"
        shaped = declared(target, numpy_of(dtype), x.shape)
        bodies.append(
            helper.make_graph(_steps(build, x.name, target, f"{name}_{side}_v", dtype, y.name), side, [], [shaped])
        )
    held = np.asarray(bool(draws.below(2)))
    condition = build.constant(held) if draws.chance(30) else build.input(held)
    outer = _passed(build, [x, y])
    made = build.node(operator, [condition], then_branch=bodies[0], else_branch=bodies[1], known=[(dtype, x.shape)])
    return [*made, *outer]


def _passed(build: Build, values: list[Operand]) -> list[Operand]:
    """What a body reads must be read by a node, too: an input that a body alone reads is not seen by `Build.case`."""
    total = values[0]
    for value in values[1:]:
        (total,) = build.node("Add", [total, value])
    return [total]


@form("Loop")
def loop(build: Build, operator: str) -> list[Operand]:
    """A value that is carried and one that is gathered, some times or none, until a condition falls."""
    draws = build.draws
    dtype = draws.one_of(_TYPES)
    x = build.operand(dtype, ranks=(0, 1, 2), low=-1, high=1)
    name = _name(build)
    trips, start = draws.between(1, 4), draws.chance(85)
    inside = [f"{name}_i", f"{name}_c", f"{name}_x"]
    step, unit = f"{name}_step", f"{name}_one"
    nodes = [
        helper.make_node("Cast", [inside[0]], [unit], to=helper.np_dtype_to_tensor_dtype(numpy_of(dtype))),
        *_steps(build, inside[2], step, f"{name}_v", dtype, unit),
    ]
    stops = build.opset >= 9 and draws.chance(35)
    last = draws.between(0, 3)
    limit = f"{name}_limit"
    held = [numpy_helper.from_array(np.asarray(last, np.int64), limit)] if stops else []
    nodes.append(
        helper.make_node("Less", [inside[0], limit], [f"{name}_next"])
        if stops
        else helper.make_node("Identity", [inside[1]], [f"{name}_next"])
    )
    kept = f"{name}_kept"
    nodes.append(helper.make_node(draws.one_of(("Identity", "Neg")), [draws.one_of((step, inside[2]))], [kept]))
    shaped = [declared(one_, numpy_of(dtype), x.shape) for one_ in (step, kept)]
    body = helper.make_graph(
        nodes,
        "body",
        [
            declared(inside[0], np.int64, ()),
            declared(inside[1], np.bool_, ()),
            declared(inside[2], numpy_of(dtype), x.shape),
        ],
        [helper.make_tensor_value_info(f"{name}_next", TensorProto.BOOL, []), *shaped],
        held,
    )
    count = min(trips, last + 1) if stops else trips
    if not start:
        count = 0
    reads: list[Operand | None] = [build.steering(trips), build.constant(np.asarray(start)), x]
    if draws.chance(20) and stops:
        reads[0], count = None, (last + 1 if start else 0)
    elif draws.chance(20) and start and not stops:
        reads[1] = None
    return build.node(operator, reads, 2, body=body, known=[(dtype, x.shape), (dtype, (count, *x.shape))])


@form("Scan")
def scan(build: Build, operator: str) -> list[Operand]:
    """Slices along any axis, in any direction, gathered along any axis."""
    draws = build.draws
    if build.opset < 9:
        raise NotMade
    dtype = draws.one_of(_TYPES[:3])
    slice_ = build.shape((0, 1, 2))
    length, name = draws.between(1, 4), _name(build)
    axis, out = draws.between(0, len(slice_)), draws.between(0, len(slice_))
    x = build.operand(dtype, (*slice_[:axis], length, *slice_[axis:]), low=-1, high=1)
    state = build.operand(dtype, slice_, low=-1, high=1)
    inside = [f"{name}_s", f"{name}_x"]
    step, kept = f"{name}_step", f"{name}_kept"
    body = helper.make_graph(
        [
            helper.make_node(draws.one_of(("Add", "Sub")), draws.shuffled(inside), [step]),
            helper.make_node(draws.one_of(("Identity", "Neg")), [draws.one_of((step, *inside))], [kept]),
        ],
        "body",
        [declared(value_name, numpy_of(dtype), slice_) for value_name in inside],
        [declared(value_name, numpy_of(dtype), slice_) for value_name in (step, kept)],
    )
    rank = len(slice_) + 1

    def named(place: int) -> list[int] | None:
        if place == 0 and draws.chance(40):
            return None
        return [place - rank if build.opset >= 11 and draws.chance(40) else place]

    gathered = (*slice_[:out], length, *slice_[out:])
    ways = [[flag] if (flag := draws.one_of((None, 0, 1))) is not None else None for _ in range(2)]
    return build.node(
        operator, [state, x], 2, body=body, num_scan_inputs=1, scan_input_axes=named(axis), scan_output_axes=named(out),
        scan_input_directions=ways[0], scan_output_directions=ways[1], known=[(dtype, slice_), (dtype, gathered)],
    )  # fmt: skip
