"""Short chains of arithmetic, as compilers simplify it by the rules of algebra: 1 / x times y, x + 0, casts in a row. Such a rule holds for
some types, some constants, some shapes; here all of these meet."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assay.generators.build import Build, Operand, numpy_of
from assay.generators.compose import finished
from assay.generators.draws import Draws
from assay.generators.near_misses import OPSETS
from assay.generators.schemas import NotMade
from assay.generators.values import SPECIAL_NUMBERS
from assay.ports.generator import GeneratedCase

BINARY = ("Add", "Sub", "Mul", "Div", "Mul", "Div", "Pow", "Min", "Max")
UNARY = ("Neg", "Abs", "Reciprocal", "Sqrt", "Relu", "Sign", "Floor", "Identity")
TYPES = ("float32", "float32", "float16", "float64", "int32", "int64", "int64", "uint8")
CAST_TO = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11}
LONGEST, INNER, TRIES = 4, 20, 4
SHAPES = ((3,), (1,), (), (2, 3), (1, 3), (2, 1))
CONSTANT, AGAIN = 60, 20
"""Percent of the other operands that are constants, and of the rest those that are a value once more; else a new input."""


class Arithmetic:
    """Of each node the operands stand in either order; a constant mostly holds one number that compilers treat apart."""

    name = "arithmetic"
    version = 3
    about = "chains of arithmetic, comparisons and casts with the constants that compilers treat apart, in every type"

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        draws = Draws(self.name, self.version, seed, index)
        build = Build(draws, draws.one_of(OPSETS))
        value = _input(build, draws.one_of(TYPES), draws.one_of(SHAPES))
        made: list[Operand] = []
        try:
            for _ in range(draws.between(2, LONGEST)):
                value = _next(build, value)
                made.append(value)
            return finished(build, made, INNER)
        except NotMade:
            return None


def _next(build: Build, value: Operand) -> Operand:
    """One node more, which reads the value."""
    for _ in range(TRIES):
        step = build.draws.weighted(_STEPS)
        mark = build.mark()
        try:
            return step(build, value)
        except NotMade:
            build.undo(mark)
    raise NotMade


def _binary(build: Build, value: Operand) -> Operand:
    return _of_two(build, value, build.draws.one_of(BINARY))


def _of_two(build: Build, value: Operand, operator: str) -> Operand:
    """Min and Max take operands of one shape alone before opset 8."""
    _require(build, operator, value)
    if operator in ("Min", "Max") and build.since(operator) < 8:
        raise NotMade
    pair = [value, _other(build, value)]
    if build.draws.chance(50):
        pair.reverse()
    if operator == "Div" and value.dtype[0] in "iu" and not _has_no_zero(pair[1]):
        raise NotMade
    return build.node(operator, pair)[0]


def _has_no_zero(divisor: Operand) -> bool:
    """Nobody says what a whole number divided by 0 is, and it ends the process of some."""
    return bool(np.all(divisor.constant)) if divisor.constant is not None else divisor.low > 0


def _unary(build: Build, value: Operand) -> Operand:
    operator = build.draws.one_of(UNARY)
    _require(build, operator, value)
    return build.node(operator, [value])[0]


def _cast(build: Build, value: Operand) -> Operand:
    return build.node("Cast", [value], to=CAST_TO[build.draws.one_of(tuple(CAST_TO))])[0]


def _clip(build: Build, value: Operand) -> Operand:
    """Its ends are inputs since opset 11."""
    if build.since("Clip") < 11:
        raise NotMade
    _require(build, "Clip", value)
    ends = build.draws.one_of(((0, 1), (-1, 1), (0, 6), (-2, -1), (1, 2)))
    low, high = (build.constant(np.asarray(end, numpy_of(value.dtype))) for end in _of_type(value.dtype, ends))
    return build.node("Clip", [value, build.draws.one_of((low, low, None)), build.draws.one_of((high, high, None))])[0]


def _compared(build: Build, value: Operand) -> Operand:
    """A truth value, and mostly what is chosen by it."""
    operand = _of_two(build, value, build.draws.one_of(("Equal", "Less", "Greater")))
    if build.draws.chance(50):
        (operand,) = build.node("Not", [operand])
    if build.draws.chance(25) or build.since("Where") < 9:
        return operand
    pair = [value, _other(build, value)]
    return build.node("Where", [operand, *(pair[::-1] if build.draws.chance(50) else pair)])[0]


_STEPS: tuple[tuple[int, Callable[[Build, Operand], Operand]], ...] = (
    (60, _binary),
    (15, _unary),
    (15, _cast),
    (5, _clip),
    (5, _compared),
)


def _other(build: Build, value: Operand) -> Operand:
    draws = build.draws
    shape = draws.one_of(((), (), (1,), value.shape, value.shape[-1:], (1, *value.shape), draws.one_of(SHAPES)))
    if draws.chance(CONSTANT):
        (number,) = _of_type(value.dtype, (draws.one_of((*SPECIAL_NUMBERS, 1.0, 3.0)),))
        return build.constant(np.full(shape, number, numpy_of(value.dtype)))
    fitting = [operand for operand in build.values if operand.dtype == value.dtype]
    return draws.one_of(fitting) if fitting and draws.chance(AGAIN) else _input(build, value.dtype, shape)


def _input(build: Build, dtype: str, shape: tuple[int, ...]) -> Operand:
    """Mostly of numbers that may be a divisor."""
    low, high = build.draws.one_of(((1.0, 9.0), (1.0, 9.0), (-3.0, 3.0)))
    return build.operand(dtype, shape, low=low, high=high)


def _of_type(dtype: str, numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Those numbers as that type holds them, or raises NotMade."""
    if (dtype[0] != "f" and any(number % 1 for number in numbers)) or (dtype[0] in "ub" and min(numbers) < 0):
        raise NotMade
    return numbers


def _require(build: Build, operator: str, value: Operand) -> None:
    """Raises NotMade where the operator takes no values of that type here."""
    build.dtypes(operator, among=(value.dtype,))
