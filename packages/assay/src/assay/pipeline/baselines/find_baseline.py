"""Baselines are engines: find the approved one of a cell again, and say why it cannot be compared with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.core.baseline import VERSION, Baseline, Fingerprint
from assay.core.case import Case
from assay.core.digest import value_digest
from assay.core.flow import Flow
from assay.core.limits import Measuring
from assay.core.machine import Machine
from assay.core.result import Result
from assay.core.run import Run
from assay.core.speed import BaselineEngine
from assay.errors import UsageError
from assay.judge.words.missing_text import reason_text
from assay.pipeline.adapters import Services
from assay.pipeline.baselines.approvals import gone_text, standing_approvals
from assay.pipeline.baselines.baseline_command import set_command
from assay.pipeline.baselines.fingerprint import differs, fingerprint
from assay.pipeline.provenance import new_run_id, this_machine

FILE = "baseline.json"
ARTIFACT = "artifact"
FOLDER = "baselines"
_GB = 2**30


class _Versioned(msgspec.Struct):
    version: int = VERSION


def kind_of(machine: Machine) -> tuple[str, int, int, tuple[str, ...]]:
    """What must be equal for two metrics to be comparable."""
    return machine.cpu, machine.cores, round(machine.memory_bytes / _GB), machine.gpus


def cell_name(case: str, flow: str) -> str:
    """Under which the approved engines of that cell are shared, those of every kind of machine."""
    return f"{FOLDER}/{safe_name(case)}/{safe_name(flow)}/"


def baselines(services: Services) -> Iterator[Baseline]:
    """All that are current, in the order of their names."""
    services.files.bring(f"{FOLDER}/")
    for path in sorted(_free_space(services).glob(f"*/*/*/{FILE}")):
        if not path.parent.name.startswith("replaced-"):
            yield read_baseline(path)


def remove(services: Services, case: str, flow: str) -> list[Baseline]:
    """Withdraw the approval of the current engines of this cell, on every kind of machine. They are kept, as those that were replaced."""
    withdrawn = []
    services.files.bring(cell_name(case, flow))
    for path in sorted((_free_space(services) / safe_name(case) / safe_name(flow)).glob(f"*/{FILE}")):
        if not path.parent.name.startswith("replaced-"):
            withdrawn.append(read_baseline(path))
            path.parent.replace(path.parent.parent / f"replaced-{new_run_id(datetime.now(UTC))}")
    return withdrawn


def find_baseline(case: Case, flow: Flow, measuring: Measuring, services: Services) -> BaselineEngine:
    """What an engine is compared with the baseline by: its engine, or the samples kept of it where the engine cannot be run
    any more. `BaselineEngine.trouble` says why there can be none."""
    machine = this_machine(services.gpus)
    services.files.bring(cell_name(case.name, flow.name))
    folder = baseline_folder(services, case.name, flow.name, machine)
    name = f"the baseline of {flow.name}"
    blank = BaselineEngine(name, flow, case.model)
    if not (folder / FILE).is_file():
        return msgspec.structs.replace(blank, trouble=_absent(case, flow, measuring, machine, services))
    try:
        baseline = read_baseline(folder / FILE)
    except UsageError as error:
        return msgspec.structs.replace(blank, trouble=str(error))
    dated = f"{name} of {baseline.created_at[:10]}"
    artifact, digest = str(folder / ARTIFACT), baseline.result.facts.artifact_digest
    baseline_engine = BaselineEngine(dated, baseline.flow, baseline.model, artifact, digest, _problem(baseline, case))
    gone = "" if baseline_engine.trouble else _gone(baseline, services)
    if not gone:
        return baseline_engine
    now = fingerprint(machine, case, flow, measuring)
    if trouble := _no_samples(baseline, now, measuring):
        return msgspec.structs.replace(baseline_engine, trouble=f"{gone}, and {trouble}; {_RENEW_ADVICE}")
    return msgspec.structs.replace(baseline_engine, name=f"samples kept of {dated}", stored=baseline.samples)


def approved_results(run: Run) -> list[Result]:
    """What was measured when the baselines of this run were approved: goals against "run" ask for it."""
    files = dict.fromkeys(
        Path(rival.artifact).parent / FILE for rival in run.baselines if rival.artifact and not rival.trouble
    )
    return [read_baseline(path).result for path in files if path.is_file()]


_RENEW_ADVICE = "approve a new one with assay baseline set"


def _problem(baseline: Baseline, case: Case) -> str:
    if not baseline.who.strip() or not baseline.reason.strip():
        return f"nobody approved the baseline, or gave no reason; {_RENEW_ADVICE}"
    if [tensor_spec.name for tensor_spec in baseline.model.inputs] != [
        tensor_spec.name for tensor_spec in case.model.inputs
    ]:
        return f"the model takes other inputs than that of the baseline; {_RENEW_ADVICE}"
    return ""


def _gone(baseline: Baseline, services: Services) -> str:
    """Why the baseline's engine cannot be run as it was; "" where it can."""
    was, now = baseline.result.facts.backend_version, services.available(baseline.flow)
    if not now.available:
        return f"the baseline's {baseline.flow.backend} {was} is not here any more ({reason_text(now)})"
    if now.version and was and was != now.version:
        return f"the baseline was built by {baseline.flow.backend} {was}, and {now.version} is installed"
    return ""


