"""Every engine that was ever approved: listed, and approved from a run that passed."""

from __future__ import annotations

import getpass
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.core.approval import ApprovalAction
from assay.core.baseline import Baseline, Recipe
from assay.core.job import MeasureJob
from assay.core.outcome import Outcome
from assay.core.result import MeasureResult
from assay.core.speed import INPUT_TYPES_SUFFIX
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.models.files import folder_digest
from assay.pipeline.adapters import Services
from assay.pipeline.baselines.approvals import gone_text, record_approval, standing_approvals
from assay.pipeline.baselines.find_baseline import ARTIFACT, FILE, FOLDER, baseline_folder, cell_name, read_baseline
from assay.pipeline.baselines.fingerprint import fingerprint
from assay.pipeline.kept_files.run_folders import CANDIDATES, RUNS_KEPT, candidate_dir
from assay.pipeline.open_run import Checked
from assay.pipeline.provenance import new_run_id
from assay.pipeline.rejudge import rejudge

REPLACED = "replaced-"
CURRENT = "current"
PASSED = (VerdictStatus.PASS, VerdictStatus.XFAIL)


@dataclass(frozen=True)
class Kept:
    """One approved engine. `id` is `current`, or what `rollback --to` takes. `trouble` says why it cannot be run again."""

    id: str
    folder: Path
    baseline: Baseline
    trouble: str


def kept_baselines(services: Services, case: str = "", flow: str = "", *, current: bool = False) -> list[Kept]:
    """All of this cell ("": of any), by case and flow, the current one first, then the latest. `current`: none that was replaced."""
    services.files.bring(cell_name(case, flow) if case and flow else f"{FOLDER}/")
    entries = [
        entry
        for entry in _all(services, current)
        if case in ("", entry.baseline.case) and flow in ("", entry.baseline.flow.name)
    ]
    newest = sorted(entries, key=lambda entry: entry.id, reverse=True)
    return sorted(newest, key=lambda entry: (entry.baseline.case, entry.baseline.flow.name, entry.id != CURRENT))


def damaged_baselines(services: Services) -> list[str]:
    """A sentence for each that cannot be read, or was approved and is there no more. It hides no other."""
    sentences, unread, standing = [], set(), standing_approvals(services)
    for path in _files(services):
        try:
            baseline = read_baseline(path)
        except UsageError as error:
            sentences.append(str(error))
            unread.add(path.parents[1])
            continue
        if not path.parent.name.startswith(REPLACED):
            standing.pop((baseline.case, baseline.flow.name, baseline.machine.kind), None)
    folder = services.folder
    gone = [approval for (case, flow, _), approval in standing.items() if folder / cell_name(case, flow) not in unread]
    return sentences + [gone_text(approval, services) for approval in gone]


def case_named(services: Services, model: str) -> str:
    """The case of that name, or of the model file of that name."""
    cases = {kept.baseline.case for kept in _all(services)}
    return model if model in cases or Path(model).stem not in cases else Path(model).stem


def approve(
    services: Services, run_id: str, reason: str, *, case: str = "", flow: str = "", who: str = ""
) -> list[Baseline]:
    """Make the engines of a run that passed current, as they are. Raises UsageError where a cell did not pass, or its engine was not
    kept."""
    demand_reason(reason)
    checked = rejudge(run_id, None, services)
    jobs = [
        job
        for job in checked.run.jobs
        if isinstance(job, MeasureJob) and case in ("", job.case.name) and flow in ("", job.flow.name)
    ]
    if not jobs:
        raise UsageError(
            f"run {checked.run.id} measured no engine of that name: `assay report {checked.run.id}` shows its rows"
        )
    ready = [(job, _passed(job, checked), _candidate(job, checked, services)) for job in jobs]
    return [
        _approve(job, result, artifact, reason, checked, services, who or getpass.getuser())
        for job, result, artifact in ready
    ]


def current_identity(final: Path) -> str | None:
    """Of the engine that is current in that folder: "" where none is, None where it cannot be read."""
    if not final.exists():
        return ""
    with suppress(UsageError):
        return read_baseline(final / FILE).identity
    return None


def make_current(folder: Path, final: Path) -> Path | None:
    """The folder takes the place of the current one, which is kept beside it: where (None: none was current)."""
    final.parent.mkdir(parents=True, exist_ok=True)
    kept_in = None
    if final.exists():
        kept_in = final.replace(final.parent / f"{REPLACED}{new_run_id(datetime.now(UTC))}")
    folder.replace(final)
    return kept_in


