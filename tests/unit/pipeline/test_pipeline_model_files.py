"""A model's file that is written to, or removed, while a run uses it: nobody is blamed, and nothing passes."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from assay.core.case import Case
from assay.core.digest import sha256_bytes
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.pipeline.job_graph import JobGraph
from assay.ports import JobSource

BYTES = b"a model"


class _Launcher:
    """The first job does `act`."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        while (job := source.next_ready()) is not None:
            if job.subject == "guilty":
                self.act()
            yield empty_result(job)


def _outcomes(path: Path, act: Callable[[], object], digest: str = "") -> list[Result]:
    model = Model("m", str(path), digest or sha256_bytes(BYTES))
    jobs: list[Job] = [VerifyJob(Case("m", model), Flow(name, "noop")) for name in ("before", "guilty", "innocent")]
    launcher = _Launcher(act)
    graph = JobGraph(launcher, launcher)

    async def route() -> list[Result]:
        return [result async for result in graph.results(jobs)]

    return graph.complete(route())


@pytest.mark.parametrize(
    ("name", "says"), [("written", "was written to"), ("emptied", "was written to"), ("removed", "was removed")]
)
def test_of_a_file_that_was_changed_nothing_passes_and_nobody_is_blamed(name: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(BYTES)
    acts = {
        "written": lambda: path.write_bytes(BYTES[::-1]),
        "emptied": lambda: path.write_bytes(b""),
        "removed": path.unlink,
    }
    before, guilty, innocent = _outcomes(path, acts[name])
    assert before.outcome is Outcome.OK
    assert {guilty.outcome, innocent.outcome} == {Outcome.INFRASTRUCTURE}
    assert all(f"{path} {says} while the run used it" in result.detail for result in (guilty, innocent))


def test_the_same_bytes_written_again_are_the_same_model(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(BYTES)
    results = _outcomes(path, lambda: (path.unlink(), path.write_bytes(BYTES), os.utime(path, (1, 1))))
    assert {result.outcome for result in results} == {Outcome.OK}


def test_what_a_library_keeps_in_a_folder_of_weights_is_no_change_of_the_model(tmp_path: Path) -> None:
    results = _outcomes(tmp_path, lambda: (tmp_path / "cache").write_bytes(b""))
    assert {result.outcome for result in results} == {Outcome.OK}


def test_a_file_that_was_never_looked_at_is_not_watched(tmp_path: Path) -> None:
    results = _outcomes(tmp_path / "none.onnx", lambda: (tmp_path / "none.onnx").write_bytes(b""))
    assert {result.outcome for result in results} == {Outcome.OK}
