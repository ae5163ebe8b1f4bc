"""A submission on one page: intake -> files -> artifacts -> compliance -> functionality -> accuracy -> performance -> decide."""

from __future__ import annotations

import importlib
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from assay.config.toml_errors import nearest, read
from assay.core.digest import value_digest
from assay.core.machine import Machine
from assay.errors import BadPolicy, UnknownName
from assay.pipeline.provenance import git_commit, this_machine, versions
from assay_zoo.artifacts.meta import LONGEST_BYTES
from assay_zoo.check import EXECUTING, GROUPS, Check, CheckOutcome
from assay_zoo.check_order import NOTEBOOKS, drop_consequential_failures, waits_for
from assay_zoo.decision import Decision, decide
from assay_zoo.intake import take_in
from assay_zoo.manifest import current_folder
from assay_zoo.metadata import Metadata
from assay_zoo.policy import ZooPolicy
from assay_zoo.repository import read_policy, read_scenarios, submission_folder
from assay_zoo.submission import SubmissionContext, SubmissionServices
from assay_zoo.waivers import apply_waivers
from assay_zoo.zoo_files import METADATA

_RECORDED = ("assay", "numpy", "onnx", "onnxruntime", "nbclient", "detect-secrets")
_WHERE = {
    "files": "assay_zoo.files.check_files:check_files",
    "artifacts": "assay_zoo.artifacts.check_artifacts:check_artifacts",
    "compliance": "assay_zoo.compliance.check_compliance:check_compliance",
    "functionality": "assay_zoo.functionality.check_functionality:check_functionality",
    "accuracy": "assay_zoo.accuracy.check_accuracy:check_accuracy",
    "performance": "assay_zoo.performance.check_performance:check_performance",
}


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in one submission and what follows. `digest` is that of its files; `policy` that of the zoo's policy."""

    name: str
    digest: str
    checks: tuple[Check, ...]
    decision: Decision
    at: str
    policy: str = ""
    version: str = ""
    commit: str = ""
    versions: dict[str, str] = {}
    machine: Machine = Machine()
    seconds: float = 0.0
    author: str = ""


class Group(Protocol):
    """One group of checks: never raises for what a submission does."""

    def __call__(self, place: SubmissionContext, tools: SubmissionServices) -> list[Check]: ...


Progress = Callable[[str, Sequence[Check] | None], None]
"""(group, its checks): called with None when the group begins."""


def inspect(
    name: str,
    root: Path,
    tools: SubmissionServices,
    *,
    folder: Path | None = None,
    groups: Iterable[str] = GROUPS,
    author: str = "",
    approved: str = "",
    progress: Progress = lambda group, checks: None,
) -> Inspection:
    """Every check of `groups` on one submission: `root`/submissions/`name`, or `folder` where that lies elsewhere. `author` is who
    submits it, "" where nobody knows; `approved` is who agreed that code of an author whom the zoo does not know is run.

    Raises UsageError for a zoo or a submission that is not there, BadPolicy for a zoo.toml that cannot be followed.
    """
    wanted = _known(groups)
    begin, at = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds")
    policy = read_policy(root)
    source = folder or submission_folder(root, name)
    inbox = tools.scratch / "intake"
    try:
        place = replace(_open(name, source, inbox, root, policy), author=author, approved=approved)
        checks: list[Check] = []
        for group in wanted:
            progress(group, None)
            held = replace(place, notebooks_wait_for=waits_for(NOTEBOOKS, checks, place.metadata))
            checked = _closed(group, checks, place) or drop_consequential_failures(_run(group, held, tools), checks)
            checked = apply_waivers(checked, policy.waivers, name, group, datetime.now(UTC).date())
            checks += checked
            progress(group, checked)
        assert place.intake is not None
        return Inspection(
            name=name, digest=place.intake.digest, checks=tuple(checks), decision=decide(checks, policy.decision), at=at,
            policy=value_digest(policy.model_dump(mode="json")), machine=this_machine(tools.services.gpus),
            commit=git_commit(root), versions=versions(_RECORDED),
            version=place.metadata.version if place.metadata else "", seconds=time.perf_counter() - begin,
            author=author,
        )  # fmt: skip
    finally:
        shutil.rmtree(inbox, ignore_errors=True)


def _known(groups: Iterable[str]) -> tuple[str, ...]:
    asked = set(groups)
    for name in sorted(asked - set(GROUPS)):
        raise UnknownName(f"there is no group of checks {name!r}{nearest(name, GROUPS)}; they are {', '.join(GROUPS)}")
    return tuple(name for name in GROUPS if name in asked)


def _open(name: str, source: Path, inbox: Path, root: Path, policy: ZooPolicy) -> SubmissionContext:
    taken = take_in(source, inbox, policy.files)
    metadata = _metadata(taken.folder / METADATA)
    scenario = read_scenarios(root).get(metadata.scenario) if metadata else None
    return SubmissionContext(
        folder=taken.folder, root=root, policy=policy, metadata=metadata, scenario=scenario,
        previous=current_folder(root, name), intake=taken, name=name,
    )  # fmt: skip


def _metadata(path: Path) -> Metadata | None:
    try:
        if path.stat().st_size > LONGEST_BYTES:
            return None
        return read(path).validate(Metadata)
    except (BadPolicy, OSError):
        return None  # the checks of artifacts say what is wrong with it


def _closed(group: str, before: Sequence[Check], place: SubmissionContext) -> list[Check]:
    """The group as skipped, where a check before it found what this one could not judge without, or where there is no model."""
    if group not in EXECUTING:
        return []
    model = place.metadata.model if place.metadata else Metadata.model_fields["model"].default
    needs_metadata = group not in ("compliance", "functionality")
    if first := waits_for(group, before, place.metadata):
        sentence = f"not executed: it waits for {first}, which must hold first"
    elif not (place.folder / model).is_file():
        sentence = f"not executed: there is no {model}"
    elif place.metadata is None and needs_metadata:
        sentence = f"not executed: what the model claims cannot be read from {METADATA}"
    else:
        return []
    skipped = [Check(f"{group}.all", CheckOutcome.SKIPPED, sentence)]
    if group != "functionality" or any(
        check.name == "artifacts.author" and check.outcome is CheckOutcome.UNDECIDED for check in before
    ):
        return skipped
    from assay_zoo.functionality.inputs import inputs_alone

    return [*skipped, *inputs_alone(place.folder, memory_bytes=place.policy.run.memory_bytes)]


def _run(group: str, place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    scratch = tools.scratch / group
    scratch.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    try:
        return _group(group)(place, replace(tools, scratch=scratch))
    except ModuleNotFoundError as error:
        sentence = f"the harness lacks a package: {error}; pip install assay-zoo"
        return [Check(f"{group}.all", CheckOutcome.INFRASTRUCTURE, sentence)]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours, and must not decline a submission
        sentence = f"the harness failed, not the submission: {type(error).__name__}: {error}"
        seconds = time.perf_counter() - begin
        outcome = CheckOutcome.INFRASTRUCTURE
        return [Check(f"{group}.all", outcome, sentence, seconds=seconds)]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _group(name: str) -> Group:
    module, _, function = _WHERE[name].partition(":")
    group: Group = getattr(importlib.import_module(module), function)
    return group