def _no_samples(baseline: Baseline, now: Fingerprint, measuring: Measuring) -> str:
    """Why the samples that were kept cannot stand in for the engine; "" where they can."""
    if not baseline.samples:
        return "no samples of it were kept"
    if len(measuring.batches) > 1:
        return f"the samples kept of it are of batch {baseline.fingerprint.batch} alone"
    difference = differs(baseline.fingerprint, now)
    return f"its samples were taken otherwise: {difference}" if difference else ""


def _absent(case: Case, flow: Flow, measuring: Measuring, machine: Machine, services: Services) -> str:
    set_one = f"approve one here: `{set_command(case, flow, measuring, 'why this engine', services.history)}`"
    for path in sorted((_free_space(services) / safe_name(case.name) / safe_name(flow.name)).glob(f"*/{FILE}")):
        if path.parent.name.startswith("replaced-"):
            continue
        with suppress(UsageError):
            there = read_baseline(path).machine
            return f"its baseline was approved on another machine ({there.kind}), this is {machine.kind}; {set_one}"
    approval = standing_approvals(services).get((case.name, flow.name, machine.kind))
    return gone_text(approval, services) if approval else f"{case.name} has no baseline on {flow.name}; {set_one}"


def read_baseline(path: Path) -> Baseline:
    """A baseline.json. Raises UsageError."""
    try:
        data = path.read_bytes()
        version = msgspec.json.decode(data, type=_Versioned).version
        if version > VERSION:
            raise UsageError(f"{path} has version {version}, this assay knows {VERSION}; upgrade assay")
        return msgspec.json.decode(data, type=Baseline)
    except (OSError, msgspec.MsgspecError) as error:
        raise UsageError(
            f"{path} is no baseline that can be read ({error}); remove its folder and approve again"
        ) from None


def _free_space(services: Services) -> Path:
    return services.folder / FOLDER


def baseline_folder(services: Services, case: str, flow: str, machine: Machine) -> Path:
    """Where the approved engine of that cell lies, for this kind of machine."""
    return (_free_space(services) / safe_name(case) / safe_name(flow) / value_digest(kind_of(machine))[:16]).absolute()


def safe_name(name: str) -> str:
    """A folder's name for any case: what a file system may refuse is replaced, and the digest keeps them apart."""
    plain = "".join(letter if letter.isalnum() or letter in "-_.@" else "_" for letter in name)[:80]
    return plain if plain == name and plain.strip(".") else f"{plain}-{value_digest(name)[:8]}"
