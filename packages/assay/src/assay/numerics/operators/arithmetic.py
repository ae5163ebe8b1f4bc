"""Arithmetic of two numbers or more, element by element, and functions that cut to whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import floor, inf
from typing import Any

import numpy as np

from assay.numerics.operators.mutations import BIAS
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import elementwise
from assay.numerics.shapes.constraints import Inputs, Walk, broadcast, plain
from assay.numerics.shapes.elementwise import are_known, binary_shape, folded, unary_shape, variadic_shape
from assay.numerics.shapes.needed_values import DIVISOR, LARGE_FACTOR, MASK, TINY, Demands, Need, positive
from assay.numerics.shapes.propagation import above_zero, ends_of, every_input, first_input, is_met
from assay.numerics.shapes.values import Node, Value
from assay.numerics.tolerance.rules.functions import power
from assay.numerics.tolerance.rules.rounding_rules import arithmetic, fused, rounding
from assay.numerics.tolerance.rules.sums import variadic


def _quotient(a: Any, b: Any) -> Any:
    if np.asarray(a).dtype.kind in "iu":
        quotient = np.abs(a) // np.abs(b)
        return np.sign(a) * np.sign(b) * quotient
    return a / b


def _modulo_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = broadcast([value.shape for value in inputs[:2]])
    fold = np.fmod if node.attributes.get("fmod") else np.mod
    return [folded(fold, inputs)] if are_known(inputs) else plain(shape)


def _not_negative_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(0.0, inf)


def _power_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    exponents = inputs[1].data
    if exponents is not None and exponents.size and exponents.dtype.kind == "f":
        if (exponents != exponents.round()).any():
            yield 0, Need(0.0 if (exponents >= 0).all() else TINY, inf)
    elif inputs[0].data is None:
        yield 0, Need(TINY, inf)


def _divisor_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(0.5, inf, DIVISOR)


def _masked_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """`(1 - mask) * -10000`."""
    for place, other in ((0, 1), (1, 0)):
        factor = inputs[other].data
        if factor is not None and factor.size == 1 and float(factor.reshape(-1)[0]) <= -LARGE_FACTOR:
            yield place, Need(0, 1, MASK)


def _summed_carry(node: Node, inputs: Sequence[Value], output_need: Need) -> Demands:
    adds = node.op == "Add"
    first, second = (ends_of(value) for value in inputs[:2])
    if first is not None and second is not None:
        return
    if second is not None:
        yield 0, output_need.shifted(*second) if adds else output_need.shifted(-second[1], -second[0])
    elif first is not None:
        need = output_need.shifted(*first)
        yield 1, need if adds else need.scaled(-1.0)
    elif adds and output_need.low >= 0 and output_need.high < inf:
        half = replace(output_need, low=0.0, high=floor(output_need.high / 2), choices=(), exact=())
        yield from ((place, half) for place in (0, 1))
    elif adds and output_need.high == inf and output_need.low >= 0:
        yield from ((place, replace(output_need, low=output_need.low / 2)) for place in (0, 1))


def _multiplied_carry(node: Node, inputs: Sequence[Value], need: Need) -> Demands:
    if node.inputs[0] == node.inputs[1]:  # a square is not negative, whatever is squared
        return
    first, second = (ends_of(value) for value in inputs[:2])
    for place, factor in ((0, second), (1, first)):
        if factor is not None and factor[0] == factor[1] != 0 and inputs[place].data is None:
            yield place, need.scaled(factor[0])
    if first is None and second is None and need.low >= 0:
        # Two that are multiplied: masks leave what they are multiplied with, and 0 is in range.
        yield from ((place, need) for place in (0, 1))


def _divided_carry(_: Node, inputs: Sequence[Value], output_need: Need) -> Demands:
    second = ends_of(inputs[1])
    if second is not None and second[0] == second[1] != 0:
        need = output_need.scaled(1 / second[0])
        # A division of whole numbers rounds: the last quotient has a whole step of them.
        whole = inputs[1].data is not None and inputs[1].data.dtype.kind in "iu"
        yield 0, replace(need, high=need.high + second[0] - 1) if whole and second[0] > 0 else need


def _negated_carry(_: Node, __: Sequence[Value], need: Need) -> Demands:
    yield 0, need.scaled(-1.0)


def _rooted_carry(_: Node, __: Sequence[Value], need: Need) -> Demands:
    high = need.high**2 if need.high < inf else inf
    yield 0, replace(need, low=max(need.low, 0.0) ** 2, high=high, choices=(), exact=())


def _largest_carry(_: Node, inputs: Sequence[Value], need: Need) -> Demands:
    """A known number among them guards from below."""
    lowest = [ends[0] for value in inputs if (ends := ends_of(value)) is not None]
    if lowest and is_met(max(lowest), need):
        need = replace(need, low=-inf)
    if (need.low, need.high) != (-inf, inf) or need.texts:
        yield from ((place, need) for place in range(len(inputs)))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Abs", moves=True, batched=elementwise, shape=unary_shape(np.abs), carries=above_zero),
    *alike(
        "Add",
        rounding=arithmetic,
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.add),
        carries=_summed_carry,
        passes_divisor=True,
        mutations=BIAS | {"broken-broadcast", "shift-positions", "saturate-for-wrap", "bf16-lengths"},
    ),
    *alike(
        "Sub",
        rounding=arithmetic,
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.subtract),
        carries=_summed_carry,
        passes_divisor=True,
        mutations={"broken-broadcast", "swap-operands", "saturate-for-wrap", "bf16-lengths"},
    ),
    *alike(
        "Mul",
        rounding=arithmetic,
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.multiply),
        ranges=_masked_ranges,
        carries=_multiplied_carry,
        passes_divisor=True,
        mutations={"broken-broadcast", "shift-positions", "saturate-for-wrap", "bf16-lengths"},
    ),
    *alike(
        "Div",
        rounding=fused,
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(_quotient),
        ranges=_divisor_ranges,
        carries=_divided_carry,
        mutations={"broken-broadcast", "swap-operands", "bf16-lengths"},
    ),
    *alike(
        "Mod",
        rounding=rounding,
        jumps=True,
        batched=elementwise,
        shape=_modulo_shape,
        ranges=_divisor_ranges,
        mutations={"bf16-lengths"},
    ),
    *alike(
        "Pow",
        rounding=power,
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.power),
        ranges=_power_ranges,
        mutations={"swap-operands"},
    ),
    *alike("Neg", moves=True, batched=elementwise, shape=unary_shape(np.negative), carries=_negated_carry),
    *alike("Reciprocal", rounding=fused, batched=elementwise, shape=unary_shape(np.reciprocal), ranges=positive),
    *alike(
        "Sqrt",
        rounding=rounding,
        batched=elementwise,
        shape=unary_shape(np.sqrt),
        ranges=_not_negative_ranges,
        carries=_rooted_carry,
    ),
    *alike(
        "Max",
        moves=True,
        batched=elementwise,
        shape=variadic_shape(np.maximum),
        carries=_largest_carry,
        mistaken_for="Min",
        mutations={"exchange-comparison"},
    ),
    *alike(
        "Min",
        moves=True,
        batched=elementwise,
        shape=variadic_shape(np.minimum),
        carries=every_input,
        mistaken_for="Max",
        mutations={"exchange-comparison"},
    ),
    *alike(
        "Mean",
        rounding=variadic,
        reference="reducing",
        batched=elementwise,
        shape=variadic_shape(None),
        carries=every_input,
    ),
    *alike("Sum", rounding=variadic, batched=elementwise, shape=variadic_shape(np.add), carries=every_input),
    *alike("Sign", moves=True, jumps=True, decides="whole", batched=elementwise, shape=unary_shape(np.sign)),
    *alike(
        "Ceil",
        moves=True,
        jumps=True,
        rounds=True,
        decides="whole",
        batched=elementwise,
        shape=unary_shape(np.ceil),
        carries=first_input,
        mistaken_for="Floor",
        mutations={"exchange-comparison", "bf16-lengths"},
    ),
    *alike(
        "Floor",
        moves=True,
        jumps=True,
        rounds=True,
        decides="whole",
        batched=elementwise,
        shape=unary_shape(np.floor),
        carries=first_input,
        mistaken_for="Ceil",
        mutations={"exchange-comparison", "bf16-lengths"},
    ),
    *alike(
        "Round",
        moves=True,
        jumps=True,
        rounds=True,
        decides="whole",
        batched=elementwise,
        shape=unary_shape(np.rint),
        carries=first_input,
    ),
)
