"""What a person reads of a run that loses its workers: the line that goes on with it."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

import assay.pipeline.open_run
from assay.commands import remote_machines
from assay.commands.composition import open_services
from assay.commands.machine_address import job_address
from assay.commands.progress import Lines
from assay.config.assay_toml import load_config
from assay.core.run import Run
from assay.errors import StoreUnreachable, WorkerFailed
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


def test_a_run_whose_history_went_away_names_the_line_that_sends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise StoreUnreachable("the server does not answer")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(assay.pipeline.open_run, "PATIENCE_S", -1.0)
    run = make_run("20261128T204525-90e5f0", (make_job("case-1"),))
    with open_services("other", workers=1) as services:
        monkeypatch.setattr(services.store, "close_run", gone)
        with (
            pytest.raises(StoreUnreachable, match=f"`assay resume {run.id} --history other` sends them$"),
            open_run(run, services),
        ):
            pass


def test_only_a_run_under_way_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run, shown = make_run("20261128T204525-90e5f0", (make_job("case-1"),)), Lines(lambda line: None)
    with open_services(".assay", workers=1, progress=shown) as services, open_run(run, services):
        assert shown.what_to_do == f"`assay resume {run.id}` goes on with it"
    assert shown.what_to_do == ""


@pytest.mark.parametrize(
    ("on", "toml", "config", "words"),
    [
        ("ray://head:6379", "", "", " --on ray://head:6379"),
        ("", "[launch]\non = 'ray'", "", ""),
        ("", "", "[launch]\non = 'ray'", " --on ray"),
        ("here", "", "", ""),
        ("here", "[launch]\non = 'ray'", "", " --on here"),
        ("", "[launch]\non = 'ray'", "[limits]", " --on here"),
        ("here", "[launch]\non = 'slurm'", "", ""),
        ("here", "launch = 3", "[limits]", ""),
    ],
)
def test_the_line_names_the_machines_that_no_assay_toml_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: str, toml: str, config: str, words: str
) -> None:
    """A later command would do the rest on this machine, or on those of an assay.toml that this one did not ask."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(remote_machines, "launchers_of", lambda address: lambda *settings: nullcontext((None, None)))
    Path("m.onnx").touch()
    Path("ci.toml").write_text(f'{config}\n[[model]]\npath = "m.onnx"\n')
    Path("assay.toml").write_text(toml)
    address = job_address(on, load_config(Path("ci.toml")) if config else None)
    run, shown = make_run("20261128T204525-90e5f0", (make_job("case-1"),)), Lines(lambda line: None)
    machines = remote_machines.remote_machines(address, 1, 1)
    with open_services(".assay", workers=1, progress=shown, machines=machines) as services, open_run(run, services):
        assert shown.what_to_do == f"`assay resume {run.id}{words}` goes on with it"
