"""venv and pip, where there is no uv: slower, the same result. pip reads its own settings."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.environments.installer import run

_SMALL_BYTES = 100_000


class Pip:
    """See `Installer`."""

    name = "pip"

    def resolve(self, requirements: Sequence[str], python: str) -> str:
        """By a rehearsal in an empty environment, since pip resolves for the interpreter that it runs in."""
        with tempfile.TemporaryDirectory(prefix="assay-resolve-") as name:
            own = self._environment(Path(name) / "environment", python)
            command = [own, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--report", "-"]
            report = run([*command, *requirements])
        return "".join(sorted(_pin(one) for one in json.loads(report)["install"]))

    def install(self, folder: Path, python: str, pins: Path) -> None:
        """What `venv` brings along (pip) stays in it: a worker does not look at it."""
        own = self._environment(folder, python)
        command = [own, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(pins)]
        run(command, what="the environment cannot be installed")

    def _environment(self, folder: Path, python: str) -> str:
        run([python, "-m", "venv", str(folder)], what="the environment cannot be made")
        return str(folder / "bin" / "python")


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
