"""An engine that refuses inputs that nobody gave: where another does, too, they are in doubt, and not the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Policy
from assay.core.result import MeasureResult, Result, VerifyResult
from assay.core.verdict import VerdictStatus
from assay.judge.draft_verdict import DraftVerdict
from assay.judge.outcome_table import ANSWERS
from assay.judge.words.advice import ConfiguredJob, command
from assay.judge.words.clause import as_clause

_SAYS_NO = frozenset({Cause.REFUSED, Cause.OTHER})


def is_refused(result: Result) -> bool:
    """Whether an engine that was built well said no while it ran."""
    return result.outcome is Outcome.ERROR and result.cause in _SAYS_NO and result.stage is Stage.RUN


def takes(result: Result) -> bool | None:
    """Whether the engine takes the inputs; None where it says nothing of them."""
    return True if result.outcome in ANSWERS else False if is_refused(result) else None


def are_inputs_in_doubt(result: Result) -> bool:
    """Another refuses them, too, and none of the same library takes them. One of another library that does proves little: engines
    read past the end of a table without a word."""
    if not isinstance(result, VerifyResult):
        return False
    same = [witness for witness in result.witnesses if witness.library == result.reference.engine]
    refuses = any(witness.takes_inputs is False for witness in result.witnesses)
    return is_refused(result) and refuses and not any(witness.takes_inputs for witness in same)


def with_doubtful_inputs(
    opinions: Sequence[DraftVerdict], configured_jobs: Mapping[str, ConfiguredJob], policy: Policy
) -> list[DraftVerdict]:
    """Those whose engine is not to blame for what it refuses are inconclusive, measurements of the same engine too."""
    doubtful = {
        (opinion.result.case, opinion.result.flow): opinion.result
        for opinion in opinions
        if isinstance(opinion.result, VerifyResult) and are_inputs_in_doubt(opinion.result)
    }
    word = VerdictStatus.FAIL if Outcome.MISTRUSTED.value in policy.fail_on else VerdictStatus.INCONCLUSIVE
    return [_doubted(opinion, doubtful, configured_jobs.get(opinion.job_key), word) for opinion in opinions]


def _doubted(
    draft: DraftVerdict,
    doubtful: Mapping[tuple[str, str], VerifyResult],
    configured: ConfiguredJob | None,
    word: VerdictStatus,
) -> DraftVerdict:
    result = draft.result
    verified = doubtful.get((result.case, result.flow)) if result is not None else None
    if result is None or verified is None:
        return draft
    measured = isinstance(result, MeasureResult) and result.outcome is Outcome.ERROR and result.cause in _SAYS_NO
    if not (measured or are_inputs_in_doubt(result)):
        return draft
    return replace(draft, word=word, outcome=Outcome.MISTRUSTED, reason=_reason(verified, result, configured))


def _reason(verified: VerifyResult, result: Result, configured: ConfiguredJob | None) -> str:
    others = [witness.flow for witness in verified.witnesses if witness.takes_inputs is False]
    named = " and ".join([", ".join([verified.flow, *others[:-1]]), others[-1]])
    takers = [witness.flow for witness in verified.witnesses if witness.takes_inputs]
    but = f", and {takers[0]} takes them" if takers else ""
    return (
        f"the inputs are in doubt: nobody gave any, and {named} refuse those that were drawn ({as_clause(verified.detail)}){but}; "
        f"to decide it, give inputs of your own: {command(result, configured, inputs='FILE.npz')}; or state sizes and values of these with "
        "--dim, --input-range and --input-value"
    )
