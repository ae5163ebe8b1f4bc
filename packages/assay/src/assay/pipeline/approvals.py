"""The record of approvals: a line for each, appended, never changed."""

from __future__ import annotations

import getpass
import os
from datetime import UTC, datetime

import msgspec

from assay.core.approval import Approval, ApprovalAction
from assay.core.baseline import Baseline
from assay.errors import HarnessError
from assay.pipeline.services import Services

FILE = "approvals.jsonl"


def approvals(services: Services) -> list[Approval]:
    """Oldest first; a line that was cut by a crash is left out."""
    path = services.folder / "baselines" / FILE
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=Approval))
        except msgspec.MsgspecError:
            continue
    return found


def record_approval(action: ApprovalAction, baseline: Baseline, reason: str, services: Services) -> None:
    """Append it. Raises HarnessError where it cannot be written: an approval that nobody can trace is none."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    made = of_baseline(action, baseline, now, getpass.getuser(), reason)
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
