"""The sandbox under test, real; skipped with its own sentence where it cannot be had, unless it must be there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.core.sandbox import Sandboxed, SandboxLimits
from assay.launch.sandbox.bubblewrap import Bubblewrap

LIMITS = SandboxLimits(seconds=300.0, memory_bytes=300_000_000, disk_bytes=20_000_000, processes=32)


@dataclass
class Cell:
    """Runs one command in a sandbox; what it left lies in `output`."""

    sandbox: Bubblewrap
    output: Path
    inputs: dict[str, Path]

    def python(self, code: str, limits: SandboxLimits = LIMITS) -> Sandboxed:
        return self.run("python", "-c", code, limits=limits)

    def run(self, *command: str, limits: SandboxLimits = LIMITS) -> Sandboxed:
        return self.sandbox.run(command, inputs=self.inputs, output=self.output, limits=limits)

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.output)): path.read_bytes() for path in self.output.rglob("*") if path.is_file()
        }


@pytest.fixture(scope="session")
def sandbox() -> Bubblewrap:
    made = Bubblewrap()
    here = made.available()
    if not here.available:
        if os.environ.get("ASSAY_REQUIRE_SANDBOX"):
            pytest.fail(here.reason)
        pytest.skip(here.reason)
    return made


@pytest.fixture
def cell(sandbox: Bubblewrap, tmp_path: Path) -> Cell:
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "model.txt").write_text("a model")
    return Cell(sandbox, tmp_path / "output", {"submission": submission})
