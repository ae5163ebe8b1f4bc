"""The outcomes in one table: what each says, what to do about it, and what it is worth where the policy does not fail it."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core.outcome import FAILS_BY_DEFAULT, Outcome
from assay.core.verdict import VerdictStatus

About = Literal["answers", "refusal", "failure", "machine"]
"""What an outcome speaks of: the answers of an engine that ran, a backend that does not take the model, an engine that broke, or
what is missing here."""

LEAST = 99


class OutcomeRow(msgspec.Struct, frozen=True, kw_only=True):
    """`meaning` is what happened, `advice` what to do about it ("" where nothing is to be done, or where that depends on the
    result). `otherwise` is the verdict where `fail-on` does not name it. `ended`: the job reached its end, so that it recorded
    whatever it could. `compared`: only a job that compares answers can show it. `rank`: of several failing jobs the one of
    the smallest is named first, for a wrong answer goes out unseen and a crash does not; `LEAST` comes after all others."""

    outcome: Outcome
    meaning: str
    about: About
    advice: str = ""
    otherwise: VerdictStatus = VerdictStatus.INCONCLUSIVE
    ended: bool = False
    compared: bool = False
    rank: int = LEAST

    @property
    def by_default(self) -> VerdictStatus:
        """The verdict under a policy that says nothing of it."""
        return VerdictStatus.FAIL if self.outcome in FAILS_BY_DEFAULT else self.otherwise


_ROWS = (
    OutcomeRow(
        outcome=Outcome.OK,
        meaning="ran to the end, within its tolerance",
        about="answers",
        otherwise=VerdictStatus.PASS,
        ended=True,
    ),
    OutcomeRow(
        outcome=Outcome.MISMATCH, meaning="an output differs", about="answers", ended=True, compared=True, rank=1
    ),
    OutcomeRow(
        outcome=Outcome.UNSUPPORTED,
        meaning="the backend, or an importer before it, does not take the model",
        about="refusal",
        advice="rewrite that part of the model, or choose another flow or a newer backend",
        otherwise=VerdictStatus.SKIP,
    ),
    OutcomeRow(
        outcome=Outcome.UNDELEGATED,
        meaning="operators ran elsewhere than they should",
        about="refusal",
        advice="rewrite these operators or choose another flow: they do not run where they should",
        otherwise=VerdictStatus.SKIP,
    ),
    OutcomeRow(
        outcome=Outcome.OTHER_PRECISION,
        meaning="right answers, and nothing ran in the type that the flow promises",
        about="answers",
        advice="choose a flow, a device or a model whose operators have kernels in that type, or call the flow what it is",
        ended=True,
        rank=7,
    ),
    OutcomeRow(
        outcome=Outcome.ERROR, meaning="the backend raised", about="failure", advice="read the job's log", rank=5
    ),
    OutcomeRow(
        outcome=Outcome.CRASH,
        meaning="the process died by a signal",
        about="failure",
        advice="read the job's log, and repeat the job alone with its repro line",
        rank=2,
    ),
    OutcomeRow(
        outcome=Outcome.TIMEOUT,
        meaning="the time limit was reached",
        about="failure",
        advice="raise --timeout (timeout-s in [limits]) if it may take longer",
        rank=3,
    ),
    OutcomeRow(
        outcome=Outcome.OUT_OF_MEMORY,
        meaning="the memory limit was reached",
        about="failure",
        advice="raise --memory (memory in [limits]) if it may take more",
        rank=4,
    ),
    OutcomeRow(
        outcome=Outcome.NONDETERMINISTIC,
        meaning="answers to the same inputs differ by more than is allowed, or the engine changes what belongs to its caller",
        about="answers",
        advice="switch to deterministic kernels, or list the outcome in [[policy.expect]] with a reason",
        ended=True,
        compared=True,
        rank=6,
    ),
    OutcomeRow(
        outcome=Outcome.MISTRUSTED,
        meaning="the outputs are too poor to prove anything",
        about="answers",
        ended=True,
        compared=True,
    ),
    OutcomeRow(
        outcome=Outcome.UNAVAILABLE,
        meaning="a library or a device is missing",
        about="machine",
        advice="`assay flows` names the install command",
        otherwise=VerdictStatus.SKIP,
    ),
    OutcomeRow(
        outcome=Outcome.LOWERED,
        meaning="the artifact was built, the device or the runtime for it is not here",
        about="machine",
        advice="run the job on a machine that has it",
        otherwise=VerdictStatus.SKIP,
        ended=True,
    ),
    OutcomeRow(
        outcome=Outcome.INFRASTRUCTURE,
        meaning="the harness or the machine failed",
        about="machine",
        advice="this is no fault of the model: fix the machine and repeat the job with its repro line",
        otherwise=VerdictStatus.ERROR,
    ),
)

OUTCOMES = {row.outcome: row for row in _ROWS}
"""A row for each member of `Outcome`, in the order of the reference."""

ANSWERS = frozenset(row.outcome for row in _ROWS if row.about == "answers")
"""The engine took the model and its inputs, and gave answers."""
REFUSALS = frozenset(row.outcome for row in _ROWS if row.about == "refusal")
FAILURES = frozenset(row.outcome for row in _ROWS if row.about == "failure")
MACHINE = frozenset(row.outcome for row in _ROWS if row.about == "machine")
"""Nothing is known of the answers, and no model is to blame."""
COMPARED = frozenset(row.outcome for row in _ROWS if row.compared)
SKIPPED = frozenset(row.outcome for row in _ROWS if row.otherwise is VerdictStatus.SKIP)
"""They prove nothing; large suites have thousands of them."""


def outcome_words(outcome: Outcome | str) -> str:
    """As a person reads it: `other precision`."""
    return str(outcome).replace("_", " ")


def outcome_reference() -> str:
    """The table of the reference, as Markdown."""
    lines = ["| outcome | what happened | by default | in `fail-on` | not in `fail-on` | job ended |"]
    lines.append("|---|---|---|---|---|---|")
    for row in _ROWS:
        always = row.outcome in (Outcome.OK, Outcome.INFRASTRUCTURE)
        verdicts = f"{row.by_default.value} | {'-' if always else 'fail'} | {row.otherwise.value}"
        lines.append(f"| `{row.outcome.value}` | {row.meaning} | {verdicts} | {'yes' if row.ended else 'no'} |")
    return "\n".join(lines) + "\n"
