"""`assay upgrade` as a function: two releases of a backend on the same models, before anything is deployed."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from assay import plugins
from assay.commands.check_request import read_config, request_of
from assay.commands.composition import open_services
from assay.commands.first_config import quoted
from assay.config.assay_toml import load_policy
from assay.core.case import Inputs
from assay.core.environment import SEPARATOR
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import FlowJob, Job
from assay.core.limits import Limits, Measuring
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.result import VerifyResult
from assay.core.result_parts import speeds_of
from assay.core.speed import SpeedComparison, SpeedRule, interim_looks
from assay.environments.releases import pinned, require_releases
from assay.errors import AssayError, EnvironmentFailed, UsageError
from assay.judge.speed import judge_comparison
from assay.options.check import CheckOptions
from assay.options.upgrade import UpgradeOptions
from assay.pipeline.adapters import Services
from assay.pipeline.check import check
from assay.pipeline.compare import CompareRequest, compare
from assay.pipeline.inspect_models import inspect_models
from assay.pipeline.open_run import Checked
from assay.pipeline.progress import SILENT, Progress
from assay.pipeline.request import ModelRequest, Request
from assay.ports import ShowsPlainUse
from assay.triage.cause import Cause
from assay.triage.kept_upgrades import keep_upgrade
from assay.triage.speed import Speed, speed_of
from assay.triage.triage import RedVerdict, triage_verdict
from assay.triage.upgrade import MOST_PERCENT, Answers, Lost, ModelChange, Upgrade, changed

SAMPLING_S = 0.2
COMPARISON_S = 300.0
_RELEASE = re.compile(r"\d[0-9A-Za-z.+!-]*")


@dataclass(frozen=True)
class _Sides:
    """The flow in the two environments."""

    old: Flow
    new: Flow


def run_upgrade(
    options: UpgradeOptions, progress: Progress = SILENT, tell: Callable[[str], None] = lambda text: None
) -> Upgrade:
    """Raises UsageError for a folder without models, for a backend whose packages are not known, and for a release that does
    not exist (before anything is built); EnvironmentFailed where a
    release cannot be installed."""
    flow = plugins.find_flow(options.backend)
    models = _models(options.models)
    for version in (options.old, options.new):
        if not _RELEASE.fullmatch(version):
            raise UsageError(f"{version!r} is no release: give a version as the registry has it, for example 1.31.1")
    if options.golden is not None and not options.golden.is_dir():
        raise UsageError(f"--golden: there is no folder {options.golden}")
    if options.old == options.new:
        raise UsageError(f"{options.old} is given twice: name the release that is deployed and the one that may come")
    text, rule = config_of(flow, options, models), speed_rule(options)
    for package in (name for name in packages_of(flow) if "==" not in name):
        require_releases(package, (options.old, options.new))
    with tempfile.TemporaryDirectory(prefix="assay-upgrade-") as folder:
        config_file = Path(folder) / "assay.toml"
        config_file.write_text(text)
        kind = "verify" if options.no_speed else "all"
        check_options = CheckOptions(
            config=config_file,
            policy=options.policy,
            measure_seconds=SAMPLING_S,
            only_kind=kind,
            command=options.command,
        )
        config = read_config(check_options)
        request = request_of(check_options, config)
        with open_services(options.history, workers=options.workers, progress=progress, config=config) as services:
            checked, unreadable = _checked(request, services)
            lost = [ModelChange(path.stem, Answers.UNREADABLE, detail=why) for path, why in unreadable.items()]
            models = [path for path in models if path not in unreadable]
            sides = _Sides(*(_flow_of(checked, flow, version) for version in (options.old, options.new)))
            _require_installed(checked, sides)
            changes = [_change(checked, model, sides) for model in models]
            for change in [*lost, *changes]:
                tell(f"{change.model}: {change.answers.value.replace('_', ' ')}")
            if not options.no_speed:
                changes = [
                    _with_speed(change, path, sides, rule, options.command, services)
                    for change, path in zip(changes, models, strict=True)
                ]
            causes = _causes(checked, changes, sides, options, services, tell)
            upgrade = Upgrade(flow.backend, options.old, options.new, (*changes, *lost), causes)
            keep_upgrade(services.folder, upgrade, datetime.now(UTC))
    return upgrade


def _checked(request: Request, services: Services) -> tuple[Checked, dict[Path, str]]:
    """The models that can be read on both releases, and of the others why they cannot. Raises UsageError where none can."""
    try:
        return check(request, services), {}
    except UsageError:
        unreadable = {model.path: why for model in request.models if (why := _unreadable(model, request, services))}
        if len(unreadable) in (0, len({model.path for model in request.models})):
            raise
    left = tuple(model for model in request.models if model.path not in unreadable)
    return check(dataclass_replace(request, models=left), services), unreadable


def _unreadable(model_request: ModelRequest, request: Request, services: Services) -> str:
    """Why this file alone is refused; "" where it is not."""
    try:
        services.jobs.complete(inspect_models([model_request], request.limits, services))
    except UsageError as error:
        return str(error)
    return ""


def _models(folder: Path) -> list[Path]:
    if not folder.exists():
        raise UsageError(f"there is no file or folder {folder}: name the folder of the models that are deployed")
    paths = [folder] if folder.is_file() else sorted(folder.glob("*.onnx"))
    if not paths:
        raise UsageError(f"{folder} has no ONNX file: name the folder of the models that are deployed")
    return [path.absolute() for path in paths]


def _name(version: str) -> str:
    return "release-" + re.sub(r"[.+!]", "-", version)


def packages_of(flow: Flow) -> tuple[str, ...]:
    """Those that are of one version with the backend. Raises UsageError where they are not known."""
    backend = plugins.load("assay.backends", flow.backend)()
    if not isinstance(backend, ShowsPlainUse):
        raise UsageError(f"the packages of {flow.backend} are not known: it has no plain_packages")
    return backend.plain_packages


def config_of(flow: Flow, options: UpgradeOptions, models: Sequence[Path]) -> str:
    """An assay.toml with both releases as environments."""
    packages = packages_of(flow)
    releases = (options.old, options.new)
    text = [
        f"flows = {{ use = [{', '.join(quoted(f'{flow.name}{SEPARATOR}{_name(release)}') for release in releases)}] }}"
    ]
    for version in releases:
        requirements = [pinned(package, version) for package in packages]
        text += [f"[environments.{_name(version)}]", f"requires = [{', '.join(map(quoted, requirements))}]"]
    for model in models:
        text += ["[[model]]", f"path = {quoted(str(model))}", f"name = {quoted(model.stem)}"]
        golden = options.golden and (options.golden / model.stem).absolute()
        if golden and golden.is_dir():
            text.append(f"golden = {quoted(str(golden))}")
    return "\n".join(text) + "\n"


def _flow_of(checked: Checked, flow: Flow, version: str) -> Flow:
    name = f"{flow.name}{SEPARATOR}{_name(version)}"
    return next(job.flow for job in checked.run.jobs if isinstance(job, FlowJob) and job.flow.name == name)


def _require_installed(checked: Checked, sides: _Sides) -> None:
    """Raises EnvironmentFailed where a release could not be installed: no model ran on it."""
    for side in (sides.old, sides.new):
        ran = [result for result in checked.results if isinstance(result, VerifyResult) and result.flow == side.name]
        if ran and all(verify_result.outcome is Outcome.UNAVAILABLE for verify_result in ran):
            raise EnvironmentFailed(ran[0].detail)


def _change(checked: Checked, model: Path, sides: _Sides) -> ModelChange:
    each = [
        [result for result in checked.results if result.case == model.stem and result.flow == side.name]
        for side in (sides.old, sides.new)
    ]
    words = {verdict.job_key: verdict.word for verdict in checked.judgement.verdicts}
    keys = [next((result.job_key for result in side if isinstance(result, VerifyResult)), "") for side in each]
    verified = [words.get(key) for key in keys]
    return changed(model.stem, each[0], each[1], verified)


def speed_rule(options: UpgradeOptions) -> SpeedRule:
    """The gate's rule, with the slowdown that an upgrade may cost: another release lays its code out in another way. Raises BadPolicy."""
    rule = load_policy(options.policy).speed if options.policy else with_floor(SpeedRule(), MOST_PERCENT)
    if options.max_slowdown is not None:
        rule = with_floor(rule, options.max_slowdown)
    return replace(rule, looks=interim_looks(options.launches))


