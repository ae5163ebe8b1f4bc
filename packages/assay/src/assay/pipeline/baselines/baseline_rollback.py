"""Make an earlier engine current again: the one before, the one before that, or one that is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from assay.core.approval import ApprovalAction
from assay.core.baseline import Baseline
from assay.errors import UsageError
from assay.pipeline.adapters import Services
from assay.pipeline.baselines.approvals import record_approval
from assay.pipeline.baselines.baseline_history import (
    CURRENT,
    REPLACED,
    Kept,
    case_named,
    demand_reason,
    kept_baselines,
    make_current,
)
from assay.pipeline.baselines.find_baseline import FOLDER, baseline_folder, cell_name, kind_of
from assay.pipeline.provenance import this_machine


def rollback(services: Services, case: str, flow: str, to: str, reason: str) -> tuple[Baseline, Kept | None]:
    """Make an earlier engine current on this kind of machine, and return it with the one that was, which is kept (None: none was current).
    `to` "": the one that was current when the current one was approved, so that each rollback goes one further back; an engine that
    cannot be run again is passed over. Raises UsageError."""
    demand_reason(reason)
    services.files.bring(f"{FOLDER}/")
    case = case_named(services, case)
    machine = this_machine(services.gpus)
    kept = [
        entry for entry in kept_baselines(services, case, flow) if kind_of(entry.baseline.machine) == kind_of(machine)
    ]
    current = next((entry for entry in kept if entry.id == CURRENT), None)
    replaced = [entry for entry in kept if entry.id != CURRENT]
    chosen = _named(replaced, to, case, flow) if to and replaced else _before(current, replaced, case, flow)
    if chosen is None:
        raise UsageError(_nothing_kept(case, flow, services))
    record_approval(ApprovalAction.ROLLBACK, chosen.baseline, reason, services)
    kept_in = make_current(chosen.folder, baseline_folder(services, case, flow, machine))
    services.files.keep(cell_name(case, flow))
    if current is None or kept_in is None:
        return chosen.baseline, None
    return chosen.baseline, replace(current, id=kept_in.name.removeprefix(REPLACED), folder=kept_in)


def _named(replaced: Sequence[Kept], to: str, case: str, flow: str) -> Kept:
    """The engine whose id begins so."""
    chosen = [entry for entry in replaced if entry.id.startswith(to)]
    if not chosen:
        known = ", ".join(entry.id for entry in replaced)
        raise UsageError(f"no earlier baseline {to!r} of {case} on {flow} on this kind of machine: there are {known}")
    if len(chosen) > 1:
        known = ", ".join(entry.id for entry in chosen)
        raise UsageError(f"more than one earlier baseline of {case} on {flow} begins with {to!r}: {known}")
    if chosen[0].trouble:
        raise UsageError(
            f"the engine of baseline {chosen[0].id} cannot be used: {chosen[0].trouble}; choose another (assay baseline list --all), or "
            "build it again with assay baseline set"
        )
    return chosen[0]


def _before(current: Kept | None, replaced: Sequence[Kept], case: str, flow: str) -> Kept | None:
    """The nearest whole engine of those that were current before this one; where none is current, the one that was last."""
    if not replaced:
        return None
    line = list(_line_of(current.baseline, replaced)) if current else list(replaced)
    whole = next((entry for entry in line if not entry.trouble), None)
    if whole is not None:
        return whole
    if line:
        known = "; ".join(f"{entry.id}: {entry.trouble}" for entry in line)
        raise UsageError(f"no earlier engine of {case} on {flow} can be current again on this kind of machine: {known}")
    assert current is not None
    last = current.baseline
    others = "; ".join(f"{entry.id}: {entry.baseline.reason}" for entry in replaced)
    raise UsageError(
        f"this is the first engine of {case} on {flow} that was approved ({last.created_at[:16]} by {last.who}: {last.reason}); name "
        f"another with --to: {others}"
    )


def _line_of(baseline: Baseline, replaced: Sequence[Kept]) -> Iterator[Kept]:
    """The engines before this one, the nearest first. Where it does not know which it replaced, or that one is gone: by the time of
    approval."""
    left = {entry.baseline.identity: entry for entry in replaced}
    while baseline.replaces != "":
        entry = left.get(baseline.replaces or "") or _latest_before(baseline, left.values())
        if entry is None:
            return
        del left[entry.baseline.identity]
        yield entry
        baseline = entry.baseline


def _latest_before(baseline: Baseline, entries: Iterable[Kept]) -> Kept | None:
    older = [entry for entry in entries if entry.baseline.created_at < baseline.created_at]
    return max(older, key=lambda entry: entry.baseline.created_at, default=None)


def _nothing_kept(case: str, flow: str, services: Services) -> str:
    cells = dict.fromkeys(f"{entry.baseline.case} on {entry.baseline.flow.name}" for entry in kept_baselines(services))
    return f"no earlier baseline of {case!r} on {flow!r} on this kind of machine; baselines are kept of: {', '.join(cells) or 'nothing'}"
