"""What the page shows when a row is opened: everything that its jobs observed, as text and as numbers to plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from assay.core.comparison import Comparison, Histogram
from assay.core.input_plan import InputFacts
from assay.core.measurement import Memory
from assay.core.model import Model
from assay.core.reference import Witness
from assay.core.result import (
    ChangeResult,
    CompareSpeedResult,
    LoadResult,
    MeasureResult,
    MutationScoreResult,
    Result,
    VerifyResult,
)
from assay.core.result_parts import (
    ComparedResult,
    LossResult,
    comparisons_of,
    facts_of,
    inputs_of,
    measurements_of,
    traces_of,
)
from assay.core.run import Run
from assay.core.verdict import Verdict
from assay.judge.load_metrics import load_metrics
from assay.judge.named_metrics import fragmentation
from assay.judge.operator_regressions import differences
from assay.judge.witnesses import described
from assay.judge.words.element_text import element_text
from assay.judge.words.finding_text import finding_text
from assay.judge.words.repeats_text import asked_again
from assay.judge.words.warnings_text import warnings_of
from assay.options.repro import repro_line
from assay.reports import format as text
from assay.reports.batch_sweep import KNEE_MEANS, LAUNCHES, curve, launches, operators, sweep
from assay.reports.by_class import by_class
from assay.reports.details import values
from assay.reports.html_build import Pairs, engine_pairs, model_pairs, pairs, shape_text
from assay.reports.html_latency import latency
from assay.reports.node_errors import node_rows
from assay.reports.rows import Entry, Row
from assay.reports.sanitize import one_line, sanitize, shortened
from assay.reports.used_inputs import source

LOG_LIMIT = 20_000


def detail(run: Run, row: Row) -> dict[str, object]:
    """Plain values for JSON; every text is free of control characters."""
    model = next((model for entry in row.entries if (model := _model_of(entry))), None)
    return {
        "case": one_line(row.case),
        "flow": one_line(row.flow),
        "word": row.word or "not run",
        "model": model_pairs(model) if model else [],
        "entries": [_entry(run, entry) for entry in row.entries],
    }


def _entry(run: Run, entry: Entry) -> dict[str, object]:
    shown: dict[str, object] = {
        "kind": entry.kind,
        "word": entry.word or "not run",
        "reasons": [_verdict(verdict) for verdict in entry.verdicts] or [["not run", one_line(entry.reason), ""]],
        "repro": one_line(repro_line(run, entry.asked)),
    }
    if entry.result is not None:
        shown |= _result(entry.result)
    return shown


def _verdict(verdict: Verdict) -> list[str]:
    """[word, reason, the metric it rests on]."""
    if not verdict.metric or verdict.observed is None:
        return [verdict.word.value, one_line(verdict.reason), ""]
    sentence = f"{verdict.metric}: observed {text.metric(verdict.metric, verdict.observed)}"
    if verdict.allowed is not None:
        sentence += f", allowed {text.metric(verdict.metric, verdict.allowed)}"
    return [verdict.word.value, one_line(verdict.reason), one_line(sentence)]


def _result(result: Result) -> dict[str, object]:
    facts = facts_of(result)
    return {
        "outcome": result.outcome.value,
        "detail": one_line(result.detail),
        "ended": _ended(result),
        "inputs": [_input(input_facts) for input_facts in inputs_of(result)],
        "stages": [[time.stage.value, time.seconds, text.duration(time.seconds)] for time in result.stage_times],
        "findings": _findings(result),
        "comparisons": list(_comparisons(result)),
        **_task(_named(result)),
        "measurements": [latency(measurement) for measurement in measurements_of(result)],
        "soak": _soak(result),
        "sweep": _sweep(result),
        "curve": curve(result),
        "launches": {"header": list(LAUNCHES), "rows": launches(result)},
        "nodes": node_rows(result),
        "costs": [[one_line(cell) for cell in row] for row in operators(result)],
        "changes": _changes(result),
        "build": engine_pairs(result),
        "placements": [
            [one_line(p.operator), one_line(p.device), one_line(p.precision), one_line(p.role), str(p.count)]
            for p in facts.placements
        ],
        "undelegated": [one_line(name) for name in facts.undelegated],
        "warnings": [sanitize(warning) for warning in warnings_of(result)],
        "log": sanitize(shortened(sanitize(result.log), LOG_LIMIT)),
        "traces": [[one_line(path), Path(path).absolute().as_uri()] for path in traces_of(result)],
        "versions": pairs(sorted(result.versions.items())),
    }


def _findings(result: Result) -> list[list[str]]:
    """Those that are not shown with an output."""
    if not isinstance(result, ComparedResult):
        return []
    compared = {finding for comparison in result.comparisons for finding in comparison.findings}
    return [[f.output, f.kind, finding_text(f)] for f in result.findings if f not in compared]


def _comparisons(result: Result) -> Iterable[dict[str, object]]:
    yield from map(_comparison, comparisons_of(result))
    if isinstance(result, LossResult):
        whose = one_line(f"'{result.original}'") if result.original else "the float model"
        yield from (_comparison(comparison, f", against {whose}") for comparison in result.against_float)


def _named(result: Result) -> Mapping[str, float]:
    match result:
        case VerifyResult() | ChangeResult():
            return result.task_metrics
        case MutationScoreResult():
            return result.scores
        case LoadResult():
            return load_metrics(result)
        case _:
            return {}


def _task(named: Mapping[str, float]) -> dict[str, object]:
    whole, names, classes = by_class(named)
    rows = [
        [str(number), *(text.metric(name, of[name]) if name in of else "" for name in names)]
        for number, of in classes.items()
    ]
    return {"taskMetrics": _metrics(whole), "classes": {"header": ["class", *map(one_line, names)], "rows": rows}}


def _changes(result: Result) -> list[str]:
    """Of the engine against its baseline."""
    if not isinstance(result, CompareSpeedResult) or not result.speeds:
        return []
    return [one_line(difference) for difference in differences(result.baseline_facts, result.facts)]


def _input(input_facts: InputFacts) -> list[str]:
    """[name, type and shapes, values, where they come from]."""
    shapes = " or ".join(map(shape_text, input_facts.shapes[:3]))
    values = (
        ""
        if input_facts.least is None or input_facts.most is None
        else f"{text.number(input_facts.least)} to {text.number(input_facts.most)}"
    )
    return [one_line(input_facts.name), f"{input_facts.dtype} {shapes}", values, one_line(source(input_facts))]


def _ended(result: Result) -> Pairs:
    repeated = "a fresh process did not repeat the crash: it needs the jobs before it"
    return pairs(
        (
            ("Outcome", result.outcome.value),
            ("Reached", result.stage.value),
            ("Cause", "" if result.cause.value == "none" else result.cause.value),
            ("Node", result.node),
            ("Signal", result.signal),
            ("Attempts", str(result.attempts) if result.attempts > 1 else ""),
            ("Repeated", repeated if result.only_after_other_jobs else ""),
            *_vouchers(result),
            ("Asked again", asked_again(result.repeats) if isinstance(result, VerifyResult) else ""),
            ("Took", text.duration(result.seconds)),
            ("Started", result.started_at),
            ("Log", one_line(result.log_file)),
        )
    )


def _vouchers(result: Result) -> Iterable[tuple[str, str]]:
    if isinstance(result, ComparedResult):
        yield "Reference", described(result.reference)
        yield "Witnesses", "; ".join(map(_witness, result.witnesses))
    if isinstance(result, LossResult):
        yield "Float reference", described(result.float_reference)
        yield "Its witnesses", "; ".join(map(_witness, result.float_witnesses))


def _witness(witness: Witness) -> str:
    """What it says of the reference, and of the engine where it was asked."""
    words = {True: "agrees with", False: "differs from"}
    sides = (("the reference", witness.agrees_with_reference), ("the engine", witness.agrees_with_engine))
    sides_text = [f"{words[agrees]} {side}" for side, agrees in sides if agrees is not None]
    where = f" (at node {witness.node})" if witness.node else ""
    return f"{witness.flow} {', '.join(sides_text) or f'could not be asked: {witness.detail}'}{where}"


def _comparison(compared: Comparison, what: str = "") -> dict[str, object]:
    place = f" at {compared.at}" if compared.at else ""
    return {
        "output": one_line(f"{compared.output}{place}{what}"),
        "about": _about(compared),
        "allowed": f"|error| ≤ {text.number(compared.atol)} + {text.number(compared.rtol)} × |expected|",
        "findings": [[finding.kind, one_line(finding_text(finding))] for finding in compared.findings],
        "degenerate": one_line(finding_text(compared.degenerate)),
        "metrics": dict(_metrics(compared.metrics)),
        "worst": [
            [shape_text(w.index), element_text(w.expected), element_text(w.actual), text.number(w.actual - w.expected)]
            for w in compared.worst
        ],
        "errors": _histogram(compared.error_histogram),
        "ulps": _histogram(compared.ulp_histogram),
    }


def _about(compared: Comparison) -> str:
    known = f"{compared.dtype} {shape_text(compared.shape)}, {compared.samples} samples, {compared.elements} elements"
    return f"{known}; {values(compared.actual)}" if compared.actual is not None else known


def _histogram(histogram: Histogram | None) -> dict[str, object] | None:
    if histogram is None or not histogram.counts:
        return None
    return {"edges": [text.number(edge) for edge in histogram.edges], "counts": list(histogram.counts)}


def _soak(result: Result) -> dict[str, object] | None:
    """Memory over the calls of the soak: [name, bytes as text, MB at each reading]; nothing where it was not read."""
    memory = result.memory if isinstance(result, MeasureResult) else Memory()
    named = (("resident", memory.soak_bytes), ("held", memory.held_bytes), ("in use", memory.live_bytes))
    lines = [[name, text.size(read[-1]), [read_bytes / 1e6 for read_bytes in read]] for name, read in named if read]
    if not lines:
        return None
    rows = [["Most resident", text.size(memory.soak_peak_bytes)]]
    rows += [["Not in use, of what the allocator holds", f"{100 * share:.1f} %"] for _, share in fragmentation(memory)]
    batches = ", ".join(map(str, memory.soak_batches))
    return {
        "calls": list(memory.soak_calls),
        "batches": batches,
        "lines": lines,
        "figures": [row for row in rows if row[1]],
    }


def _sweep(result: Result) -> dict[str, object] | None:
    header, lines = sweep(result)
    return {"header": list(header), "rows": lines, "knee": KNEE_MEANS} if lines else None


def _metrics(metrics: Mapping[str, float]) -> Pairs:
    return [[one_line(name), text.metric(name, value)] for name, value in metrics.items()]


def _model_of(entry: Entry) -> Model | None:
    return entry.job.case.model if entry.job else None
