"""What a changed model costs: a rewritten one is to stay within the tolerance of its original, a quantized one loses something."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.comparison import Comparison
from assay.core.evidence import is_drawn
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.result import ChangeResult
from assay.core.verdict import VerdictStatus
from assay.judge.accuracy import worst_budget
from assay.judge.doubtful_loss import disputed_sameness
from assay.judge.draft_verdict import DraftVerdict, quantity
from assay.judge.metric_registry import AGAINST_FLOAT
from assay.judge.named_metrics import metrics
from assay.judge.words.advice import WITHOUT_DRAWS, ConfiguredJob
from assay.judge.words.finding_text import finding_text
from assay.judge.words.note_text import note_text

FILE = "no engine took part: the file itself is another model"


def within(opinion: DraftVerdict, policy: Policy, configured: ConfiguredJob | None) -> DraftVerdict:
    """The opinion of a `change` job in which nothing is beyond a limit."""
    result = opinion.result
    assert isinstance(result, ChangeResult)
    if why := disputed_sameness(result, configured):
        return replace(opinion, outcome=Outcome.MISTRUSTED, word=VerdictStatus.INCONCLUSIVE, reason=why)
    used = worst_budget(result)
    if used is not None:
        reason = f"the same model as '{result.original}': budget used {quantity('budget_used', used)} of {policy.budget_max:.4g}"
        return replace(opinion, reason=reason, metric="budget_used", observed=used, allowed=policy.budget_max)
    if not result.against_float:
        nothing = "nothing was compared: the two models share no output; map them with --map-output"
        return replace(opinion, word=VerdictStatus.INCONCLUSIVE, reason=nothing)
    if drawn := next(filter(is_drawn, result.against_float), None):
        why = f"output '{drawn.output}': {finding_text(drawn.degenerate)}; it proves nothing"
        reason = f"mistrusted: {why}; {WITHOUT_DRAWS}"
        return replace(opinion, outcome=Outcome.MISTRUSTED, word=VerdictStatus.INCONCLUSIVE, reason=reason, doubt=why)
    return _lost(opinion, result, policy)


def _lost(opinion: DraftVerdict, result: ChangeResult, policy: Policy) -> DraftVerdict:
    """A loss is measured; only goals and task metrics say what is too much, and noise above the signal says nothing good."""
    worst = min(result.against_float, key=_sqnr)
    sqnr = metrics(result).get(f"{AGAINST_FLOAT}sqnr_db")
    parts = [f"{quantity(name, worst.metrics[name])}{label}" for name, label in _SHOWN if name in worst.metrics]
    text = f"quantization costs, at output '{worst.output}' against '{result.original}': {', '.join(parts)}"
    tasks = ", ".join(f"{name} {value:.4g}" for name, value in sorted(result.task_metrics.items())[:3])
    text = f"{text}; {tasks}" if tasks else text
    is_asked = bool(tasks) or any(goal.metric.startswith((AGAINST_FLOAT, "task.")) for goal in policy.goals)
    if not is_asked and (why := next((note for note in result.notes if note.code == NoteCode.OLD_TYPES_UNKNOWN), None)):
        text = f"{text}: {note_text(why)}, or say what is allowed, for example --require 'vs_float.sqnr_db >= 20'"
        return replace(opinion, word=VerdictStatus.INCONCLUSIVE, reason=text, metric="vs_float.sqnr_db", observed=sqnr)
    if sqnr is not None and not sqnr > 0.0 and not is_asked:
        what = (
            f"{text}: more error than signal; say what is allowed, for example --require 'vs_float.sqnr_db >= 10', "
            "or what the outputs mean with --task-metric"
        )
        return replace(opinion, word=VerdictStatus.INCONCLUSIVE, reason=what, metric="vs_float.sqnr_db", observed=sqnr)
    limit = "" if is_asked else "; no goal limits it: --require 'vs_float.sqnr_db >= 20' would"
    return replace(opinion, reason=text + limit, metric="vs_float.sqnr_db", observed=sqnr)


_SHOWN = (("sqnr_db", " signal to error"), ("max_abs", " max_abs"), ("cosine", " cosine"))


def _sqnr(comparison: Comparison) -> float:
    return comparison.metrics.get("sqnr_db", float("inf"))


def changed(reason: str, original: str) -> str:
    """A mismatch of a `change` job."""
    return f"changed model: it is not '{original}' any more, and {FILE}; {reason}"
