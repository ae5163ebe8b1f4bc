"""What changed from the results of one run to those of another: metrics, warnings, engines, verdicts. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.core.changes import CellChange, LostFusion, MetricDelta
from assay.core.engine_info import EngineInfo
from assay.core.native_warning import NativeWarning
from assay.core.result import EngineResult, Result
from assay.core.result_parts import measurements_of, native_warnings_of, speeds_of
from assay.core.verdict import Verdict
from assay.judge.lost_fusions import lost_fusion
from assay.judge.named_metrics import metrics
from assay.judge.operator_regressions import differences

Cell = tuple[str, str]


def cell_changes(
    old: Sequence[Result],
    new: Sequence[Result],
    *,
    old_words: Mapping[str, str] = {},
    verdicts: Sequence[Verdict] = (),
) -> tuple[CellChange, ...]:
    """Cells of the new results in their order, then those that only the old ones have. `old_words` are verdicts by job key."""
    before, after = _by_cell(old), _by_cell(new)
    verdict_by_job = {verdict.job_key: verdict for verdict in verdicts}
    words = (old_words, {key: verdict.word.value for key, verdict in verdict_by_job.items()})
    return tuple(
        _change(cell, before.get(cell, []), after.get(cell, []), words, verdict_by_job) for cell in {**after, **before}
    )


def baseline_metrics(old: Iterable[Result], new: Sequence[Result]) -> dict[str, float]:
    """Metrics of one cell that only a baseline gives: fusions lost, warnings that it had not."""
    before = list(old)
    named: dict[str, float] = {}
    if _facts(before) is not None and _facts(new) is not None:
        lost = _lost(before, new)
        named["fusions.lost"] = float(lost.count if lost else 0)
    if _reads(before) and _reads(new):
        named["warnings.new"] = float(sum(native_warning.count for native_warning in _beyond(new, before)))
    return named


def _by_cell(results: Sequence[Result]) -> dict[Cell, list[Result]]:
    by_cell: dict[Cell, list[Result]] = {}
    for result in results:
        by_cell.setdefault((result.case, result.flow), []).append(result)
    return by_cell


def _change(
    cell: Cell,
    old: list[Result],
    new: list[Result],
    words: tuple[Mapping[str, str], Mapping[str, str]],
    verdict_by_job: Mapping[str, Verdict],
) -> CellChange:
    before, after = _facts(old), _facts(new)
    batches = (smallest_batch(old), smallest_batch(new))
    return CellChange(
        *cell,
        only="" if old and new else "new" if new else "old",
        deltas=_deltas(old, new, same_batch=not all(batches) or batches[0] == batches[1]),
        batches=batches,
        new_warnings=_beyond(new, old) if old else (),
        gone_warnings=_beyond(old, new) if new else (),
        lost_fusion=_lost(old, new),
        engine=tuple(differences(before, after)) if before and after else (),
        verdicts=(_worst(words[0], old), _worst(words[1], new)),
        decision=next(
            (
                verdict_by_job[result.job_key].reason
                for result in new
                if speeds_of(result) and result.job_key in verdict_by_job
            ),
            "",
        ),
    )


def _worst(words: Mapping[str, str], results: Sequence[Result]) -> str:
    order = ("error", "fail", "xpass", "inconclusive", "skip", "xfail", "pass")
    verdict_words = [words[result.job_key] for result in results if result.job_key in words]
    return min(verdict_words, key=order.index, default="")


def is_of_a_batch(metric: str) -> bool:
    """Latency and throughput, of the smallest batch that was timed."""
    return metric.startswith(("latency.", "throughput.")) and ".batch" not in metric


def smallest_batch(results: Sequence[Result]) -> int:
    """That was timed; 0 where none was."""
    return min((measurement.batch for result in results for measurement in measurements_of(result)), default=0)


def _deltas(old: Sequence[Result], new: Sequence[Result], *, same_batch: bool) -> tuple[MetricDelta, ...]:
    before, after = _metrics(old), _metrics(new)
    if not same_batch:
        before = {name: value for name, value in before.items() if not is_of_a_batch(name)}
    return tuple(MetricDelta(name, before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys()))


def _metrics(results: Sequence[Result]) -> dict[str, float]:
    """Of all jobs of a cell; what several record, as the first of them does: verifying before measuring."""
    named: dict[str, float] = {}
    for result in reversed(results):
        named.update(metrics(result))
    return named


def _facts(results: Sequence[Result]) -> EngineInfo | None:
    """Of the engine that was measured, or else verified; None where nothing is known of what it executed."""
    known = [result.facts for result in results if isinstance(result, EngineResult) and result.facts.placements]
    return known[-1] if known else None


def _lost(old: Sequence[Result], new: Sequence[Result]) -> LostFusion | None:
    before, after = _facts(old), _facts(new)
    return lost_fusion(before, after) if before is not None and after is not None else None


def _reads(results: Sequence[Result]) -> bool:
    return any(isinstance(result, EngineResult) and result.reads_warnings for result in results)


def _beyond(these: Sequence[Result], those: Sequence[Result]) -> tuple[NativeWarning, ...]:
    """Warnings of these that those had not; the same node and kind in other words is the same."""
    known = {_identity(warning) for result in those for warning in native_warnings_of(result)}
    native_warnings = [
        warning for result in these for warning in native_warnings_of(result) if _identity(warning) not in known
    ]
    return tuple(dict.fromkeys(native_warnings))


def _identity(native_warning: NativeWarning) -> tuple[str, str]:
    return native_warning.code.value, native_warning.node or native_warning.text
