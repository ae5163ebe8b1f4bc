"""What a worker observes of generated cases: counts, and the cases that look wrong."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec


class Screened(enum.StrEnum):
    """What became of one case. CONVERTED: it is wrong already in the form that the backend reads, before anything is compiled."""

    NOT_MADE = "not_made"
    INVALID = "invalid"
    NO_ORACLE = "no_oracle"
    NO_NUMBERS = "no_numbers"
    REFUSED = "refused"
    CONVERTED = "converted"
    FAILED = "failed"
    RIGHT = "right"
    SUSPECT = "suspect"


class Use(enum.StrEnum):
    """How an engine is used once its first answer was right. A later answer that is wrong has the name of the use as its kind."""

    AGAIN = "again"
    OTHER_SIZES = "other_sizes"
    RELOADED = "reloaded"
    SIDE_BY_SIDE = "side_by_side"


ANY_OPERATOR = "as any operator"
"""What was tried of a suspect that is wrong in use: a plain model of another operator in the same use. Where that is wrong, too, the use
alone is the cause."""
INPUT = " input "
"""Between an operator and its input that was left out ("Clip input min")."""
AS_KIN = "as "
"""Before the name of the operator that was put into the place of another one that is made alike; before all operators ("as Expand+Mul")
where one of several was replaced."""
FED = "no constants"
"""It is wrong, and nothing of it is a constant."""
FULL = "with elements"
"""It is wrong, and each of its values has elements."""
STATED = "stated "
"""Before an attribute that the case leaves out, which was written down with the value that the standard takes then."""
UNTIED = "untied"
"""Equal numbers of the inputs were made different, in their order."""
WITH_EXP = "with Exp"
"""A curve that is little off was written in terms of Exp."""
INSTEAD = "instead "
"""Before the name of an operator that was put into the place of another one which is not made alike."""
NOT_TYPE = "not "
"""Before the type that all operands had, and how many these are ("not 2 operands of uint8"), where a plain one was put into its place."""
SCALES = "scales"
"""One scale for all was put into the place of one for each row or channel."""
EXECUTED = "executed "
"""Before the name of a kernel that several nodes of the case became together, and none of them alone: it is wrong with that one."""
FILLED = "filled"
"""One element was put along each axis of an input that has none."""
IGNORED = "ignored "
"""Before the name of what was left out: the answer of the whole case is the one that is due without it."""

NO_ZERO = "no zero"
"""What it ignores is an attribute of 0, and it reads another number: 0 is taken for one that was left out."""

NO_CURES = (AS_KIN, INSTEAD, IGNORED, NO_ZERO, WITH_EXP)
"""Beginnings of experiments that are no cure where they come out right: the operator is another one then, or nothing was left out."""


class Unspecified(enum.StrEnum):
    """Why the standard does not say what a case gives."""

    INTEGER_OVERFLOW = "integer_overflow"
    CAST_OUT_OF_RANGE = "cast_out_of_range"
    DIVISION_BY_ZERO = "division_by_zero"
    EQUAL_KEYS = "equal_keys"
    REPEATED_INDICES = "repeated_indices"
    ROUNDED_PLACE = "rounded_place"
    FRACTIONAL_LENGTH = "fractional_length"
    REAL_RESULT = "real_result"
    ROUNDED_STEP = "rounded_step"
    ACTIVATION_NUMBERS = "activation_numbers"
    BODY_DIFFERS = "body_differs"
    SAMPLED_MAXIMUM = "sampled_maximum"
    DILATED_SAME = "dilated_same"
    NEGATIVE_SAME = "negative_same"
    EQUAL_MAXIMA = "equal_maxima"
    REFLECTED_TWICE = "reflected_twice"
    COARSE_SUM = "coarse_sum"
    CROSSED_BOUNDS = "crossed_bounds"
    UPSAMPLED_PLACE = "upsampled_place"
    REMAINDER_SIGN = "remainder_sign"
    WINDOW_NUMBERS = "window_numbers"
    EQUAL_EXTREMES = "equal_extremes"
    BEYOND_THE_END = "beyond_the_end"
    LABEL_OUTSIDE = "label_outside"
    NO_STEPS = "no_steps"
    ZERO_SCALE = "zero_scale"


class CaseId(msgspec.Struct, frozen=True):
    """All that a case is made from."""

    generator: str
    version: int
    seed: int
    index: int

    def __str__(self) -> str:
        return f"{self.generator}-{self.version}-{self.seed}-{self.index}"


class Suspect(msgspec.Struct, frozen=True):
    """A case whose answer is not within its tolerance. `kind` is that of a `RegionError`, "type" (another element type), "failed" (it was
    compiled, and does not run), "crash" or "timeout". `operators` are those of its nodes with the opsets in which these changed,
    `attributes` the names of those that its nodes state. `budget` None: no tolerance could be derived. `rel_l2` None: it is not finite.
    `ablated` says, by what was left out or replaced ("Conv.pads", "type int16"), whether the case is right then,
    and by what the engine did not read ("ignored Shape.start") whether its answer is the one without.
    `signal` is the name of the one that ended its process."""

    case: CaseId
    kind: str
    operators: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    output: str = ""
    rel_l2: float | None = 0.0
    budget: float | None = None
    unspecified: tuple[Unspecified, ...] = ()
    detail: str = ""
    ablated: dict[str, bool] = {}
    signal: str = ""


def is_of_use(ablated: Mapping[str, bool]) -> bool:
    """Whether the use alone is the cause, whatever the operator, by what was tried of a suspect."""
    return ablated.get(ANY_OPERATOR) is False
