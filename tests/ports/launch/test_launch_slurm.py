"""A real Slurm: a suite as an array of shards, a shard that is lost, and what Slurm refuses."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.errors import UsageError
from assay.launch.slurm import SlurmArray
from assay.pipeline.merge import saved_run
from slurm_cluster import missing, slurm_cluster

pytestmark = pytest.mark.slow
SUITE = ["run", "operators", "--filter", "relu-float32*", "--flow", "onnxruntime"]
RUN = [*SUITE, "--on", "slurm", "--shards", "2"]


@pytest.fixture(scope="module")
def slurm() -> Iterator[Path]:
    if why := missing():
        pytest.skip(f"Slurm cannot start here: {why}")
    with slurm_cluster() as configuration:
        yield configuration


@pytest.fixture
def here(slurm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["assay", *words])
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_suite_is_shared_out_and_judged_as_one(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(RUN, monkeypatch) == 0
    first = capsys.readouterr().out
    assert "2 shards" not in first
    assert "PASS" in first
    Path("assay.toml").write_text(
        '[launch]\non = "slurm"\n'
    )  # the tasks find it, too, and run their shards where they are
    assert (
        _run([*SUITE, "--shards", "2", "--save", "whole.assay", "--compare-run", "last", "--workers", "1"], monkeypatch)
        == 0
    )
    folder = max((here / ".assay" / "slurm").iterdir())
    shares = [saved_run(folder / f"{number}.run")[1] for number in (1, 2)]
    assert abs(len(shares[0]) - len(shares[1])) <= len(shares[0]) // 2, "the second run knows how long each case takes"
    whole, results = saved_run(Path("whole.assay"))
    assert whole.baseline
    assert len(results) == len(shares[0]) + len(shares[1])
    assert (folder / "durations.json").stat().st_size > len("{}")


def test_a_shard_that_is_lost_is_run_again(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first time, the task of shard 2 is killed."""
    array = SlurmArray(tmp_path)
    script = f"""#!/bin/sh
echo $SLURM_ARRAY_TASK_ID >> {tmp_path}/begun
[ $SLURM_ARRAY_TASK_ID -eq 2 ] && [ ! -e {tmp_path}/once ] && touch {tmp_path}/once && exit 9
touch {tmp_path}/$SLURM_ARRAY_TASK_ID.run
"""
    from assay.commands import slurm_array as command
    from assay.pipeline.progress import SILENT

    monkeypatch.setattr(command, "saved_run", lambda path: (None, ()))
    files = command._run(array, script, tmp_path, 2, SILENT)
    assert [path.name for path in files] == ["1.run", "2.run"]
    assert sorted((tmp_path / "begun").read_text().split()) == ["1", "2", "2"]
    while array.waiting():  # all have come: nobody waits for the task that is ending
        time.sleep(0.1)


@pytest.mark.usefixtures("here")
def test_what_slurm_refuses_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run([*RUN[:-3], "slurm://nowhere", "--shards", "2"], monkeypatch) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("assay: Slurm refuses the jobs:")
    assert "partition" in said
    monkeypatch.setenv("SLURM_CONF", os.devnull)
    with pytest.raises(UsageError, match=r"Slurm refuses the jobs|does not answer"):
        SlurmArray(Path.cwd()).submit("#!/bin/sh\n", {1})
