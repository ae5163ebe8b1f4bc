"""What a person reads of a run that loses its workers: the line that goes on with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.composition import open_services
from assay.commands.progress import Lines
from assay.core.run import Run
from assay.errors import WorkerFailed
from assay.pipeline.open_run import open_run
from assay.testing.builders import make_job, make_run

LOST = "the last node of the Ray cluster is lost"


def _lost(run: Run, history: Path, *, unrecorded: bool = False) -> str:
    with (
        open_services(str(history), workers=1, unrecorded=unrecorded) as services,
        pytest.raises(WorkerFailed) as failed,
        open_run(run, services),
    ):
        raise WorkerFailed(LOST)
    return str(failed.value)


def test_a_run_whose_nodes_are_lost_names_the_line_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = make_run("20261128T204525-90e5f0", (make_job("case-1"),))
    assert _lost(run, Path(".assay")) == f"{LOST}; `assay resume {run.id}` goes on with the run"
    assert _lost(run, Path("other")) == f"{LOST}; `assay resume {run.id} --history other` goes on with the run"
    assert _lost(run, Path("none"), unrecorded=True) == LOST, "nothing is recorded that could be gone on with"


def test_only_a_run_under_way_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run, shown = make_run("20261128T204525-90e5f0", (make_job("case-1"),)), Lines(lambda line: None)
    with open_services(".assay", workers=1, progress=shown) as services, open_run(run, services):
        assert shown.what_to_do == f"`assay resume {run.id}` goes on with it"
    assert shown.what_to_do == ""
