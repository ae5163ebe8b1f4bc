"""Which goldens and baselines are stale, and what recording them again would change. Nothing is written to them here."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.flow import Flow
from assay.core.golden import GIVEN, GoldenLock
from assay.core.limits import Limits
from assay.errors import HarnessError, UnknownName, UsageError
from assay.models.goldens import read_lock
from assay.pipeline.adapters import Services
from assay.pipeline.baselines.baseline_command import refresh_command
from assay.pipeline.baselines.baseline_history import damaged_baselines, kept_baselines
from assay.pipeline.goldens import golden

Version = Callable[[Flow], str]
"""Of the backend of a flow as it is installed here; "" where it is not."""
SHOWN = 20
BRANCH = "refresh-goldens"
"""One for all days: a rerun finds what the last run left, and replaces it."""
_NO_RECIPE = "it was approved by an earlier version, which kept no inputs: add the --golden, --batch, --dim ... that it was approved with"


class Stale(msgspec.Struct, frozen=True):
    """`name` is a golden folder (then `is_golden`), or a case on a flow. `reasons` say why it is stale, `changes` what recording it again
    would change (none: the same values), `trouble` why that is not known. `command` refreshes it."""

    name: str
    reasons: tuple[str, ...]
    changes: tuple[str, ...] = ()
    trouble: str = ""
    command: str = ""
    is_golden: bool = False


def stale_goldens(
    goldens: Sequence[tuple[Path, Path | None]], oracle: str, days: float | None, now: datetime, services: Services
) -> list[Stale]:
    """Of golden folders with their models (None: not known). `oracle` is the flow that should have computed them, "" for the one that
    did; `days` the age at which one is stale. Raises UsageError for a folder that holds no golden."""
    stale = []
    for folder, model in goldens:
        lock = read_lock(folder)
        flow = _producer(oracle or lock.producer)
        reasons = golden_reasons(lock, oracle, days, now, lambda flow_name: services.available(flow_name).version)
        if not reasons:
            continue
        if flow is None:
            stale.append(Stale(str(folder), reasons, trouble=_no_producer(lock), is_golden=True))
            continue
        names = [str(folder), str(model or "MODEL"), "--flow", flow.name]
        command = shlex.join(["assay", "golden", "update", *names, "--reason", "; ".join(reasons), "--yes"])
        if model is None:
            lacks = "no model of assay.toml has it"
            stale.append(Stale(str(folder), reasons, trouble=lacks, command=command, is_golden=True))
            continue
        try:
            with tempfile.TemporaryDirectory(dir=services.folder) as staging:
                lines = golden.propose(
                    model, folder, flow, "refresh", services, limits=Limits(), staging=Path(staging) / "golden"
                )
        except (HarnessError, UsageError) as error:
            stale.append(Stale(str(folder), reasons, trouble=str(error), command=command, is_golden=True))
        else:
            stale.append(Stale(str(folder), reasons, tuple(lines), command=command, is_golden=True))
    return stale


def golden_reasons(
    lock: GoldenLock, oracle: str, days: float | None, now: datetime, version: Version
) -> tuple[str, ...]:
    """Why a golden is stale; none where it is not. Outputs that were given have no producer that could change."""
    reasons = list(_age(lock.created_at, days, now))
    if oracle and lock.producer != oracle:
        reasons.append(f"{_origin(lock)}, not by {oracle}")
    elif lock.producer != GIVEN and (flow := _producer(lock.producer)) is not None:
        reasons += _other_version(lock.producer, lock.producer_version, version(flow))
    return tuple(reasons)


def _origin(lock: GoldenLock) -> str:
    return "given by a person" if lock.producer == GIVEN else f"computed by {lock.producer}"


def _no_producer(lock: GoldenLock) -> str:
    """Answers of another flow in their place would be another golden."""
    if lock.producer == GIVEN:
        return (
            "its answers were given, and no flow computes them again: bring new ones with `assay golden record --keep-outputs`, or "
            "name a flow that computes them with --flow"
        )
    return f"{lock.producer}, which computed it, is no flow here: install it, or name another flow with --flow"


def stale_baselines(days: float | None, now: datetime, services: Services) -> tuple[list[Stale], int]:
    """Of the engines that are current; and how many those are. One that cannot be run again is stale, too."""
    current, damaged = kept_baselines(services, current=True), damaged_baselines(services)
    stale = [Stale("a baseline", (sentence,), trouble="its model cannot be read") for sentence in damaged]
    for kept in current:
        one = kept.baseline
        version = services.available(one.flow).version
        built = one.result.facts.backend_version
        unusable = (kept.trouble,) if kept.trouble else ()
        reasons = (*unusable, *_age(one.created_at, days, now), *_other_version(one.flow.backend, built, version))
        if reasons:
            command = refresh_command(one, "; ".join(reasons), services.history)
            changes: tuple[str, ...] = (
                f"the engine would be built by {one.flow.backend} {version or 'that is installed'}",
            )
            changes += (_NO_RECIPE,) * (one.recipe is None)
            stale.append(Stale(f"{one.case} on {one.flow.name}", reasons, changes, command=command))
    return stale, len(current) + len(damaged)


def as_lines(stale: Sequence[Stale], looked_at: int) -> list[str]:
    """For the screen."""
    if not stale:
        what = "1 golden or baseline was" if looked_at == 1 else f"{looked_at} goldens and baselines were"
        return [f"nothing is stale: {what} looked at"]
    lines = []
    for entry in stale:
        lines.append(f"stale: {entry.name}: {'; '.join(entry.reasons)}")
        lines += [f"    {text}" for text in _changes(entry)]
        lines += [f"    {entry.command}"] if entry.command else []
    return lines


def as_review(stale: Sequence[Stale]) -> str:
    """The text of a change for review, as Markdown."""
    lines = ["# Refresh goldens and baselines", "", f"{len(stale)} stale:", ""]
    for entry in stale:
        lines += [f"## {entry.name}", "", *(f"- stale: {reason}" for reason in entry.reasons)]
        lines += [*(f"- {text}" for text in _changes(entry)), ""]
        lines += ["```", entry.command, "```", ""] if entry.command else []
    return "\n".join(lines)


def as_script(stale: Sequence[Stale]) -> str:
    """Commands that make the change: of goldens on a branch of its own, which stays here. Engines are kept in the history, not in the
    checkout."""
    steps = _steps(stale)
    goldens = [entry for entry in steps if entry.is_golden]
    engines = [entry.command for entry in steps if not entry.is_golden]
    lines = [
        "#!/bin/sh",
        "# Makes the change that the text beside it describes. Run it in the folder in which `assay golden refresh` ran.",
        "set -eu",
    ]
    if goldens:
        lines += [
            f"git switch -C {BRANCH}",
            *(entry.command for entry in goldens),
            shlex.join(["git", "add", "--", *(entry.name for entry in goldens)]),
            'git commit -m "Goldens refreshed"',
        ]
    lines += (
        ["# Engines are kept in the history: each is approved as soon as it is built.", *engines] if engines else []
    )
    lines += [] if steps else ["# Nothing of it can be done by a command alone: the text says what is to be done."]
    return "\n".join([*lines, ""])


def as_opening(stale: Sequence[Stale], body: str) -> str:
    """Commands that push that branch and open it for review, unless one is open: a reviewer may have added to it. "" where no golden
    changes. They run no model, so that whoever runs them may hold a token."""
    if not any(entry.is_golden for entry in _steps(stale)):
        return ""
    asked = f"gh pr list --head {BRANCH} --state open --limit 1000 --json isCrossRepository"
    own = "map(select(.isCrossRepository == false)) | length"  # a fork may have a branch of that name
    lines = [
        "#!/bin/sh",
        "# Pushes the branch that the script beside it made, and opens it. Elsewhere than on GitHub it waits for a person to open it.",
        "set -eu",
        "if command -v gh > /dev/null; then",
        f"  opened=$({asked} --jq '{own}')",
        '  if [ "$opened" != 0 ]; then echo "a change is open already"; exit 0; fi',
        "fi",
        "# What an earlier run left of the branch is replaced.",
        f"before=$(git ls-remote origin refs/heads/{BRANCH} | cut -f 1)",
        f'git push --force-with-lease="{BRANCH}:$before" --set-upstream origin {BRANCH}',
        "if command -v gh > /dev/null; then",
        f"  gh pr create --head {BRANCH} --title 'Refresh goldens' --body-file {shlex.quote(body)}",
        "fi",
    ]
    return "\n".join([*lines, ""])


def _steps(stale: Sequence[Stale]) -> list[Stale]:
    return [entry for entry in stale if entry.command and not entry.trouble]


def _changes(stale: Stale) -> list[str]:
    if stale.trouble:
        return [f"what would change is not known: {stale.trouble}"]
    if not stale.changes:
        return ["the values would stay the same: only the lock changes"]
    more = len(stale.changes) - SHOWN
    return [*stale.changes[:SHOWN], *([f"and {more} lines more"] if more > 0 else [])]


def _age(created_at: str, days: float | None, now: datetime) -> tuple[str, ...]:
    if days is None:
        return ()
    age = (now - datetime.fromisoformat(created_at)).total_seconds() / 86400.0
    return (f"{age:.0f} days old (limit {days:g})",) if age > days else ()


def _other_version(name: str, then: str, now: str) -> tuple[str, ...]:
    return (f"made by {name} {then}, {now} is installed",) if then and now and then != now else ()


def _producer(name: str) -> Flow | None:
    try:
        return plugins.find_flow(name)
    except (UnknownName, UsageError):
        return None
