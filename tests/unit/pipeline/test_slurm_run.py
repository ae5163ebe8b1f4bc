"""A run as an array, with programs that answer as Slurm does: what becomes of results that are no results, and of a silent Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands import slurm as command
from assay.core.run import Run
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import NotWritable, SlurmUnreachable
from assay.launch.slurm import SlurmArray
from assay.pipeline.merge import save_run, saved_run
from assay.pipeline.open_run import Checked
from assay.pipeline.progress import SILENT


def _program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlurmArray:
    """Tasks are over when they are submitted."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(command, "LOOK_S", 0.0)
    _program(
        tmp_path,
        "sbatch",
        """for word; do case $word in --array=*) numbers=${word#--array=};; esac; script=$word; done
for n in $(echo $numbers | tr , " "); do SLURM_ARRAY_TASK_ID=$n sh $script || true; done
echo 7""",
    )
    _program(tmp_path, "squeue", "true")
    _program(tmp_path, "scancel", f"touch {tmp_path}/cancelled")
    return SlurmArray(tmp_path)


def _saved(path: Path, command: str = "assay run s --shard 1/2") -> None:
    run = Run("r", "2026-11-26T00:00:00", command, (), status="complete")
    save_run(path, Checked(run, (), RunVerdict((), Verdict(VerdictStatus.PASS, "PASS"), 0)))


def test_what_cannot_be_read_has_not_come(array: SlurmArray, tmp_path: Path) -> None:
    _saved(tmp_path / "whole")
    half = (tmp_path / "whole").read_bytes()[:40]
    (tmp_path / "half").write_bytes(half)
    script = f"""
n=$SLURM_ARRAY_TASK_ID
echo $n >> {tmp_path}/begun
[ $n -eq 2 ] && [ ! -e {tmp_path}/once ] && touch {tmp_path}/once && exec cp {tmp_path}/half {tmp_path}/2.run
cp {tmp_path}/whole {tmp_path}/$n.run
"""
    found = command._run(array, script, tmp_path, 2, SILENT)
    assert [path.name for path in found] == ["1.run", "2.run"]
    assert (tmp_path / "begun").read_text().split() == ["1", "2", "2"]


def test_a_save_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> None:
        with path.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    _saved(tmp_path / "run", "assay run before")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(NotWritable, match="No space left"):
        _saved(tmp_path / "run")
    assert saved_run(tmp_path / "run")[0].command == "assay run before"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_silent_slurm_keeps_its_tasks(array: SlurmArray, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    array.submit("", {1})
    with pytest.raises(SlurmUnreachable), command._ended(array):
        raise SlurmUnreachable("it does not answer")
    assert not (tmp_path / "cancelled").exists()
    with pytest.raises(KeyboardInterrupt), command._ended(array):
        raise KeyboardInterrupt
    assert (tmp_path / "cancelled").exists()
    _program(tmp_path, "scancel", "exit 1")
    with pytest.raises(KeyboardInterrupt), command._ended(array):
        raise KeyboardInterrupt
    assert "`scancel 7` ends them" in capsys.readouterr().err
