"""A submission as it comes in: a folder, and what the first group of checks says of its files."""

from __future__ import annotations

from pathlib import Path

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.files.check_files import check_files
from assay_zoo.intake import Intake, Problem, take_in
from assay_zoo.policy import FileLimits, ZooPolicy
from assay_zoo.services import open_tools
from assay_zoo.submission import SubmissionContext


def submitted(parent: Path) -> Path:
    """A folder with a read-me file."""
    made = parent / "submission"
    made.mkdir()
    (made / "README.md").write_text("# A model\n")
    return made


def taken(folder: Path, **limits: int) -> Intake:
    return take_in(folder, folder.parent / "copy", FileLimits(**limits))


def problems(intake: Intake) -> dict[str, Problem]:
    return {entry.path: entry.problem for entry in intake.entries if entry.problem}


def checked(folder: Path, policy: ZooPolicy = ZooPolicy(name="zoo")) -> list[Check]:
    """What the group of checks holds against the folder."""
    history = folder.parent / ".assay"
    history.mkdir()
    with open_tools(folder.parent, str(history)) as tools:
        intake = take_in(folder, tools.scratch / "in", policy.files)
        place = SubmissionContext(folder=intake.folder, root=folder.parent, policy=policy, metadata=None, intake=intake)
        checks = check_files(place, tools)
    assert any(check.name == "files.digest" for check in checks)
    return [check for check in checks if check.outcome is not CheckOutcome.PASSED]
