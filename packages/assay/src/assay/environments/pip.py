"""venv and pip (22.3 or newer), where there is no uv: slower, the same result. pip reads its own settings."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from assay.environments.installer import run
from assay.errors import EnvironmentFailed

_SMALL_BYTES = 100_000


class Pip:
    """See `Installer`."""

    name = "pip"

    def resolve(self, requirements: Sequence[str], python: str) -> str:
        """By a rehearsal, as if nothing were installed."""
        command = [*self._pip(python), "install", "--dry-run", "--quiet", "--ignore-installed", "--report", "-"]
        report = run([*command, *requirements])
        return "".join(sorted(_pin(one) for one in json.loads(report)["install"]))

    def install(self, folder: Path, python: str, pins: Path) -> None:
        """The driver's pip installs into it: a worker has no use for one of its own."""
        run([python, "-m", "venv", "--without-pip", str(folder)], what="the environment cannot be made")
        command = [*self._pip(str(folder / "bin" / "python")), "install", "--quiet", "--no-deps", "--require-hashes"]
        run([*command, "-r", str(pins)], what="the environment cannot be installed")

    def _pip(self, python: str) -> list[str]:
        # By its metadata: looking for the module runs hooks of setuptools.
        if not any(metadata.distributions(name="pip")):
            raise EnvironmentFailed("neither uv nor pip is installed beside assay; pip install 'assay[environments]'")
        return [sys.executable, "-m", "pip", "--python", python]


def _pin(entry: dict[str, Any]) -> str:
    """One line of a requirements file from one entry of pip's installation report."""
    name, version = entry["metadata"]["name"], entry["metadata"]["version"]
    hashes = entry["download_info"].get("archive_info", {}).get("hashes", {})
    return f"{name.lower()}=={version}" + (f" --hash=sha256:{hashes['sha256']}" if "sha256" in hashes else "") + "\n"


def move_scripts(folder: Path, before: Path) -> None:
    """Scripts name the interpreter by the folder that they were installed into; after a renaming that is `folder`."""
    old, new = str(before).encode(), str(folder).encode()
    for script in (folder / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and script.stat().st_size < _SMALL_BYTES:
            text = script.read_bytes()
            if old in text:
                script.write_bytes(text.replace(old, new))
