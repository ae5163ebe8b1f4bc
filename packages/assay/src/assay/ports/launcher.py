"""Where jobs run, and where untrusted code runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from assay.core.job import Job
from assay.core.result import Result
from assay.core.sandbox import Sandboxed, SandboxLimits
from assay.ports.values import Availability


class Launcher(Protocol):
    """Jobs in, exactly one result each out, in the order they end. Conformance: `assay.testing.check_launcher`."""

    def launch(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Closing the iterator stops all workers and leaves no process behind."""
        ...


class Sandbox(Protocol):
    """Runs untrusted code: no network, no secrets, a read-only system, a user of its own, limits on everything."""

    def available(self) -> Availability:
        """Whether this machine can hold it, tried for real, and if not what to do."""
        ...

    def run(
        self, command: Sequence[str], *, inputs: Mapping[str, Path], output: Path, limits: SandboxLimits
    ) -> Sandboxed:
        """Run `command` in /work, an empty writable folder that is copied to `output` afterwards: regular files only,
        within `limits`. Each of `inputs` is seen read-only under /in/NAME. "python" in front is the interpreter of the
        harness with its packages. Never raises for what the code does."""
        ...
