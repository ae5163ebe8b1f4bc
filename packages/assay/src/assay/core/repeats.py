"""What asking an engine the same again has shown."""

from __future__ import annotations

import enum

import msgspec

from assay.core.comparison import Comparison
from assay.core.finding import Finding

ENOUGH_CALLS = 149
"""Calls of which, with a probability of 95 %, at least one is bad where one in 50 is: 1 - 0.98^149 = 0.951."""


class Pattern(enum.StrEnum):
    """When answers to the same inputs differ. `calls` and `time`: from a call, or a moment, on. `history`: the same calls in the same
    order differ in the same way. `rare`: in few calls, at irregular moments. `unnamed`: not looked into, because what differs is
    within tolerance. The last two break what every engine promises: to leave its caller's inputs and its earlier answers alone."""

    FIRST_CALL = "first_call"
    CALLS = "calls"
    TIME = "time"
    DRIFT = "drift"
    PREVIOUS_SAMPLE = "previous_sample"
    HISTORY = "history"
    RARE = "rare"
    EVERY_CALL = "every_call"
    ALIGNMENT = "alignment"
    BATCH_MATES = "batch_mates"
    THREADS = "threads"
    SECOND_BUILD = "second_build"
    UNNAMED = "unnamed"
    REUSED_BUFFER = "reused_buffer"
    WRITTEN_INPUT = "written_input"


BREACHES = (Pattern.REUSED_BUFFER, Pattern.WRITTEN_INPUT)


class Instability(msgspec.Struct, frozen=True):
    """Answers to the same inputs that differ. `tensor` is the output (the input that was written into), `sample` where it was seen first.
    `differing` of `calls` differ; `call` is the number of the first that does, counted from the first call of the engine, and `seconds`
    when that was, since the engine was loaded; `threads` those of the other engine. `apart` compares the answers that are farthest
    away with the first ones (`findings` are those of no single output), and `against_reference` the same ones with the reference,
    which decide where the first ones are right by it."""

    pattern: Pattern
    tensor: str = ""
    sample: int = 0
    differing: int = 0
    calls: int = 0
    call: int = 0
    seconds: float = 0.0
    threads: int = 0
    apart: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    against_reference: tuple[Comparison, ...] = ()


class Repeats(msgspec.Struct, frozen=True):
    """`calls` were compared with the first answers to the same inputs, bit by bit, over `seconds`; `share` of the job's time was allowed
    for them. `builds` counts engines that were built once more and compared, `mates` samples whose answer was asked for beside other
    rows of their batch."""

    calls: int = 0
    seconds: float = 0.0
    share: float = 0.0
    builds: int = 0
    mates: int = 0
    found: tuple[Instability, ...] = ()

    @property
    def unseen_rate(self) -> float:
        """The rate of bad calls that as many good ones leave possible with 95 %: 1 - 0.05^(1/calls), about 3 / calls (the rule of
        three; Hanley and Lippman-Hand, JAMA 249 (1983) 1743)."""
        return 1.0 - 0.05 ** (1.0 / self.calls) if self.calls else 1.0
