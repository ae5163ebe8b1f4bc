"""A model's file that is written to, or removed, while a run uses it: nobody is blamed, and nothing passes."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.core.case import Case, Original
from assay.core.digest import sha256_bytes
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import InspectJob, VerifyJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.models.files import file_digest
from assay.pipeline import model_files
from assay.pipeline.job_graph import JobGraph
from assay.pipeline.model_files import ModelFiles
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


def _outcomes(path: Path, act: Callable[[], object], format: str = "onnx") -> list[Result]:
    model = Model("m", str(path), sha256_bytes(BYTES), format=format)
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


def test_a_program_whose_files_were_not_listed_is_not_watched(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    results = _outcomes(path, lambda: path.write_bytes(b""), format="torch")
    assert {result.outcome for result in results} == {Outcome.OK}


@pytest.mark.parametrize(("there", "says"), [(BYTES[::-1], "was written to"), (None, "was removed")])
def test_so_is_one_that_was_changed_after_it_was_looked_at(there: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    if there is not None:
        path.write_bytes(there)
    before, guilty, innocent = _outcomes(path, lambda: path.write_bytes(BYTES))
    assert before.outcome is Outcome.INFRASTRUCTURE
    assert f"{path} {says}" in before.detail
    assert {guilty.outcome, innocent.outcome} == {Outcome.OK}, "it was put back"


WEIGHTS = b"weights"


def _watched(folder: Path, *, inspected: bool = True, original: bool = False) -> Callable[[], Result]:
    """What comes of a result now, of a graph whose weights lie in another file; or of another model that is compared with it."""
    graph, weights = folder / "m.onnx", folder / "m.data"
    graph.write_bytes(BYTES)
    weights.write_bytes(WEIGHTS)
    files = {str(graph): sha256_bytes(BYTES), str(weights): sha256_bytes(WEIGHTS)}
    model = Model("m", str(graph), "the digest of a list", files=files)
    case = Case("m", Model("new", "new:model", "other"), original=Original(model)) if original else Case("m", model)
    job, looked_at = VerifyJob(case, Flow("f", "noop")), InspectJob(Case("m", Model("m", str(graph), "")))
    watched = ModelFiles()
    if inspected:
        watched.checked(replace(empty_result(looked_at), model=model), looked_at)
    watched.watch(job)
    return lambda: watched.checked(empty_result(job), job)


@pytest.mark.parametrize(("name", "says"), [("altered", "was written to"), ("removed", "was removed")])
def test_weights_in_another_file_are_watched_too(name: str, says: str, tmp_path: Path) -> None:
    checked = _watched(tmp_path)
    weights = tmp_path / "m.data"
    assert checked().outcome is Outcome.OK
    if name == "altered":
        weights.write_bytes(WEIGHTS[::-1])
    else:
        weights.unlink()
    assert checked().outcome is Outcome.INFRASTRUCTURE
    assert f"{weights} {says}" in checked().detail


@pytest.mark.parametrize("how", [{"inspected": False}, {"inspected": False, "original": True}])
def test_so_are_those_of_a_suite_and_of_what_a_model_is_compared_with(how: dict[str, bool], tmp_path: Path) -> None:
    checked = _watched(tmp_path, **how)
    assert checked().outcome is Outcome.OK
    (tmp_path / "m.data").write_bytes(WEIGHTS[::-1])
    assert checked().outcome is Outcome.INFRASTRUCTURE


def test_a_graph_with_weights_elsewhere_that_is_touched_is_the_same_model(tmp_path: Path) -> None:
    checked = _watched(tmp_path)
    for name in ("m.onnx", "m.data"):
        os.utime(tmp_path / name, (1, 1))
        assert checked().outcome is Outcome.OK


def test_what_was_refused_is_not_read_again_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(model_files, "file_digest", lambda path: (read.append(path), file_digest(path))[1])
    checked = _watched(tmp_path)
    graph = tmp_path / "m.onnx"
    graph.write_bytes(BYTES[::-1])
    assert [checked().outcome for _ in range(3)] == [Outcome.INFRASTRUCTURE] * 3
    assert read == [graph]
    graph.write_bytes(BYTES)
    os.utime(graph, (2, 2))
    assert [checked().outcome for _ in range(3)] == [Outcome.OK] * 3
    assert read == [graph, graph]
