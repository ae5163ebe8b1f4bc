"""One node in another form with the same answer: terms regrouped, transposes pushed through it, a dead branch beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.generators.build import Build, Operand
from assay.generators.equalities import changed_form
from assay.generators.schemas import NotMade

GROUPED = frozenset(("Add", "Mul", "Max", "Min", "And", "Or"))
"""(a + b) + c is a + (b + c): of real numbers but for rounding, which the derived tolerance of the changed form allows."""
ELEMENTWISE = GROUPED | frozenset((
    *("Sub", "Div", "Pow", "Sum", "Mean", "Where", "Equal", "Less", "Greater", "Abs", "Neg", "Exp", "Log", "Sqrt", "Relu", "Tanh"),
    *("Sigmoid", "Erf", "Floor", "Ceil", "Clip", "Elu", "LeakyRelu", "HardSigmoid", "Softplus", "Gelu", "Not", "Cast", "Reciprocal"),
))  # fmt: skip
ALONG = frozenset(("Softmax", "LogSoftmax", "Concat", "Hardmax"))
"""They work along `axis`, which moves with a transpose; the first ones since opset 13, before which they fold the axes behind it."""


@dataclass(frozen=True)
class Known:
    """A node as the model has it. `makers` are the nodes before it, by the name of the first value that each gives."""

    operator: str
    reads: tuple[Operand | None, ...]
    attributes: Mapping[str, Any]
    outputs: int = 1
    makers: Mapping[str, Known] = field(default_factory=dict)

    def built(self, build: Build) -> list[Operand]:
        """As it is."""
        return build.node(self.operator, self.reads, self.outputs, **self.attributes)


def equal_node(build: Build, node: Known) -> list[Operand]:
    """Its outputs, computed in another way; as it is where nothing fits."""
    for way in build.draws.shuffled(_WAYS):
        mark = build.mark()
        try:
            return way(build, node)
        except NotMade:
            build.undo(mark)
    return node.built(build)


def _read(node: Known, place: int) -> Operand:
    operand = node.reads[place] if place < len(node.reads) else None
    if operand is None:
        raise NotMade
    return operand


def _regrouped(build: Build, node: Known) -> list[Operand]:
    """(a + b) + c as a + (b + c), or as (a + c) + b."""
    if node.operator not in (*GROUPED, "MatMul") or len(node.reads) != 2:
        raise NotMade
    inner = node.makers.get(_read(node, 0).name)
    if inner is None or inner.operator != node.operator or len(inner.reads) != 2:
        raise NotMade
    first, second, third = _read(inner, 0), _read(inner, 1), _read(node, 1)
    if node.operator == "MatMul":
        if {operand.rank for operand in (first, second, third)} != {2}:
            raise NotMade
    elif build.draws.chance(40):
        second, third = third, second
        return build.node(node.operator, [_one(build, node.operator, [first, second]), third])
    return build.node(node.operator, [first, _one(build, node.operator, [second, third])])


def _distributed(build: Build, node: Known) -> list[Operand]:
    """(a + b) * c as a * c + b * c."""
    if node.operator not in ("Mul", "MatMul") or not is_floating(_read(node, 0).dtype):
        raise NotMade
    inner = node.makers.get(_read(node, 0).name)
    if inner is None or inner.operator not in ("Add", "Sub") or len(inner.reads) != 2:
        raise NotMade
    parts = [_read(inner, 0), _read(inner, 1)]
    if node.operator == "MatMul" and any(part.shape != _read(node, 0).shape for part in parts):
        raise NotMade
    return build.node(inner.operator, [_one(build, node.operator, [part, _read(node, 1)]) for part in parts])


def _transposed(build: Build, node: Known) -> list[Operand]:
    """f(x) as the inverse transpose of f of the transposed x."""
    operands = [operand for operand in node.reads if operand is not None]
    rank = max((operand.rank for operand in operands), default=0)
    attributes = dict(node.attributes)
    if node.outputs != 1 or rank < 2 or len(operands) != len(node.reads):
        raise NotMade
    perm = build.draws.shuffled(range(rank))
    if node.operator in ALONG:
        if (build.opset < 13 and node.operator != "Concat") or any(operand.rank != rank for operand in operands):
            raise NotMade
        attributes["axis"] = perm.index(attributes.get("axis", -1) % rank)
    elif node.operator not in ELEMENTWISE:
        raise NotMade
    turned = [_turned(build, operand, rank, perm) for operand in operands]
    inside = _one(build, node.operator, turned, **attributes)
    return build.node("Transpose", [inside], perm=[perm.index(place) for place in range(rank)])


def _turned(build: Build, operand: Operand, rank: int, perm: Sequence[int]) -> Operand:
    """Transposed, with axes of one before its own; a single number stays."""
    if not operand.rank:
        return operand
    if operand.rank < rank:
        full = (1,) * (rank - operand.rank) + operand.shape
        operand = _one(build, "Reshape", [operand, build.steering(full)])
    return _one(build, "Transpose", [operand], perm=[*perm])


def _product_turned(build: Build, node: Known) -> list[Operand]:
    """A B as the transpose of B' A'."""
    if node.operator != "MatMul" or _read(node, 0).rank < 2 or _read(node, 1).rank < 2:
        raise NotMade
    turned = [_one(build, "Transpose", [operand], perm=_last_two(operand.rank)) for operand in node.reads if operand]
    inside = _one(build, "MatMul", turned[::-1])
    return build.node("Transpose", [inside], perm=_last_two(inside.rank))


def _last_two(rank: int) -> list[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


def _beside_dead_branch(build: Build, node: Known) -> list[Operand]:
    """What a condition never chooses, what is multiplied by 0, what nobody reads."""
    outputs = node.built(build)
    first = outputs[0]
    if first.dtype not in ("float32", "float64", "int32", "int64"):
        raise NotMade
    branch = _one(
        build, "Mul", [first, build.constant(np.asarray(build.draws.between(2, 3), numpy_dtype(first.dtype)))]
    )
    way = build.draws.below(3)
    if way == 0:
        holds = bool(build.draws.below(2))
        chosen = [first, branch] if holds else [branch, first]
        return [_one(build, "Where", [build.constant(np.full(first.shape[-1:], holds)), *chosen]), *outputs[1:]]
    if way == 1:
        nothing = _one(build, "Mul", [branch, build.constant(np.zeros((1,), numpy_dtype(first.dtype)))])
        if not first.rank:
            raise NotMade
        return [_one(build, "Add", [first, nothing]), *outputs[1:]]
    return outputs


def _steps_around(build: Build, node: Known) -> list[Operand]:
    """Casts there and back, a reshape and its inverse, `+ 0`, several in a row, before a value that it reads or behind what it gives."""
    fed = [place for place, operand in enumerate(node.reads) if operand is not None and operand.constant is None]
    if not fed or build.draws.chance(50):
        first, *others = node.built(build)
        return [_chain(build, first), *others]
    place = build.draws.one_of(fed)
    reads = [*node.reads]
    reads[place] = _chain(build, _read(node, place))
    return build.node(node.operator, reads, node.outputs, **node.attributes)


def _chain(build: Build, operand: Operand) -> Operand:
    for _ in range(build.draws.between(1, 3)):
        operand = changed_form(build, operand)
    return operand


_WAYS: tuple[Callable[[Build, Known], list[Operand]], ...] = (
    _regrouped, _distributed, _transposed, _product_turned, _beside_dead_branch, _steps_around,
)  # fmt: skip


def _one(build: Build, operator: str, reads: Sequence[Operand | None], **attributes: Any) -> Operand:
    (operand,) = build.node(operator, reads, **attributes)
    return operand
