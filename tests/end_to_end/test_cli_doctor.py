"""`assay flows` and `assay doctor`: what a person reads when something does not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import run_assay

CONFIG = (
    '[flow.mine]\nbackend = "onnxruntime"\noptions = { optimization = "basic" }\n[environments.own]\nrequires = ["x"]\n'
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_ENVIRONMENTS", str(tmp_path / "environments"))
    (tmp_path / "assay.toml").write_text(CONFIG)
    return tmp_path


def test_a_healthy_flow_is_tried_and_its_versions_are_told(here: Path) -> None:
    done = run_assay("doctor", "mine")
    assert done.returncode == 0, done.stderr
    row = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert row["options"] == "optimization=basic"
    assert "onnxruntime>=" in done.stdout
    assert "ok in compare" in done.stdout
    assert "on CPUExecutionProvider" in row["operators"]
    stages = [part.split()[0] for part in row["stages"].split(", ")]
    assert stages == [*dict.fromkeys(stages)], "each once"
    assert {"import", "lower", "run", "compare"} <= {*stages}
    assert not (here / ".assay" / "history.db").exists()


def test_a_flow_without_its_environment_says_what_to_do(here: Path) -> None:
    done = run_assay("doctor", "qnn-htp")
    assert done.returncode == 1
    assert "to do        assay env build qnn" in done.stdout
    assert "onnxruntime-qnn==2.7.0" in done.stdout
    assert "not built" in done.stdout
    assert not (here / "environments" / "locks").exists()


def test_a_flow_that_answers_wrong_is_not_healthy(here: Path) -> None:
    done = run_assay("doctor", "faulty-lie")
    assert done.returncode == 1
    assert "mismatch in compare" in done.stdout


def test_unknown_names_are_refused_with_the_nearest(here: Path) -> None:
    for name, message in (("onnxruntim", "'onnxruntime'"), ("onnxruntime@owm", "'own'")):
        done = run_assay("doctor", name)
        assert done.returncode == 2
        assert message in done.stderr


def test_all_at_once(here: Path) -> None:
    done = run_assay("doctor")
    assert done.returncode == 0, done.stderr
    for word in (
        "machine ",
        "python ",
        "GPUs ",
        "history ",
        "own: not built: x; assay env build own",
        "qnn: not built",
    ):
        assert word in done.stdout
    assert "flows run here (a tiny model passed" in done.stdout
    listed = run_assay("flows", "--installed")
    assert listed.stdout in done.stdout
    assert "faulty" not in listed.stdout
