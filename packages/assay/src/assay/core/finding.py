"""A defect seen by a comparison, as a code, numbers and names. `assay.judge.words.finding_text` makes the sentence of it."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec

Fact = int | float | str | tuple[int | float | str, ...]


class FindingCode(enum.StrEnum):
    """What was seen. The facts that come with each are the names in its sentence (`assay.judge.words.finding_text`)."""

    BARE = "bare"
    SAMPLE_COUNT = "sample_count"
    NO_SAMPLE = "no_sample"
    NO_OUTPUT = "no_output"
    MISSING_OUTPUT = "missing_output"
    MISSING_REFERENCE = "missing_reference"
    EXTRA_OUTPUT = "extra_output"
    EXTRA_REFERENCE = "extra_reference"
    OUTPUT_ORDER = "output_order"
    DTYPE = "dtype"
    COMPLEX_AS_PAIRS = "complex_as_pairs"
    SHAPE = "shape"
    DECLARED_SHAPE = "declared_shape"
    INCOMPARABLE = "incomparable"
    TEXTS = "texts"
    COLLAPSED = "collapsed"
    OUTPUT_CONSTANT = "output_constant"
    OUTPUT_SATURATED = "output_saturated"
    OUTPUT_VANISHES = "output_vanishes"
    REFERENCE_EMPTY = "reference_empty"
    REFERENCE_NOT_FINITE = "reference_not_finite"
    REFERENCE_CONSTANT = "reference_constant"
    REFERENCE_CONSTANT_OR_NAN = "reference_constant_or_nan"
    REFERENCE_SATURATED = "reference_saturated"
    REFERENCE_REPEATED = "reference_repeated"
    ZEROS_WOULD_PASS = "zeros_would_pass"
    ILL_CONDITIONED = "ill_conditioned"
    RARE_JUMPS = "rare_jumps"
    OPEN_CHOICES = "open_choices"
    SELFTEST_BLIND = "selftest_blind"
    RANDOM = "random"
    RANDOM_SIZES = "random_sizes"
    NEWLY_RANDOM = "newly_random"
    BEYOND_A_GUESS = "beyond_a_guess"
    BEYOND_THE_OTHERS = "beyond_the_others"
    COARSE_GOLDEN = "coarse_golden"
    OTHER_ROWS = "other_rows"
    OTHER_WHOLE_NUMBERS = "other_whole_numbers"
    OUTSIDE_DECLARED_RANGE = "outside_declared_range"
    BELOW_NORMAL = "below_normal"
    FLUSHED_TO_ZERO = "flushed_to_zero"
    NAN = "nan"
    INFINITY = "infinity"
    LOWEST_FOR_INFINITY = "lowest_for_infinity"
    BEYOND_LIMITS = "beyond_limits"
    SOME_BEYOND_LIMITS = "some_beyond_limits"
    NOT_BIT_EXACT = "not_bit_exact"
    CHOICES = "choices"
    CANNOT_HAVE_MOVED = "cannot_have_moved"
    ERROR_NORM = "error_norm"
    ERROR_ELEMENT = "error_element"
    ERROR_SLICE = "error_slice"
    REPEATED_ERRORS = "repeated_errors"
    REPEATED_ERROR_AT = "repeated_error_at"
    SHIFT = "shift"
    SHIFT_OF_SLICE = "shift_of_slice"
    GAIN = "gain"
    GAIN_OF_SLICE = "gain_of_slice"
    LOWER_PRECISION = "lower_precision"
    DRIFT = "drift"
    NODE_OUTPUT_MISSING = "node_output_missing"
    NODE_MOVES = "node_moves"
    NODE_RANGE = "node_range"
    NODE_SHAPE = "node_shape"
    INPUTS_IGNORED = "inputs_ignored"
    GUARD_LOST = "guard_lost"
    AT_SIZES = "at_sizes"
    BODY_DISAGREES = "body_disagrees"
    SCHEDULES_DISAGREE = "schedules_disagree"
    SKETCH = "sketch"
    SERVED = "served"
    SERVICE_RULE = "service_rule"
    WRONG_BEFORE_USE = "wrong_before_use"
    ACCEPTED = "accepted"
    REFUSES_AFTERWARDS = "refuses_afterwards"
    CHANGED_AFTERWARDS = "changed_afterwards"


DRAWN = (FindingCode.RANDOM, FindingCode.RANDOM_SIZES)
"""Of outputs that are drawn at random."""


class WorstElement(msgspec.Struct, frozen=True):
    """One of the worst elements: index (sample first), expected, actual. Whole numbers stay whole: float has not every one beyond 2**53."""

    index: tuple[int, ...]
    expected: int | float
    actual: int | float


class Finding(msgspec.Struct, frozen=True, eq=False):
    """One defect seen by the comparator. `kind` is one of: missing_output, missing_reference (the reference has other outputs),
    extra_output, output_order, samples, dtype, shape, nan, infinity, lowest_for_infinity, values, degenerate, empty,
    unsupported_dtype, task, accepted (an answer where an error was due), unusable (the engine after a wrong use), function_body
    (an operator and its body disagree), precision (computed in a coarser type than the flow promises), drift (a sequence of calls
    that ends in NaN or infinity), random (a changed model draws what its original does not), schedule (a prompt that the reference answers
    otherwise when it is fed in another way), service (a service by its address that gives other probabilities than the model, or breaks a
    rule of its protocol).

    `code` says what of that kind was seen, `facts` its numbers and names, `elements` the elements that show it, the worst first.
    `about` is the finding that this one says more about."""

    kind: str
    output: str
    code: FindingCode = FindingCode.BARE
    facts: dict[str, Fact] = {}
    elements: tuple[WorstElement, ...] = ()
    about: Finding | None = None

    def __eq__(self, other: object) -> bool:
        """Of the same bytes: a NaN among the elements is the same NaN."""
        return isinstance(other, Finding) and _bytes_of(self) == _bytes_of(other)

    def __hash__(self) -> int:
        return hash(_bytes_of(self))


def kept_from_scoring(findings: Iterable[Finding]) -> list[str]:
    """The kinds after which the answers may not have the form that a task reads: other values are what it judges, other shapes
    are not."""
    return [*dict.fromkeys(finding.kind for finding in findings if finding.kind not in ("values", "schedule"))]


def _bytes_of(finding: Finding) -> bytes:
    return msgspec.msgpack.encode(finding)


def facts(**values: Fact) -> dict[str, Fact]:
    """The facts of a finding, by name."""
    return values
