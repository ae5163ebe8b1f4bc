"""How a node of an operator is made."""

from __future__ import annotations

from collections.abc import Callable

from assay.generators.build import Build, Operand

Form = Callable[[Build, str], list[Operand]]
"""Adds one node of that operator, with what it reads, and returns its outputs. Raises NotMade."""

FORMS: dict[str, Form] = {}

FLOATS = ("float32", "float64", "float16")
NUMBERS = (*FLOATS, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def form(names: str) -> Callable[[Form], Form]:
    """Of these operators, in one text."""

    def add(function: Form) -> Form:
        FORMS.update(dict.fromkeys(names.split(), function))
        return function

    return add


def axis_of(build: Build, rank: int, *, end: int = 0) -> int:
    """From -rank to rank - 1 + end."""
    return build.draws.between(-rank, rank - 1 + end)


def flag(build: Build) -> int | None:
    """0 or 1, or left out."""
    return build.draws.one_of((None, 0, 1))


def broadcast_shape(build: Build, shape: tuple[int, ...]) -> tuple[int, ...]:
    """One that is broadcast to `shape`: the same, one number, one axis alone as biases and scales have it, leading axes left out, axes of
    one."""
    draws = build.draws
    if draws.chance(40):
        return shape
    if draws.chance(15):
        return (1,) * draws.between(0, len(shape))
    if shape and draws.chance(45):
        axis = draws.one_of((draws.below(len(shape)), len(shape) - 1, min(1, len(shape) - 1)))
        leading = draws.one_of((0, axis))
        return (*[1] * leading, shape[axis], *[1] * (len(shape) - axis - 1))
    kept = shape[draws.between(0, len(shape)) :]
    return tuple(1 if draws.chance(35) else size for size in kept)


def version_has(build: Build, operator: str, attribute: str) -> bool:
    """Whether it is an attribute of the operator in this opset."""
    return attribute in build.schema(operator).attributes
