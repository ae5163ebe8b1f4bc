"""What is asked of Slurm and what its answers mean, with programs that answer as Slurm 22.05 does."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.launch.slurm import SlurmArray


def _program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_tasks_are_submitted_and_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _program(tmp_path, "sbatch", f'echo "$@" > {tmp_path}/asked; echo "12;cluster"')
    _program(tmp_path, "squeue", 'echo "12 3"; echo "12 5-7,9%2"; echo "13 1"; echo "12 N/A"')
    array = SlurmArray(tmp_path, "gpu")
    assert array.waiting() == set()
    array.submit("#!/bin/sh\n", {3, 1, 2})
    asked = (tmp_path / "asked").read_text().split()
    assert {"--array=1,2,3", "--partition=gpu", "--requeue", str(tmp_path / "tasks.sh")} <= set(asked)
    assert array.waiting() == {3, 5, 6, 7, 9}


def test_what_is_wrong_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"there is no sbatch here: .* slurm-client"):
        SlurmArray(tmp_path)
    _program(tmp_path, "sbatch", 'echo "sbatch: error: invalid partition specified: x" >&2; exit 1')
    with pytest.raises(UsageError, match=r"Slurm refuses the jobs: invalid partition specified: x$"):
        SlurmArray(tmp_path).submit("", {1})
