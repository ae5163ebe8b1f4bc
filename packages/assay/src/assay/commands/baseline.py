"""`assay baseline` as functions."""

from __future__ import annotations

from pathlib import Path

from assay.commands.check import prepared
from assay.commands.composition import open_services
from assay.core.approval import Approval, ApprovalAction
from assay.core.baseline import Baseline
from assay.core.golden import GoldenRevision
from assay.errors import UsageError
from assay.models.goldens import read_lock
from assay.options.check import CheckOptions
from assay.pipeline.baselines import baseline_history, find_baseline
from assay.pipeline.baselines.approvals import approvals, of_baseline, record_approval
from assay.pipeline.baselines.baseline_history import Kept
from assay.pipeline.baselines.baseline_rollback import rollback
from assay.pipeline.baselines.set_baseline import set_baseline
from assay.pipeline.progress import SILENT


def set_baselines(options: CheckOptions, reason: str) -> list[Baseline]:
    """Approve the engines of all models and flows that `options` name. Raises UsageError where one cannot be had."""
    with prepared(options, SILENT) as (request, services):
        return set_baseline(request, reason, services)


def remove_baseline(case: str, flow: str, history: str) -> int:
    """Raises UsageError where there is none."""
    with open_services(history) as services:
        case = baseline_history.case_named(services, case)
        removed = find_baseline.remove(services, case, flow)
        for baseline in removed:
            record_approval(ApprovalAction.REMOVE, baseline, "", services)
        services.files.keep(find_baseline.cell_name(case, flow))
        if not removed:
            known = (
                ", ".join(
                    f"{baseline.baseline.case} on {baseline.baseline.flow.name}"
                    for baseline in baseline_history.kept_baselines(services, current=True)
                )
                or "there is none"
            )
            raise UsageError(f"no baseline of {case!r} on {flow!r}: {known}")
        return len(removed)


def kept_baselines(history: str, case: str = "", flow: str = "") -> list[Kept]:
    """Every engine that was ever approved."""
    with open_services(history, recorded=True) as services:
        return baseline_history.kept_baselines(services, case, flow)


def damaged_baselines(history: str) -> list[str]:
    """A sentence for each that cannot be read."""
    with open_services(history, recorded=True) as services:
        return baseline_history.damaged_baselines(services)


def rollback_baseline(case: str, flow: str, to: str, reason: str, history: str) -> tuple[Baseline, Kept | None]:
    """Make an earlier engine current, and return it with the one that was (None: none). Raises UsageError."""
    with open_services(history) as services:
        return rollback(services, case, flow, to, reason)


def approve_run(
    run: str, reason: str, history: str, *, case: str = "", flow: str = "", who: str = ""
) -> list[Baseline]:
    """Make the engines of a run that passed current. `who` approves ("": who runs this). Raises UsageError, RunNotFound."""
    with open_services(history, recorded=True) as services:
        return baseline_history.approve(services, run, reason, case=case, flow=flow, who=who)


def audit_golden(folder: str) -> tuple[GoldenRevision, ...]:
    """Who recorded the golden in that folder and why, oldest first; () where it is no golden folder."""
    return read_lock(Path(folder)).revisions() if (Path(folder) / "golden.lock").is_file() else ()


def audit_model(model: str, history: str) -> list[Approval]:
    """Who approved which engine of the model (a case, or a file), oldest first. Raises UsageError where nobody did."""
    with open_services(history, recorded=True) as services:
        known = approvals(services)
        # Engines that were approved before there was a record.
        recorded = {(approval.engine, approval.case, approval.flow) for approval in known}
        for kept in baseline_history.kept_baselines(services):
            made = of_baseline(
                ApprovalAction.SET, kept.baseline, kept.baseline.created_at, kept.baseline.who, kept.baseline.reason
            )
            if (made.engine, made.case, made.flow) not in recorded:
                known.append(made)
    names = (model, Path(model).stem)
    matching = sorted((approval for approval in known if approval.case in names), key=lambda approval: approval.at)
    if not matching:
        cases = ", ".join(dict.fromkeys(approval.case for approval in known)) or "nothing"
        raise UsageError(f"nobody approved an engine of {model!r} in {history}; approvals are recorded of: {cases}")
    return matching
