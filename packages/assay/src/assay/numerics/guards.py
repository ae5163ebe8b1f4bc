"""What guards an operator against values that it has no number for: an epsilon, a lower end, a Relu before a logarithm, a root, a divisor,
a Where before or behind them.

Log(Clip(x, 1e-5))    x / (norm + 1e-8)    Sqrt(Relu(x))    Where(n == 0, 0, x / n)    the epsilon of a LayerNormalization
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from assay.numerics.operators.index import record_of
from assay.numerics.shapes.needed_values import DIVISOR, DOMAIN
from assay.numerics.shapes.values import UNKNOWN, Node, Value, of_data
from assay.ports import Tensor

EPSILON = "epsilon"
STORED_VARIANCE = "BatchNormalization"
"""Its epsilon guards a number of the model itself: inputs have no part in it."""
_LOWER_END = 1
"""Where a Clip has it among its inputs."""
_COMMUTING = ("Add", "Max", "Mul", "Sum")
_SIGNS = {"Add": 1, "Sum": 1, "Max": 1, "Sub": -1}
"""Of a number that keeps the other operand away from zero, or from below it."""
SMALL = 2.0**-7
"""An epsilon for each channel is no larger: else equal numbers are weights."""
ALWAYS, NEVER = "assay/always", "assay/never"
"""Conditions of a Where that has become no choice."""
_MANY = 1 << 16
"""Elements of a stored tensor that is not looked at any more."""


@dataclass(frozen=True)
class _Scope:
    """`producers` by value, single `numbers`, all that is `stored`, and `moving`: what depends on the inputs of the model."""

    producers: dict[str, NodeProto]
    numbers: dict[str, Tensor]
    stored: frozenset[str]
    moving: frozenset[str]


def guards_of(proto: ModelProto) -> dict[str, str]:
    """By the output of each operator that guards another, the value that it guards."""
    scope = _scope(proto)
    guards = {
        guard.output[0]: guarded
        for operator in proto.graph.node
        for place in _demanded(operator, scope)
        for guard, guarded in _before(operator.input[place], scope)
    }
    guards |= {node.output[0]: chosen for node in proto.graph.node if (chosen := _chosen_behind(node, scope))}
    normal = [node for node in proto.graph.node if EPSILON in _attributes(node) and node.op_type != STORED_VARIANCE]
    return guards | {node.output[0]: node.input[0] for node in normal}


def with_epsilon(proto: ModelProto) -> frozenset[str]:
    """Operators of the model that have an epsilon of their own."""
    return frozenset(node.op_type for node in proto.graph.node if EPSILON in _attributes(node))


def without(proto: ModelProto, guards: Mapping[str, str]) -> ModelProto:
    """A copy in which these guard nothing: what was guarded goes on as it is."""
    copy = ModelProto()
    copy.CopyFrom(proto)
    for node in copy.graph.node:
        guarded = guards.get(node.output[0]) if node.output else None
        if guarded is None:
            continue
        if EPSILON in _attributes(node):
            _put(node, EPSILON, 0.0)
        elif node.op_type == "Where":
            node.input[0] = ALWAYS if node.input[1] == guarded else NEVER
        elif node.op_type == "Clip":
            _put(node, "min", None)
            if len(node.input) > _LOWER_END:
                node.input[_LOWER_END] = ""
        else:
            node.CopyFrom(helper.make_node("Identity", [guarded], list(node.output), name=node.name))
    for name, value in ((ALWAYS, True), (NEVER, False)):
        if any(name in node.input for node in copy.graph.node):
            stored = numpy_helper.from_array(np.asarray(value))
            copy.graph.node.insert(0, helper.make_node("Constant", [], [name], value=stored))
    return copy


def _scope(proto: ModelProto) -> _Scope:
    graph = proto.graph
    stored = {tensor.name for tensor in graph.initializer}
    numbers = {tensor.name: number for tensor in graph.initializer if (number := _stored_number(tensor)) is not None}
    moving = {value.name for value in graph.input} - stored
    for node in graph.node:
        if node.op_type == "Constant" and (number := _number(node)) is not None:
            numbers[node.output[0]] = number
        elif any(name in moving for name in node.input) or any(attribute.HasField("g") for attribute in node.attribute):
            moving.update(name for name in node.output if name)
    producers = {name: node for node in graph.node for name in node.output if name}
    return _Scope(producers, numbers, frozenset(stored), frozenset(moving))


def _stored_number(tensor: TensorProto) -> Tensor | None:
    """One, or the one that all elements are where it is small; else None."""
    if not any(size > 1 for size in tensor.dims):
        return numpy_helper.to_array(tensor)
    if math.prod(tensor.dims) > _MANY or tensor.data_type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        return None
    values = numpy_helper.to_array(tensor).reshape(-1)
    is_epsilon = values.size and (values == values[0]).all() and 0 < abs(values[0]) <= SMALL
    return values[:1] if is_epsilon else None


def _number(node: NodeProto) -> Tensor | None:
    """Of a Constant; None for texts, lists and large ones."""
    (attribute,) = node.attribute
    if attribute.name == "value" and not any(size > 1 for size in attribute.t.dims):
        return numpy_helper.to_array(attribute.t)
    return np.asarray(attribute.f, np.float32) if attribute.name == "value_float" else None


def _demanded(node: NodeProto, scope: _Scope) -> Iterator[int]:
    """Which inputs must lie in the domain of the operator, or not be zero."""
    if node.op_type == "Pow" and (power := scope.numbers.get(node.input[1])) is not None and (power < 0).all():
        yield from (0,) if node.input[0] in scope.moving else ()
        return
    ranges = record_of(node.op_type).ranges
    if ranges is None or node.attribute:  # what has a domain of its own is a function of numbers alone
        return
    values: list[Value] = [of_data(scope.numbers[name]) if name in scope.numbers else UNKNOWN for name in node.input]
    plain = Node(node.op_type, node.domain, node.name, tuple(node.input), tuple(node.output), {})
    for place, need in ranges(plain, values):
        if need.kind in (DOMAIN, DIVISOR) and place < len(node.input) and node.input[place] in scope.moving:
            yield place


def _before(name: str, scope: _Scope) -> Iterator[tuple[NodeProto, str]]:
    """The guard of a value, and what it guards: the first one, through operators of one operand that keep what is guarded."""
    while (node := scope.producers.get(name)) is not None:
        record = record_of(node.op_type)
        steers = (*record.steers, *((0,) if node.op_type == "Where" else ()))
        moving = [at for at, operand in enumerate(node.input) if operand in scope.moving and at not in steers]
        if len(moving) != 1 or (moving[0] and node.op_type not in (*_COMMUTING, "Where")):
            return
        if _is_guard(node, scope):
            yield node, node.input[moving[0]]
            return
        if not (record.carries or record.ranges or record.free or record.order):
            return
        name = node.input[moving[0]]


def _chosen_behind(node: NodeProto, scope: _Scope) -> str | None:
    """What a Where takes of an operator that has no number for every value, unless its condition says that another is taken:
    Where(norm == 0, 0, x / norm)."""
    if node.op_type != "Where" or not (chosen := _chosen(node, scope)):
        return None
    name: str | None = chosen
    while (before := scope.producers.get(name or "")) is not None:
        if next(_demanded(before, scope), None) is not None:
            return chosen
        moving = [operand for operand in before.input if operand in scope.moving]
        name = moving[0] if len(moving) == 1 else None
    return None


def _chosen(node: NodeProto, scope: _Scope) -> str | None:
    """Of a Where between what is computed and what is not, by a condition that is computed: the former."""
    condition, *values = node.input
    computed = [name for name in values if name in scope.moving]
    return computed[0] if condition in scope.moving and len(computed) == 1 else None


def _is_guard(node: NodeProto, scope: _Scope) -> bool:
    """Whether it may keep what it gives from being zero, or below."""
    if node.op_type in ("Relu", "Clip"):
        return True
    if node.op_type == "Where":
        return _chosen(node, scope) is not None
    others = [name for name in node.input if name and name not in scope.moving]
    sign = _SIGNS.get(node.op_type)
    return sign is not None and all(_may_be_positive(name, sign, scope) for name in others)


def _may_be_positive(name: str, sign: int, scope: _Scope) -> bool:
    """One number; one that is computed may be any."""
    number = scope.numbers.get(name)
    return name not in scope.stored if number is None else bool((sign * number >= 0).all())


def _attributes(node: NodeProto) -> frozenset[str]:
    """Those that it has, stated or not."""
    from onnx import defs

    stated = frozenset(attribute.name for attribute in node.attribute)
    if EPSILON in stated or not defs.has(node.op_type, node.domain):
        return stated
    return stated | frozenset(defs.get_schema(node.op_type, domain=node.domain).attributes)


def _put(node: NodeProto, name: str, value: float | None) -> None:
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend(kept)
    if value is not None:
        node.attribute.append(helper.make_attribute(name, value))
