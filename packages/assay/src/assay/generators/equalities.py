"""Graphs changed by equalities that keep the answer: what is put in and taken out again must not be seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto

from assay.generators.build import Build, Operand
from assay.generators.compose import finished, grow
from assay.generators.draws import Draws
from assay.generators.kinds import next_by_kind
from assay.generators.near_misses import BY_KIND, OPSETS, next_rewritten
from assay.generators.schemas import NotMade
from assay.ports.generator import GeneratedCase

DISGUISED = 60
"""Percent of the values."""


class Equalities:
    """Each value may pass through a chain that changes nothing before it is read."""

    name = "equalities"
    version = 9
    about = "short chains with casts there and back, transposes and their inverses, whole slices and other steps that change nothing"

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        draws = Draws(self.name, self.version, seed, index)
        build = Build(draws, draws.one_of(OPSETS), reuse=90)
        try:
            choose = next_by_kind if draws.chance(BY_KIND) else next_rewritten
            return finished(build, grow(build, draws.between(1, 4), choose, disguise), 20)
        except NotMade:
            return None


def disguise(build: Build, value: Operand) -> Operand:
    """The same numbers under another name; the value itself where nothing fits."""
    return changed_form(build, value) if build.draws.chance(DISGUISED) else value


def changed_form(build: Build, value: Operand) -> Operand:
    """Through one such step, where the one that is drawn fits."""
    mark = build.mark()
    try:
        return build.draws.one_of(_STEPS)(build, value)
    except NotMade:
        build.undo(mark)
        return value


def _identity(build: Build, value: Operand) -> Operand:
    return _one(build, "Identity", [value])


def _casts(build: Build, value: Operand) -> Operand:
    if value.dtype != "float32":
        raise NotMade
    wide = _one(build, "Cast", [value], to=TensorProto.DOUBLE)
    return _one(build, "Cast", [wide], to=TensorProto.FLOAT)


def _reshapes(build: Build, value: Operand) -> Operand:
    if 0 in value.shape:
        raise NotMade
    flat = _one(build, "Reshape", [value, build.steering([-1])])
    return _one(build, "Reshape", [flat, build.steering([*value.shape])])


def _transposes(build: Build, value: Operand) -> Operand:
    perm = build.draws.shuffled(range(value.rank))
    turned = _one(build, "Transpose", [value], perm=perm)
    return _one(build, "Transpose", [turned], perm=[perm.index(place) for place in range(value.rank)])


def _axes(build: Build, value: Operand) -> Operand:
    axis = build.draws.between(0, value.rank)
    if build.opset < 13:
        return _one(build, "Squeeze", [_one(build, "Unsqueeze", [value], axes=[axis])], axes=[axis])
    more = _one(build, "Unsqueeze", [value, build.steering([axis])])
    return _one(build, "Squeeze", [more, build.steering([axis])])


def _slice(build: Build, value: Operand) -> Operand:
    if not value.rank:
        raise NotMade
    axis = build.draws.below(value.rank)
    if build.opset < 10:
        return _one(build, "Slice", [value], starts=[0], ends=[2**31 - 1], axes=[axis])
    return _one(build, "Slice", [value, *(build.steering([number]) for number in (0, 2**31 - 1, axis))])


def _parts(build: Build, value: Operand) -> Operand:
    if not value.rank or max(value.shape) < 2:
        raise NotMade
    axis = value.shape.index(max(value.shape))
    first = build.draws.between(1, value.shape[axis] - 1)
    sizes = [first, value.shape[axis] - first]
    if build.opset < 13:
        parts = build.node("Split", [value], 2, axis=axis, split=sizes)
    else:
        parts = build.node("Split", [value, build.steering(sizes)], 2, axis=axis)
    return _one(build, "Concat", parts, axis=axis)


def _neutral(build: Build, value: Operand) -> Operand:
    if value.dtype not in ("float32", "float64", "int32", "int64"):
        raise NotMade
    operator, number = build.draws.one_of((("Add", 0), ("Sub", 0), ("Mul", 1), ("Div", 1)))
    shape = build.draws.one_of(((), (1,) * value.rank, value.shape[-1:]))
    return _one(build, operator, [value, build.constant(np.full(shape, number, value.dtype))])


def _negations(build: Build, value: Operand) -> Operand:
    if value.dtype not in ("float32", "float64"):
        raise NotMade
    return _one(build, "Neg", [_one(build, "Neg", [value])])


def _dropout(build: Build, value: Operand) -> Operand:
    if value.dtype != "float32":
        raise NotMade
    return _one(build, "Dropout", [value])


_STEPS: tuple[Callable[[Build, Operand], Operand], ...] = (
    _identity, _casts, _reshapes, _transposes, _axes, _slice, _parts, _neutral, _negations, _dropout,
)  # fmt: skip


def _one(build: Build, operator: str, reads: list[Operand], **attributes: object) -> Operand:
    (operand,) = build.node(operator, reads, **attributes)  # type: ignore[arg-type]
    return operand
