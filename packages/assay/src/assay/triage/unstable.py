"""Where two runs part: the narrowest part of the graph whose answers to the same inputs differ, asked again and again."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.core.region import RegionError
from assay.core.repeats import Pattern
from assay.core.result import RegionResult, Result, VerifyResult
from assay.triage.cause import Cause, Doubt, Where
from assay.triage.context import Context
from assay.triage.graph import Graph, Places
from assay.triage.localize import WIDTHS, windows_of
from assay.triage.passes import Brought, find_cures
from assay.triage.prober import OutOfTime, Prober
from assay.triage.reduce import minimize
from assay.triage.symptom import UNSTABLE, Symptom

RUNS = 8
"""Of one part, each built again: what parts in a third of its runs is missed once in twenty-five."""
CALLS = 16
"""Of each engine."""
FEW = 2
"""Engines of a part, where the calls of one differ."""
BY_CALLS = {Pattern.FIRST_CALL, Pattern.CALLS, Pattern.DRIFT, Pattern.EVERY_CALL}
"""What shows itself in `CALLS` of one engine."""


def builds_for(result: Result) -> int:
    """How many engines of a part are compared: few, where the verdict says that calls of one engine differ."""
    patterns = (
        {instability.pattern for instability in result.repeats.found} if isinstance(result, VerifyResult) else set()
    )
    return FEW if patterns & BY_CALLS else RUNS


async def find_unstable(context: Context, graph: Graph, prober: Prober) -> Cause | None:
    """The first width at which a window parts, made smaller; None where none does."""
    for width in WIDTHS:
        for start in (0,) if width == 1 else (0, width // 2):
            windows = windows_of(graph, graph.order, width, start)
            error = await _parting(prober, windows, builds=context.builds)
            if error is not None:
                context.tell(f"runs part at: {', '.join(graph.labels(windows[error.window])[:4])}")
                return await _cause(context, graph, prober, windows[error.window], error)
    return None


async def _cause(context: Context, graph: Graph, prober: Prober, places: Places, error: RegionError) -> Cause:
    output, folder, doubts = error.output, context.folder / "cause-1", [Doubt.NO_SCRIPT_OF_UNSTABLE]
    small, brought = graph.before(output, places), Brought(context.job.flow)

    async def ask(flow: Flow, *, listed: bool = False, after: Flow | None = None) -> RegionResult:
        first = await prober.ask([small], flow, outputs=(output,), derive=False, list_passes=listed, after=after)
        if listed or first.outcome is not Outcome.OK:
            return first
        parts = await _parting(prober, [small], flow, outputs=(output,), after=after, builds=context.builds)
        return replace(first, errors=() if parts is None else (parts,))

    async def fails(candidate: Places) -> bool:
        return await _parting(prober, [candidate], outputs=(output,), builds=context.builds) is not None

    try:
        small = await minimize(graph, (output,), small, fails, lambda best: None)
        brought = await find_cures(context.backend, context.job.flow, ask, lambda result: bool(result.errors))
        await prober.ask([small], outputs=(output,), derive=False, save_dir=str(folder / "smallest"))
    except OutOfTime:
        doubts.append(Doubt.OUT_OF_TIME)
    return Cause(
        job_key=context.job.key,
        model=context.job.case.name,
        flow=context.job.flow.name,
        backend=context.job.flow.backend,
        versions=prober.versions,
        where=Where.NODE if graph.size(small) == 1 else Where.COMBINATION,
        end=context.end,
        symptom=Symptom(UNSTABLE, output, error.rel_l2),
        nodes=tuple(graph.labels(small)),
        operators=tuple(graph.operators(small)),
        nodes_of_model=graph.size(range(len(graph.nodes))),
        kernel=brought.kernel,
        cures=tuple(brought.cures),
        tried=brought.tried,
        doubts=tuple(doubts),
        folder=str(folder),
        asked=prober.asked,
    )


async def _parting(
    prober: Prober,
    windows: Sequence[Places],
    flow: Flow | None = None,
    *,
    outputs: tuple[str, ...] = (),
    after: Flow | None = None,
    builds: int = RUNS,
) -> RegionError | None:
    """Of the window whose runs differ most in how far they are from float64; None where all are the same. Windows that cannot be run
    together are run in halves."""
    first: dict[int, RegionError] = {}
    errors: dict[int, RegionError] = {}
    for attempt in range(builds):
        result = await prober.ask(
            windows, flow, outputs=outputs, derive=False, after=after, attempt=attempt, runs=CALLS
        )
        if result.outcome is not Outcome.OK:
            return await _in_halves(prober, windows, flow, outputs, after, builds) if len(windows) > 1 else None
        errors = {error.window: error for error in result.errors if error.kind == UNSTABLE}
        for error in result.errors:
            if error.kind == UNSTABLE:
                continue
            before = first.setdefault(error.window, error)
            if error.window not in errors and _differ(before, error):
                errors[error.window] = replace(error, kind=UNSTABLE, rel_l2=max(before.rel_l2, error.rel_l2))
        if errors:
            break
    return max(errors.values(), key=lambda region_error: region_error.rel_l2, default=None)


async def _in_halves(
    prober: Prober,
    windows: Sequence[Places],
    flow: Flow | None,
    outputs: tuple[str, ...],
    after: Flow | None,
    builds: int,
) -> RegionError | None:
    half = len(windows) // 2
    left = await _parting(prober, windows[:half], flow, outputs=outputs, after=after, builds=builds)
    right = await _parting(prober, windows[half:], flow, outputs=outputs, after=after, builds=builds)
    if right is not None:
        right = replace(right, window=right.window + half)
    return max(
        (region_error for region_error in (left, right) if region_error is not None),
        key=lambda region_error: region_error.rel_l2,
        default=None,
    )


def _differ(region_error: RegionError, other: RegionError) -> bool:
    return (region_error.rel_l2, region_error.share, region_error.bias) != (other.rel_l2, other.share, other.bias)