def _approve(
    job: MeasureJob,
    result: MeasureResult,
    artifact: Path,
    reason: str,
    checked: Checked,
    services: Services,
    who: str,
) -> Baseline:
    final = baseline_folder(services, job.case.name, job.flow.name, checked.run.machine)
    final.parent.mkdir(parents=True, exist_ok=True)
    cell = cell_name(job.case.name, job.flow.name)
    services.files.bring(cell)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    machine = checked.run.machine
    baseline = Baseline(
        job.case.name,
        job.case.model,
        job.flow,
        machine,
        result,
        who,
        reason,
        now,
        fingerprint=fingerprint(machine, job.case, job.flow, job.measuring),
        run=checked.run.id,
        id=new_run_id(datetime.now(UTC)),
        replaces=current_identity(final),
        recipe=Recipe(job.case.inputs, job.measuring, job.limits),
    )
    with tempfile.TemporaryDirectory(dir=final.parent) as name:
        staging = Path(name) / "new"
        shutil.copytree(artifact, staging / ARTIFACT)
        types = Path(f"{artifact}{INPUT_TYPES_SUFFIX}")
        if types.is_file():
            shutil.copy(types, f"{staging / ARTIFACT}{INPUT_TYPES_SUFFIX}")
        (staging / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(baseline), indent=1))
        record_approval(ApprovalAction.APPROVE, baseline, reason, services, who=who)
        make_current(staging, final)
        services.files.keep(cell)
    return baseline


def _passed(job: MeasureJob, checked: Checked) -> MeasureResult:
    """The result of the engine. Raises UsageError unless every job of its cell passed."""
    cell = f"{job.case.name}|{job.flow.name}|"
    bad = [
        verdict
        for verdict in checked.judgement.verdicts
        if verdict.job_key.startswith(cell) and verdict.word not in PASSED
    ]
    if bad:
        raise UsageError(
            f"{job.case.name} on {job.flow.name} did not pass in run {checked.run.id} ({bad[0].word.value}: {bad[0].reason}): only an "
            "engine that passed is approved this way; assay baseline set approves one in spite of that"
        )
    result = next((candidate for candidate in checked.results if candidate.job_key == job.key), None)
    if not isinstance(result, MeasureResult) or result.outcome is not Outcome.OK:
        raise UsageError(
            f"run {checked.run.id} did not measure {job.case.name} on {job.flow.name}: finish it with `assay resume`"
        )
    return result


def _candidate(job: MeasureJob, checked: Checked, services: Services) -> Path:
    services.files.bring(f"{CANDIDATES}/{checked.run.id}")
    path = candidate_dir(services, checked.run.id, job.case.name, job.flow.name)
    names = f"{job.case.name} on {job.flow.name}"
    if not path.is_dir():
        raise UsageError(
            f"run {checked.run.id} kept no engine of {names}: `assay check --baseline` keeps those of the last {RUNS_KEPT} runs; check "
            "again, or build one with assay baseline set"
        )
    result = next(candidate for candidate in checked.results if candidate.job_key == job.key)
    assert isinstance(result, MeasureResult)
    if folder_digest(path)[1] != result.facts.artifact_digest:
        raise UsageError(f"the engine of {names} that run {checked.run.id} kept has been changed since: check again")
    return path


def _files(services: Services) -> list[Path]:
    return sorted((services.folder / FOLDER).glob(f"*/*/*/{FILE}"))


def _all(services: Services, current: bool = False) -> Iterator[Kept]:
    """Those that can be read."""
    for path in _files(services):
        folder = path.parent
        replaced = folder.name.startswith(REPLACED)
        if replaced and current:
            continue
        with suppress(UsageError):
            baseline = read_baseline(path)
            identity = folder.name.removeprefix(REPLACED) if replaced else CURRENT
            yield Kept(identity, folder, baseline, _trouble(folder / ARTIFACT, baseline))


def _trouble(artifact: Path, baseline: Baseline) -> str:
    if not artifact.is_dir():
        return "its artifact is gone"
    changed = folder_digest(artifact)[1] != baseline.result.facts.artifact_digest
    return "its artifact is not what was approved" if changed else ""


def demand_reason(reason: str) -> None:
    """Raises UsageError where there is none."""
    if not reason.strip():
        raise UsageError("an approval needs a reason: give --reason")
