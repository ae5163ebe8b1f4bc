"""A run as an array, with programs that answer as Slurm does: what becomes of results that are no results, and of a silent Slurm."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from assay.commands import slurm_array as command
from assay.commands.composition import open_services
from assay.commands.run import run_suites
from assay.core.run import ModelSource, Run
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import FewerCases, NotWritable, RunNotFound, SlurmUnreachable, UsageError
from assay.launch.slurm import SlurmArray
from assay.options.run import RunOptions
from assay.pipeline.merge import Whole, merge, save_run, saved_run
from assay.pipeline.open_run import Checked
from assay.pipeline.progress import Silent


class _Written(Silent):
    """Keeps the lines."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def doing(self, what: str) -> None:
        self._lines.append(what)


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


def _saved(path: Path, command: str = "assay run s --shard 1/2", sources: tuple[ModelSource, ...] = ()) -> None:
    run = Run("r", "2026-11-26T00:00:00", command, (), status="complete", sources=sources)
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
    lines: list[str] = []
    files = command._run(array, script, tmp_path, 2, _Written(lines))
    assert lines == [
        "shard 1 of 2 has come with 0 results, 1 shard in all",
        "shard 2 of 2 has come with 0 results, 2 shards in all",
    ]
    assert [path.name for path in files] == ["1.run", "2.run"]
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


OPTIONS = RunOptions(
    suites=("operators",),
    filters=("relu-float32*",),
    flows=("onnxruntime",),
    on="slurm",
    command="assay run operators --filter 'relu-float32*' --flow onnxruntime --on slurm",
)


@pytest.mark.usefixtures("array")
def test_what_is_wrong_is_said_before_anything_is_submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _program(tmp_path, "sbatch", f"touch {tmp_path}/submitted; exit 1")
    with pytest.raises(UsageError, match="verifies only: times of several nodes"):
        run_suites(replace(OPTIONS, only_kind="measure"))
    with pytest.raises(UsageError, match="leave --unrecorded out"):
        run_suites(replace(OPTIONS, unrecorded=True))
    with pytest.raises(RunNotFound):
        run_suites(replace(OPTIONS, compare_run="20200101T000000-000000"))
    counts = tmp_path / ".assay" / "suite-counts.json"
    counts.write_text('{"operators": 1000000}')
    with pytest.raises(FewerCases, match="1000000 are recorded"):
        run_suites(OPTIONS)
    assert not (tmp_path / "submitted").exists()
    with pytest.raises(UsageError, match="Slurm refuses"):
        run_suites(replace(OPTIONS, accept_counts=True, shards=1000))
    assert (tmp_path / "submitted").exists()
    (folder,) = (tmp_path / ".assay" / "slurm").iterdir()
    total = len(list(folder.glob("history-*")))
    assert 1 < total < 1000, "a case each: none of them is empty"
    assert json.loads((folder / "durations.json").read_text()) == {}, "no run before: as many cases each"
    script = (folder / "tasks.sh").read_text()
    assert f" {folder} {total} run operators " in script
    assert f" --durations {folder}/durations.json " in script
    assert (folder / "history-1" / "suite-counts.json").read_text() == counts.read_text()


def test_a_task_gets_the_models_counts_and_locks_of_the_driver(tmp_path: Path) -> None:
    kept, folder = tmp_path / "cache" / "digest", tmp_path / "run"
    kept.mkdir(parents=True)
    (kept / "model.onnx").write_text("model")
    (kept / "weights.data").write_text("weights")
    history = tmp_path / "history"
    (history / "environments").mkdir(parents=True)
    (history / "environments" / "old.lock").write_text("versions")
    (history / "suite-counts.json").write_text("{}")
    command.copy_histories(history, folder, 2)
    assert (folder / "history-2" / "environments" / "old.lock").read_text() == "versions"
    assert (folder / "history-2" / "suite-counts.json").is_file()
    named = "git:main:zoo/model.onnx"
    models = command.copy_models((ModelSource(named, str(kept / "model.onnx"), "abc", "def"),), folder)
    assert (models[named].parent / "weights.data").read_text() == "weights"
    options = replace(OPTIONS, workers=3, command=f"assay run mined:{named},b.onnx --flow f --workers 3 --save x")
    script = command._script(options, folder, 2, models)
    assert f" run mined:{models[named]},b.onnx --flow f \\\n  --durations " in script
    assert "--alerts off --on here --workers 3\n" in script, "assay.toml may say slurm to the tasks, too"
    assert '--workers "${SLURM_CPUS_ON_NODE:-0}"' in command._script(replace(options, workers=0), folder, 2, models)


def test_a_task_whose_shard_another_one_does_starts_no_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, "python", f"echo $n >> {tmp_path}/begun")
    monkeypatch.setattr(command.sys, "executable", str(tmp_path / "python"))
    (tmp_path / "2.of-7").write_text("1")
    (tmp_path / "3.of-7").write_text("3")  # its own, before Slurm started it again
    (tmp_path / "4.of-6").write_text("1")  # of an array that has ended
    for number in "234":
        variables = {"SLURM_ARRAY_TASK_ID": number, "SLURM_ARRAY_JOB_ID": "7", "PATH": "/usr/bin:/bin", "n": number}
        script = command._script(OPTIONS, tmp_path, 4, {})
        done = subprocess.run(["sh", "-c", script], env=variables, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "begun").read_text().split() == ["3", "4"]


def test_shards_of_other_models_are_not_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = [tmp_path / f"{number}.run" for number in (1, 2)]

    def save(second: tuple[ModelSource, ...]) -> None:
        first = (ModelSource("git:main:m.onnx", "a", "1" * 64, "c" * 40),)
        for number, sources in ((1, first), (2, second)):
            _saved(files[number - 1], f"assay run mined:git:main:m.onnx --shard {number}/2", sources)

    with open_services("history", workers=1) as services:
        save((ModelSource("git:main:m.onnx", "b", "2" * 64, "d" * 40),))
        with pytest.raises(
            UsageError, match=r"2\.run and .*1\.run did not test the same model: .* was dddddddddddd and cccccccccccc"
        ):
            merge(files, services)
        save(())
        with pytest.raises(UsageError, match="did not test the same model"):
            merge(files, services)
        save((ModelSource("git:main:m.onnx", "elsewhere", "1" * 64, "c" * 40),))
        own = (ModelSource("n", "p", "s"),)
        merged = merge(files, services, Whole("assay run it", "", own)).run
        assert (merged.command, merged.sources) == ("assay run it", own)
