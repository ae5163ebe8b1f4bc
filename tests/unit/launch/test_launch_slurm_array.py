"""What is asked of Slurm and what its answers mean, with programs that answer as Slurm 22.05 does."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import SlurmUnreachable, UsageError
from assay.launch import slurm
from assay.launch.slurm import SlurmArray


def _program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_tasks_are_submitted_and_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _program(tmp_path, "sbatch", f'echo "$@" > {tmp_path}/asked; echo "12;cluster"')
    _program(tmp_path, "squeue", 'echo "12 3"; echo "12 5-7,9%2"; echo "13 1"; echo "12 N/A"')
    array = SlurmArray(tmp_path, "gpu", 3)
    assert array.waiting() == set()
    array.submit("#!/bin/sh\n", {3, 1, 2})
    asked = (tmp_path / "asked").read_text().split()
    assert {"--array=1,2,3", "--partition=gpu", "--cpus-per-task=3", "--requeue", str(tmp_path / "tasks.sh")} <= set(
        asked
    )
    assert array.waiting() == {3, 5, 6, 7, 9}


def test_what_is_wrong_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"there is no sbatch here: .* slurm-client"):
        SlurmArray(tmp_path)
    _program(tmp_path, "sbatch", 'echo "sbatch: error: invalid partition specified: x" >&2; exit 1')
    with pytest.raises(UsageError, match=r"Slurm refuses the jobs: invalid partition specified: x$"):
        SlurmArray(tmp_path).submit("", {1})


def _submitted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> SlurmArray:
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    _program(folder, "sbatch", "echo 12")
    array = SlurmArray(folder)
    array.submit("", {1, 2})
    return array


def test_a_controller_that_starts_again_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array, now = _submitted(tmp_path, monkeypatch), [0.0]
    monkeypatch.setattr(slurm.time, "monotonic", lambda: now[0])
    silent = 'echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1'
    _program(tmp_path, "squeue", silent)
    assert array.waiting() == {1, 2}
    now[0] = slurm.PATIENCE_S - 1
    assert array.waiting() == {1, 2}
    _program(tmp_path, "squeue", 'echo "12 2"')
    assert array.waiting() == {2}
    _program(tmp_path, "squeue", silent)
    now[0] = 2 * slurm.PATIENCE_S
    assert array.waiting() == {2}, "its silence is counted from its last answer"
    now[0] = 4 * slurm.PATIENCE_S
    with pytest.raises(
        SlurmUnreachable, match=r"Unable to contact.*its jobs go on: .* of 12 .*`assay merge .*/\*\.run`"
    ):
        array.waiting()
    _program(tmp_path, "sbatch", "exit 1")
    with pytest.raises(SlurmUnreachable, match="does not take shards 2 again"):
        array.submit("", {2})


def test_what_may_be_left_in_the_queue_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = _submitted(tmp_path, monkeypatch)
    for answer, left in (
        ("exit 0", []),
        ('echo "scancel: error: Kill job error on job id 12: Invalid job id specified" >&2; exit 1', []),
        ("exit 1", ["12"]),
        ("exec sleep 9", ["12"]),
    ):
        _program(tmp_path, "scancel", answer)
        monkeypatch.setattr(slurm, "_ANSWER_S", 0.5)
        assert array.cancel() == left
    (tmp_path / "scancel").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert array.cancel() == ["12"]
