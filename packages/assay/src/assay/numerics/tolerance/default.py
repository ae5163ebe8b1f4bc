"""The allowed error where nobody declared one: a multiple of the unit roundoff.

An element is allowed `rtol * |expected| + atol`. The relative part is `c * u`, with u the unit roundoff of the
coarser of the promised precision and the output's own type. The absolute part is `c * u * rms(expected)`: an element that is small
because large terms cancelled carries the rounding of those terms, and the root mean square of the output is the scale
that is known without looking into the graph.

The factor c stands for the length of the sums and the depth of the graph, of which nothing is known here either. The
measured norm-wise error of correct float32 kernels is below 5 u at the 99th percentile, and grows with the square root
of the number of roundings (Higham, Accuracy and Stability, 4.2): 512 leaves room for some ten thousand of them and
still sees a multiplication done in tf32, which errs by 2^13 u. Coarser types are accumulated in finer ones, so that
only the roundings between layers count and c shrinks: 64, 16, 4. A deeper or worse conditioned graph needs explicit limits.
"""

from __future__ import annotations

from assay.core.case import Contract, Tolerance
from assay.core.dtype import UNIT_ROUNDOFF, is_floating
from assay.core.note import noted
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import UsageError

ALL = "*"
"""The name under which a contract has the limits of all outputs that have none of their own."""

_FACTOR = {
    "float64": 512.0,
    "float32": 512.0,
    "tf32": 64.0,
    "float16": 64.0,
    "bfloat16": 16.0,
    "int8": 16.0,
    "float8_e4m3fn": 4.0,
    "float8_e4m3fnuz": 4.0,
    "float8_e5m2": 4.0,
    "float8_e5m2fnuz": 4.0,
    "float4_e2m1fn": 1.0,
}

_ROUNDOFF = {**UNIT_ROUNDOFF, "int8": 2.0**-8}
"""int8 by its step: half of one of 256 levels over the range of a tensor."""


def default_tolerance(precision: str, dtype: str, rms: float) -> tuple[float, float]:
    """(rtol, atol) for an output of type `dtype` whose finite reference values have the root mean square `rms`.

    Types without an exponent are exact: (0, 0). Raises UsageError for a precision that nothing is known about.
    """
    if precision not in _ROUNDOFF:
        raise UsageError(noted(UsageCode.NO_PRECISION, precision=precision, known=tuple(_ROUNDOFF)))
    if not is_floating(dtype):
        return 0.0, 0.0
    coarser = max(precision, dtype, key=_ROUNDOFF.__getitem__)
    relative = _FACTOR[coarser] * _ROUNDOFF[coarser]
    return relative, relative * rms


def all_of_type(dtype: str) -> str:
    """The name under which a contract has the limits of all outputs of a type, where a table has some for each."""
    return f"{ALL}:{dtype}"


def limits(contract: Contract, output: str, dtype: str, rms: float) -> tuple[float, float]:
    """(rtol, atol) of one output: what the contract says for it by name, else by its type, else by `*`, else the default.

    A type without an exponent is loosened only by name: the others are meant for the numbers, not for class indices.
    """
    rtol, atol = default_tolerance(contract.precision, dtype, rms)
    named = contract.tolerances.get(output)
    if named is None and is_floating(dtype):
        named = contract.tolerances.get(all_of_type(dtype)) or contract.tolerances.get(ALL)
    chosen = named or Tolerance()
    return (
        rtol if chosen.rtol is None else float(chosen.rtol),
        atol if chosen.atol is None else float(chosen.atol),
    )