def with_floor(rule: SpeedRule, percent: float) -> SpeedRule:
    """Keep the distance between slowdown and margin, so that the number of launches stays the same."""
    floor = percent / 100.0
    return replace(rule, min_slowdown=floor, margin=floor + rule.margin - rule.min_slowdown)


def _with_speed(
    model_change: ModelChange, path: Path, sides: _Sides, rule: SpeedRule, command: str, services: Services
) -> ModelChange:
    """The change with its speed, measured in fresh interleaved pairs; unchanged if there are none."""
    if model_change.answers in (Answers.NEWLY_REFUSED, Answers.NEWLY_SUPPORTED, Answers.REFUSED_BOTH, Answers.UNKNOWN):
        return model_change
    request = CompareRequest(
        old=path,
        new=path,
        old_flow=sides.old,
        new_flow=sides.new,
        inputs=Inputs("", 0, 1, 1),
        policy=replace(Policy(), speed=rule),
        limits=Limits(timeout_s=COMPARISON_S),
        measuring=Measuring(seconds=SAMPLING_S),
        batches=(),
        threads=1,
        command=command,
    )
    with suppress(AssayError):
        for result in compare(request, services).results:
            for speed in speeds_of(result):
                if not speed.trouble and speed.rival_s:
                    return with_decision(model_change, speed, rule)
    return model_change


def with_decision(model_change: ModelChange, comparison: SpeedComparison, rule: SpeedRule) -> ModelChange:
    """The change with what the gate decides about that comparison."""
    decision, ratio = judge_comparison(comparison, rule), comparison.own_s / comparison.rival_s
    speed, lost = speed_of(decision.word, ratio), None
    if speed is Speed.SLOWER and decision.observed is not None and decision.allowed is not None:
        lost = Lost(decision.metric, decision.observed, decision.allowed)
    return replace(model_change, speed=speed, ratio=ratio, lost=lost)


def _causes(
    checked: Checked,
    changes: Sequence[ModelChange],
    sides: _Sides,
    options: UpgradeOptions,
    services: Services,
    tell: Callable[[str], None],
) -> tuple[Cause, ...]:
    """The cause for each model that is wrong or refused in the new release alone."""
    wrong = {change.model for change in changes if change.answers in (Answers.WRONG, Answers.NEWLY_REFUSED)}
    results = {result.job_key: result for result in checked.results}
    causes: list[Cause] = []
    for job in checked.run.jobs:
        if isinstance(job, VerifyJob) and job.flow.name == sides.new.name and job.case.name in wrong:
            folder = (options.output / f"{job.case.name}-{_safe(job)}").absolute()
            deadline = time.monotonic() + options.time_limit_s
            causes += triage_verdict(RedVerdict(job, results[job.key]), services, folder, deadline, tell)
    return tuple(causes)


def _safe(job: Job) -> str:
    return job.subject.replace(SEPARATOR, "-")
