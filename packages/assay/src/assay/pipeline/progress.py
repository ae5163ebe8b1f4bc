"""What a person who waits is shown while a command runs."""

from __future__ import annotations

from typing import Protocol

from assay.core.job_base import Job
from assay.core.outcome import Stage
from assay.core.result import Result
from assay.core.step import Step


class Progress(Protocol):
    """All calls come from the thread that runs the pipeline; none of them may raise."""

    def doing(self, what: str) -> None:
        """What the driver itself does where no worker does anything: "collecting the cases of onnx-node"."""
        ...

    def at(self, job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
        """A worker has come to this stage of a job (None: to its end), or further in it; `done` of the `total` jobs that were launched
        with it have ended."""
        ...

    def begun(self, done: int, planned: int) -> None:
        """A run of `planned` jobs, of which `done` have results already. With 0, what comes next is no part of a run."""
        ...

    def in_hand(self, what_to_do: str) -> None:
        """What a person can do where the command is interrupted from now on; "": there is no run to go on with."""
        ...

    def recorded(self, done: int, planned: int, result: Result, verdict: str) -> None:
        """The newest result of a run of `planned` jobs, and its verdict as far as it is known already ("" if not)."""
        ...


class Silent:
    """Shows nothing: for programs."""

    def doing(self, what: str) -> None:
        pass

    def at(self, job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
        pass

    def begun(self, done: int, planned: int) -> None:
        pass

    def in_hand(self, what_to_do: str) -> None:
        pass

    def recorded(self, done: int, planned: int, result: Result, verdict: str) -> None:
        pass


SILENT = Silent()
