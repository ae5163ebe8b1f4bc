"""A run over suites for a spreadsheet: the columns of ExecuTorch's backend tester first, in its words, then ours."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from assay.core.engine_info import EngineInfo, Placement
from assay.core.outcome import FAILS_BY_DEFAULT, Outcome, Stage
from assay.core.result import Result
from assay.core.result_parts import comparisons_of, facts_of
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.judge.outcome_table import ANSWERS, MACHINE
from assay.options.repro import repro_line
from assay.reports.columns import columns_of
from assay.reports.csv import guarded
from assay.reports.rows import Entry, common_prefix, entries, row_of

PEER = (
    "Test ID", "Test Case", "Subtest", "Flow", "Params", "Result", "Result Detail", "Delegated", "Quantize Time (s)",
    "Lower Time (s)", "Delegated Nodes", "Undelegated Nodes", "Delegated Ops", "Undelegated Ops", "PTE Size (Kb)",
    *(f"Output {place} {what}" for place in (0, 1) for what in ("Error Max", "Error MAE", "SNR")), "Error",
)  # fmt: skip
"""The 22 columns of its reports, with its names: scripts that read those read this."""

_ERRORS = [column for column in columns_of("suite-csv") if column.part == "error"]
_COSTS = [column for column in columns_of("suite-csv") if column.part == "cost"]
OURS = (
    "run", "case", "verdict", "reason", "outcome", "stage", "cause", "node", "seed", "inputs",
    *(column.field for column in _ERRORS), "rtol", "atol",
    *(f"{stage.value}_s" for stage in Stage if stage is not Stage.START), "seconds", *(column.field for column in _COSTS),
    "precision", "backend_version", "attempts", "repro",
)  # fmt: skip

_RESULT = {"pass": "Pass", "xfail": "Fail", "skip": "Skip"}
_STAGES = {
    Stage.TRANSFORM: "Fail (Quantize)",
    Stage.LOWER: "Fail (Lowering)",
    Stage.SAVE: "Fail (Lowering)",
    Stage.LOAD: "Fail (PTE Load)",
    Stage.RUN: "Fail (PTE Run)",
    Stage.COMPARE: "Fail (Output Mismatch)",
}


_AFTER = (Stage.SAVE, Stage.LOAD, Stage.RUN, Stage.COMPARE, Stage.MEASURE)
"""Stages that only an engine that was lowered reaches."""


class SuiteCsv:
    """Columns as in `PEER` and `OURS`, at full precision; a cell is empty where nothing was observed."""

    name = "suite-csv"
    suffix = ".csv"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """One line per job; text that a spreadsheet would take for a formula starts with an apostrophe."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow((*PEER, *OURS))
        for entry in entries(run, results, judgement):
            writer.writerow([*_peer(entry), *_ours(run, entry)])
        return out.getvalue()


def _peer(entry: Entry) -> list[str]:
    case, flow = entry.names
    base, params = common_prefix(case)
    result = entry.result
    cells = [case, base, "0", flow, params, _RESULT.get(entry.word, "Fail"), _detail(result)]
    if result is None:
        return [*(guarded(cell) for cell in cells), *("" for _ in range(len(PEER) - len(cells)))]
    took = {time.stage: time.seconds for time in result.stage_times}
    facts, compared = facts_of(result), comparisons_of(result)
    delegated = facts.delegated
    lowered = is_lowered(result)
    cells += [
        "" if not lowered else "False" if delegated == 0 or result.outcome is Outcome.UNDELEGATED else "True",
        _number(took.get(Stage.TRANSFORM)),
        _number(took.get(Stage.LOWER)),
        _number(None if not lowered else _delegated(facts)),
        str(len(facts.undelegated)) if lowered else "",
        _counted(_taken(facts)),
        _counted(Counter(facts.undelegated)),
        _number(facts.artifact_bytes / 1000 if facts.artifact_bytes else None),
    ]
    for place in (0, 1):
        metrics = compared[place].metrics if place < len(compared) else {}
        cells += [_number(metrics.get(name)) for name in ("max_abs", "mean_abs", "sqnr_db")]
    cells.append("" if result.outcome is Outcome.OK else result.detail)
    return [guarded(cell) for cell in cells]


def is_lowered(result: Result) -> bool:
    """Whether there was an engine: what is delegated is known of nothing else. A backend that says that it delegates nothing has said so
    while it lowered."""
    return result.outcome is Outcome.UNDELEGATED or result.stage in _AFTER or facts_of(result).artifact_bytes > 0


def _delegated(facts: EngineInfo) -> int:
    if facts.delegated is not None:
        return facts.delegated
    return sum(placement.count for placement in facts.placements) - len(facts.undelegated)


def _taken(facts: EngineInfo) -> Counter[str]:
    """What a delegate runs: all but the steps of quantization, on each device but those where the undelegated ones are."""
    delegates = facts.delegated is not None or facts.undelegated
    left = Counter(facts.undelegated)
    devices = defaultdict[str, list[Placement]](list)
    for placement in facts.placements:
        devices[placement.device].append(placement)
    taken = Counter[str]()
    for placed in devices.values():
        computed = _counts(placement for placement in placed if placement.role not in ("cast", "reformat"))
        if delegates and computed <= left:
            left -= computed
        else:
            taken += _counts(placement for placement in placed if placement.role != "cast")
    return taken


def _counts(placed: Iterable[Placement]) -> Counter[str]:
    counts = Counter[str]()
    for placement in placed:
        counts[placement.operator] += placement.count
    return counts


def _counted(operators: Counter[str]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in sorted(operators.items()))


def _detail(result: Result | None) -> str:
    if result is None:
        return "Skipped"
    if result.outcome in ANSWERS - set(FAILS_BY_DEFAULT):
        return "Success (Delegated)" if facts_of(result).delegated != 0 else "Success (Undelegated)"
    if result.outcome is Outcome.UNDELEGATED:
        return "Success (Undelegated)"
    if result.outcome in MACHINE:
        return "Skipped"
    if result.outcome is Outcome.TIMEOUT:
        return "Fail (Other)"  # a limit of time blames no stage
    if result.outcome is Outcome.CRASH:
        return "Process Crash"
    return _STAGES.get(result.stage, "Fail (Other)")


def _ours(run: Run, entry: Entry) -> list[str]:
    result, job = entry.result, entry.job
    row = row_of([entry])
    took = {time.stage: time.seconds for time in result.stage_times} if result else {}
    compared = next(iter(comparisons_of(result)), None) if result else None
    facts = facts_of(result) if result else EngineInfo()
    specs = job.case.model.inputs if job else ()
    text = [
        run.id,
        entry.names[0],
        entry.word,
        entry.reason,
        result.outcome.value if result else "",
        result.stage.value if result else "",
        result.cause.value if result else "",
        result.node if result else "",
        str(job.case.inputs.seed) if job else "",
        "; ".join(f"{spec.name} {spec.dtype}[{', '.join(map(str, spec.shape))}]" for spec in specs),
    ]
    return [
        *(guarded(cell) for cell in text),
        *(_number(column.exact(row)) for column in _ERRORS),
        _number(compared.rtol if compared else None),
        _number(compared.atol if compared else None),
        *(_number(took.get(stage)) for stage in Stage if stage is not Stage.START),
        _number(result.seconds if result else None),
        *(_number(column.exact(row)) for column in _COSTS),
        facts.precision,
        facts.backend_version,
        str(result.attempts) if result else "",
        guarded(repro_line(run, entry.asked)),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)
