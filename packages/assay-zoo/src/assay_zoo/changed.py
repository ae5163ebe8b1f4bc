"""Which submissions changed since a commit: asked of git, names taken as they are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from assay.errors import UsageError
from assay_zoo.zoo_files import SUBMISSIONS


def changed_submissions(root: Path, since: str) -> tuple[list[Path], list[str]]:
    """Folders of submissions that are there and differ from where this branch left `since`, and what else differs. Raises UsageError."""
    if since.startswith("-"):
        raise UsageError(f"--since {since!r} is no commit")
    command = ["git", "diff", "--name-only", "--no-renames", "--relative", "-z", f"{since}...HEAD", "--", "."]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(
            f"git cannot be asked what changed since {since} ({error}); give the folders instead"
        ) from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit {done.returncode}"]
        text = f"git cannot say what changed since {since} ({lines[0]}); fetch that commit, or give the folders"
        raise UsageError(text)
    paths = [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    parts = [path.split("/") for path in paths]
    names = sorted({part[1] for part in parts if part[0] == SUBMISSIONS and len(part) > 1})
    there = [root / SUBMISSIONS / name for name in names]
    folders = [
        path for path in there if path.is_symlink() or path.is_dir()
    ]  # a link in the place of one is looked at, too
    return folders, [path for path in paths if not path.startswith(f"{SUBMISSIONS}/")]
