"""What decides a rounding to a grid: noise, or, where everything before it is exact, the tie rule of the flow.

A value that no engine can compute otherwise, in steps that are a power of two, is rounded as the standard says: half to even (ONNX
QuantizeLinear-23). There is nothing to allow. Some backends round ties by another rule, all of them the same way each time, and
their flows declare it:

ties-after-zero-point   half to even of x / scale + zero_point, so that with an odd zero point ties go the other way (OpenVINO's
                        FakeQuantize)
elementwise-ties-after-zero-point
                        the same of sums and products of two numbers and of average pools (ONNX Runtime's QLinearAdd, QLinearMul and
                        QLinearAveragePool)
ties-away-from-zero     away from zero, of x / scale or of x / scale + zero_point (MNN)

Such an allowance is no noise: what a rule decides is evaluated (`tie_choices`). Where there are too many grids for that, `steps` leaves
their ties open.
"""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math

import numpy as np

from assay.numerics.operators.index import record_of
from assay.numerics.oracle.hooks import Call
from assay.numerics.oracle.tie_rules import otherwise
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.dyadic import are_powers_of_two, largest
from assay.numerics.tolerance.rules.rounding_rules import RuleSite, Variance
from assay.ports import Tensor

EXACTLY = "exactly"
"""The operand of a place before a grid: whether nothing rounds on the way to it since the last grid, of all of it or of each element."""
ELEMENTWISE = "elementwise"
"""Whether it comes out of a sum or a product of two numbers, or an average pool."""
TIPPING = 8.0
"""Standard deviations from a boundary, within which noise may decide (as `jumps.TIPPING`)."""
READINGS = {
    "ties-after-zero-point": ("even-after-zero-point",),
    "elementwise-ties-after-zero-point": ("even-after-zero-point",),
    "ties-away-from-zero": ("away", "away-after-zero-point"),
}
"""What each allowance means, in the names of `oracle.tie_rules`: one backend goes by one of these everywhere."""
_OF_PRODUCT = 3
"""Scales of a product of quantized tensors: of its operands and of what it gives."""
DYNAMIC = frozenset({"DynamicQuantizeLinear"})
"""What goes onto a grid of its own range was a real number in every engine: no fixed-point arithmetic comes before it, but a quotient, and
a zero point that is added."""
_SINGLE = 2.0**-24
_SEEN = 2.0**-13
"""Of a step: single precision still shows it beside the largest number of a grid of eight bits."""
_ROOM = 2
"""Binary digits beyond those of the grid: the zero point, and the lowest of its numbers, may be added before the rounding."""
_COLLAPSED = 2.0**-22


def steps(site: RuleSite, unit: Arithmetic) -> Variance:
    """Before rounding to an integer grid, in its steps: fixed-point arithmetic may tip a near tie. Where nothing has rounded on the
    way and the scale is a power of two, only what an engine rounds by adding the zero point first, and the ties that the flow's
    rule decides otherwise."""
    value = site.value
    if site.call.operator in DYNAMIC:
        return (unit.accumulate * 4) ** 2 / 3 * (np.square(value) + 255.0**2)
    plain = unit.steps**2 + (unit.accumulate * 4) ** 2 / 3 * np.square(value)
    exact = _is_exact(site, unit) if unit.storage <= _SINGLE else False
    if not np.any(exact):
        return plain
    zero = _zero_point(site.call, value.shape)
    room = 2.0 ** (_bits(site.call) + _ROOM)
    added = unit.accumulate * room / 2 / TIPPING  # two roundings of the largest numbers are as far as noise decides
    above = np.abs(value - np.floor(value) - 0.5)
    with np.errstate(all="ignore"):
        whole = np.ldexp(value, round(-math.log2(unit.accumulate * room)))
        tips = (np.rint(whole) != whole) & (above <= TIPPING * added + _COLLAPSED * np.abs(value))
    if unit.ties and may_choose(site, unit.ties):
        tips |= np.any([otherwise(value, zero, rule) != 0.0 for rule in READINGS[unit.ties]], axis=0)
    variance: Variance = np.where(exact, np.where(tips, max(added, _SEEN) ** 2, 0.0), plain)
    return variance


def may_choose(site: RuleSite, declared: str) -> bool:
    """Whether the rule that a flow declares is one of this place."""
    return bool(site.operands.get(ELEMENTWISE)) or not declared.startswith(ELEMENTWISE)


def chooses(site: RuleSite, unit: Arithmetic, declared: str, rule: str) -> bool:
    """Whether there is a tie of an exact value here that the rule of the flow decides otherwise than half to even."""
    if not may_choose(site, declared) or unit.storage > _SINGLE or site.call.operator in DYNAMIC:
        return False
    exact = _is_exact(site, unit)
    if not np.any(exact):
        return False
    zero = _zero_point(site.call, site.value.shape)
    return bool(np.any(exact & (otherwise(site.value, zero, rule) != 0.0)))


def _is_exact(site: RuleSite, unit: Arithmetic) -> bool | Tensor:
    """Whether every engine has the same value there; of each element where that differs."""
    call = site.call
    if call.operator == "QuantizeLinear":
        return site.operands.get(EXACTLY, False) if are_powers_of_two(call.inputs[1]) else False
    known = record_of(call.operator)
    if known.terms is None or len(known.scales) != _OF_PRODUCT:
        return False
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale = call.inputs[:7]
    if not all(are_powers_of_two(scale) for scale in (x_scale, w_scale, y_scale)):
        return False
    most = [
        largest(operand.astype(np.int32)) + largest(zero.astype(np.int32))
        for operand, zero in ((x, x_zero), (w, w_zero))
    ]
    bias = None if known.bias is None else call.input(known.bias)
    size = float(most[0] * most[1]) * known.terms(call) + (0.0 if bias is None else largest(bias))
    return size * unit.accumulate <= 1.0


def _zero_point(call: Call, shape: tuple[int, ...]) -> Tensor:
    """Of the grid that is rounded to, like the value."""
    zero = call.input(_zero_place(call))
    if zero is None:
        return np.zeros(1)
    if call.operator != "QuantizeLinear":
        return np.asarray(zero, np.float64).reshape(())
    from onnx.reference.ops._quant_utils import reshape_input

    axis, block = call.attributes.get("axis", 1), call.attributes.get("block_size") or 0
    spread: Tensor = np.asarray(reshape_input(np.asarray(zero), shape, axis, block), np.float64)
    return spread


def _zero_place(call: Call) -> int:
    """Where the zero point of what it gives stands."""
    return (record_of(call.operator).zero_points or (2,))[-1]


def _bits(call: Call) -> int:
    zero = call.input(_zero_place(call))
    return 8 if zero is None else 8 * np.asarray(zero).dtype.itemsize
