"""The arithmetic that a flow promises: one unit roundoff for each place where a kernel rounds, and declared allowances.

u = 2^-p for a significand of p bits (Higham, Accuracy and Stability, 2.1). A flow in a low precision stores and multiplies
in it and accumulates in float32, as tensor units and CPU kernels do; tf32 only rounds what goes into a product.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.note import noted
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import UsageError

ALLOWANCES = {
    "relative-only": "functions are accurate in the relative sense even near zero: no absolute error of a polynomial",
    "winograd": "3x3 convolutions of stride 1 by Winograd F(4x4, 3x3), whose transforms are worse conditioned than a sum",
    "winograd-8x8": "square convolutions of stride 1 by Winograd on tiles of up to 8x8 with the points 0, ±1, ±2, ±3",
    "rounded-chirps": "Fourier transforms of a length n that is no power of two turn by rounded angles up to pi n",
    "double-in-float32": "a model that computes in double is computed in float32",
    "fp16-accumulation": "sums are accumulated in float16",
    "int8-weights": "an int8 flow stores weights of products in eight bits, a scale for each output channel, and computes in float32",
    "int8-operands": "the same, and what is multiplied is rounded to eight bits while it runs, a scale for each tensor",
    "int8-tables": "beside one of these: tables whose rows are looked up are stored in eight bits, too, a scale for each row",
    "ties-after-zero-point": "a value between two steps of a grid is rounded half to even when the zero point has been added",
    "elementwise-ties-after-zero-point": "the same of sums and products of two numbers and of average pools, and of nothing else",
    "ties-away-from-zero": "a value between two steps of a grid is rounded away from zero",
    "vulkan-functions": "elementary functions and division are off by as much as Vulkan grants them",
    "flush-to-zero": "numbers below the normal ones of their type are zero, as inputs and as results",
}
"""What a flow may declare beside its precision, and what it means."""

TIES = ("ties-after-zero-point", "elementwise-ties-after-zero-point", "ties-away-from-zero")
"""Those of them that name another rule than half to even; one at most."""


def ties_of(allowances: Iterable[str]) -> str:
    """The rule for ties that these name; "" for half to even."""
    return next((allowance for allowance in allowances if allowance in TIES), "")


def with_ties(allowances: Iterable[str], rule: str) -> tuple[str, ...]:
    """The same with this rule for ties."""
    return (*(allowance for allowance in allowances if allowance not in TIES), *([rule] if rule else []))


_ABSOLUTE_U = 4.0
"""erf, tanh and log of common kernels are polynomials with an absolute error of some units near zero (measured: at most 4u)."""
_SINGLE = UNIT_ROUNDOFF["float32"]
_EIGHT_BITS = 127


class Arithmetic(msgspec.Struct, frozen=True):
    """Unit roundoffs of storage between operators, of what enters a product (0: unrounded), of accumulation and of stored
    weights (0: as stored). `absolute` counts units of accumulation; `winograd`: convolutions may be computed so, on
    tiles of up to `winograd_tile`; `chirps`: Fourier transforms turn by rounded angles where their length is no power of two;
    `steps` is the standard deviation before rounding to an integer grid, in its steps (fixed-point requantisation).
    `ties` names the rule other than half to even by which exact ties may be rounded (assay.numerics.tolerance.rules.ties), "" for none.
    `mixed`: what the model declares in double is computed in double, the rest as told here. `weight_levels`: weights of products lie on
    a grid of so many steps to each side of zero, one grid for each output channel; 0: they do not. `operand_levels`: so does what goes
    into a product, one grid for each tensor. `table_levels`: so do tables whose rows are looked up, one grid for each row.
    `granted`: elementary functions are off by what the execution environment grants them, too (`rules.granted`)."""

    storage: float
    multiply: float
    accumulate: float
    weights: float
    absolute: float = _ABSOLUTE_U
    winograd: bool = False
    winograd_tile: int = 6
    chirps: bool = False
    steps: float = 2.0**-10
    mixed: bool = False
    ties: str = ""
    weight_levels: int = 0
    operand_levels: int = 0
    table_levels: int = 0
    granted: bool = False

    def of(self, dtype: str) -> Arithmetic:
        """The arithmetic of a value that the model declares in this type: a coarser one than the flow's is stored as
        declared, and a finer one is computed as declared where the model is mixed."""
        declared = UNIT_ROUNDOFF.get(dtype, 0.0)
        if declared > self.storage:
            return replace(self, storage=declared)
        if self.mixed and dtype == "float64":
            return replace(self, storage=declared, accumulate=declared, weights=declared)
        return self


def arithmetic_of(precision: str, allowances: tuple[str, ...] = ()) -> Arithmetic:
    """Raises UsageError for a precision without arithmetic of its own (int8 among them, its grid is in the graph; unless only weights
    are stored so)."""
    for name in allowances:
        if name not in ALLOWANCES:
            raise UsageError(noted(UsageCode.NO_ALLOWANCE, allowance=name, known=tuple(ALLOWANCES)))
    if precision == "int8" and (both := "int8-operands" in allowances) | ("int8-weights" in allowances):
        return replace(
            arithmetic_of("float32", allowances),
            weight_levels=_EIGHT_BITS,
            operand_levels=_EIGHT_BITS if both else 0,
            table_levels=_EIGHT_BITS if "int8-tables" in allowances else 0,
        )
    if precision not in UNIT_ROUNDOFF:
        raise UsageError(noted(UsageCode.NO_ARITHMETIC, precision=precision))
    unit = UNIT_ROUNDOFF[precision]
    accumulate = UNIT_ROUNDOFF["float16"] if "fp16-accumulation" in allowances else min(unit, _SINGLE)
    storage = _SINGLE if precision == "tf32" else unit
    return Arithmetic(
        storage=storage,
        multiply=unit if precision == "tf32" else 0.0,
        accumulate=accumulate,
        weights=storage,
        absolute=0.0 if "relative-only" in allowances else _ABSOLUTE_U,
        winograd="winograd" in allowances or "winograd-8x8" in allowances,
        winograd_tile=8 if "winograd-8x8" in allowances else 6,
        chirps="rounded-chirps" in allowances,
        ties=ties_of(allowances),
        granted="vulkan-functions" in allowances,
    )
