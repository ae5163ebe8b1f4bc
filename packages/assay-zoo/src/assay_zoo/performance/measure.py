"""One flow of a submission measured, alone on the machine, in a fresh process: at batch one and one thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.core.case import Case
from assay.core.job import MeasureJob
from assay.core.limits import Measuring
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.core.result_parts import measurements_of
from assay.errors import UnknownName
from assay.judge.named_metrics import metrics, samples_missing
from assay.judge.words.missing_text import missing_text
from assay.pipeline.adapters import Services
from assay.plugins import find_flow
from assay_zoo.check import CheckOutcome
from assay_zoo.functionality.golden_sets import limits_of
from assay_zoo.policy import RunLimits

SECONDS = 1.0
_NAMES = {
    "latency_ms": "latency.median_ms",
    "latency_p95_ms": "latency.p95_ms",
    "throughput_per_s": "throughput.per_s",
    "peak_memory_bytes": "memory.run_peak_bytes",
}
"""Of a manifest, and what `assay check` calls it."""


@dataclass(frozen=True)
class Measured:
    """`metrics` by the names of a scenario's measures; `missing` says why one is not there. `stable`: the warm-up settled."""

    flow: str
    outcome: CheckOutcome
    sentence: str
    figures: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    stable: bool = True


def measure(case: Case, flow_name: str, size_bytes: int, run: RunLimits, services: Services) -> Measured:
    """`case` has a golden with the inputs; `size_bytes` is that of the model with its external data."""
    try:
        flow = find_flow(flow_name)
    except UnknownName as error:
        return Measured(flow_name, CheckOutcome.UNDECIDED, f"the scenario cannot be followed: {error}")
    here = services.available(flow)
    if not here.available:
        text = f"{flow_name} is not available here: {missing_text(here)}"
        return Measured(flow_name, CheckOutcome.INFRASTRUCTURE, text)
    job = MeasureJob(case, flow, limits=limits_of(run), measuring=Measuring(seconds=SECONDS, batches=_batches(case)))
    (result,) = services.jobs.complete(services.jobs.together([job]))
    if result.outcome is not Outcome.OK:
        ours = result.outcome in (Outcome.INFRASTRUCTURE, Outcome.UNAVAILABLE)
        outcome = CheckOutcome.INFRASTRUCTURE if ours else CheckOutcome.FAILED
        return Measured(flow_name, outcome, f"{flow_name}: {result.outcome.value}, {result.detail}")
    return _taken(flow_name, result, size_bytes)


def _batches(case: Case) -> tuple[int, ...]:
    """Batch one where the model takes it; else the inputs as they are."""
    firsts = [spec.shape[0] if spec.shape else None for spec in case.model.inputs]
    return (1,) if all(first == 1 or isinstance(first, str) for first in firsts) else ()


def _taken(flow: str, result: Result, size_bytes: int) -> Measured:
    known = metrics(result)
    metrics_taken = {name: known[theirs] for name, theirs in _NAMES.items() if theirs in known}
    metrics_taken["size_bytes"] = float(size_bytes)
    loads = [time.seconds for time in result.stage_times if time.stage is Stage.LOAD]
    if loads:
        metrics_taken["load_s"] = sum(loads)
    missing = {}
    for name, theirs in _NAMES.items():
        short = samples_missing(result, theirs)
        if name not in metrics_taken and short is not None:
            missing[name] = f"it needs {short[0]} samples and {short[1]} were taken"
    taken = measurements_of(result)
    samples = sum(len(measurement.wall_s) for measurement in taken)
    stable = all(measurement.stable for measurement in taken)
    latency = f"{metrics_taken['latency_ms']:.4g} ms, " if "latency_ms" in metrics_taken else ""
    text = f"{flow}: {latency}{size_bytes} bytes, {samples} calls timed at batch {taken[0].batch}"
    return Measured(flow, CheckOutcome.PASSED, text, metrics_taken, missing, stable)
