"""The record of approvals: a line for each, appended, never changed."""

from __future__ import annotations

import getpass
import os
from datetime import UTC, datetime

import msgspec

from assay.core.approval import Approval, ApprovalAction
from assay.core.baseline import Baseline
from assay.core.digest import sha256_bytes
from assay.errors import HarnessError
from assay.pipeline.adapters import Services

FILE = "approvals.jsonl"
SHARED = "approvals"
"""The folder of those that other machines know, too: one below it for each."""


def approvals(services: Services) -> list[Approval]:
    """Oldest first, those of every machine; a line that was cut by a crash is left out."""
    services.files.bring(f"{SHARED}/")
    path = services.folder / "baselines" / FILE
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        lines = []
    lines += [shared_file.read_bytes().strip() for shared_file in sorted((services.folder / SHARED).glob("*/*.json"))]
    entries = []
    for line in dict.fromkeys(lines):
        try:
            entries.append(msgspec.json.decode(line, type=Approval))
        except msgspec.MsgspecError:
            continue
    return sorted(entries, key=lambda approval: approval.at)


def standing_approvals(services: Services) -> dict[tuple[str, str, str], Approval]:
    """By case, flow and kind of machine: the last one, unless the baseline was removed on purpose."""
    last = {(approval.case, approval.flow, approval.machine): approval for approval in approvals(services)}
    return {cell: approval for cell, approval in last.items() if approval.action is not ApprovalAction.REMOVE}


def gone_text(approval: Approval, services: Services) -> str:
    """That a baseline was approved, and is there no more."""
    return (
        f"the baseline of {approval.case} on {approval.flow} that {approval.who} approved on {approval.at[:10]} ({approval.machine}) is "
        f"gone from {services.folder / 'baselines'}: restore it, or approve a new one with assay baseline set"
    )


def record_approval(
    action: ApprovalAction, baseline: Baseline, reason: str, services: Services, *, who: str = ""
) -> None:
    """Append it. `who` approved ("": who runs this). Raises HarnessError where it cannot be written: an approval that nobody can trace is
    none."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    made = of_baseline(action, baseline, now, who or getpass.getuser(), reason)
    folder = services.folder / "baselines"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / FILE, "ab") as file:
            # On a line of its own, even behind one that was cut.
            file.write(b"\n" * bool(_is_cut(folder / FILE)) + msgspec.json.encode(made) + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise HarnessError(f"{folder / FILE} cannot be written ({error.strerror}): nothing was approved") from None
    _share(msgspec.json.encode(made), services)


def _share(line: bytes, services: Services) -> None:
    """In a folder of its own: two machines that approve at once do not meet."""
    if services.files:
        folder = services.folder / SHARED / sha256_bytes(line)[:32]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "approval.json").write_bytes(line)
        services.files.keep(services.files.name_of(folder))


def of_baseline(action: ApprovalAction, baseline: Baseline, at: str, who: str, reason: str) -> Approval:
    """What is recorded of a baseline."""
    facts = baseline.result.facts
    return Approval(
        at,
        action,
        baseline.case,
        baseline.flow.name,
        who,
        reason,
        facts.artifact_digest,
        baseline.model.digest,
        f"{baseline.flow.backend} {facts.backend_version}".strip(),
        baseline.machine.kind,
        baseline.run,
    )


def _is_cut(path: os.PathLike[str]) -> bool:
    try:
        with open(path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:
        return False
