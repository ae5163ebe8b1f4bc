"""Who resolves and installs: uv, with the settings of the package client."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from assay.errors import EnvironmentFailed

INSTALL_UV = "pip install 'assay[environments]'"


class Installer(Protocol):
    """Resolves requirements and installs what was resolved."""

    name: str

    def resolve(self, requirements: Sequence[str], python: str) -> str:
        """Pinned lines with hashes for the interpreter `python`. Raises EnvironmentFailed with the resolver's reason."""
        ...

    def install(self, folder: Path, python: str, pins: Path) -> None:
        """A virtual environment in `folder`, which does not exist yet, that holds what `pins` lists and no more."""
        ...


def find_uv() -> str:
    """The program, of a module of this interpreter or on the PATH; "" where there is none."""
    if importlib.util.find_spec("uv") is not None:
        from uv import find_uv_bin

        return str(find_uv_bin())
    return shutil.which("uv") or ""


def run(
    command: Sequence[str],
    *,
    what: str = "",
    stdin: str = "",
    variables: Mapping[str, str] | None = None,
    limit_s: float = 3600,
) -> str:
    """Standard output. Raises EnvironmentFailed: what failed (where it is not plain), and the tool's reason in one line."""
    try:
        done = subprocess.run(
            list(command),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
            env=dict(variables) if variables is not None else dict(os.environ),
        )
    except OSError as error:
        raise EnvironmentFailed(f"{command[0]} does not start ({error})") from None
    except subprocess.TimeoutExpired:
        raise EnvironmentFailed(f"{command[0]} came to no end within {limit_s:g} s") from None
    if done.returncode != 0:
        why = reason(done.stderr or done.stdout)
        raise EnvironmentFailed(f"{what}: {why}" if what else why)
    return done.stdout


def reason(text: str, limit: int = 700) -> str:
    """What a resolver says at its end, in one line: from its first cause on."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [number for number, line in enumerate(lines) if line.startswith("cause:")]
    if causes:
        reason_line = " ".join(line.removeprefix("cause:").strip() for line in lines[causes[0] :])
    else:
        reason_line = " ".join(line.removeprefix("error:").strip() for line in lines if not line.startswith("warning:"))
    reason_line = reason_line.rstrip(".") or "no reason was given"
    return reason_line if len(reason_line) <= limit else reason_line[: limit - 1] + "…"
