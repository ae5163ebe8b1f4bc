"""A task of an array: what its exit code says, and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from assay.cli import slurm_task
from assay.launch import slurm_claims

WORDS = ("run", "operators", "--filter", "relu-float32*", "--only-kind", "verify")


class _Shards:
    """Takes the place of the runs: shard by shard an exit code, and whether it saves."""

    def __init__(self, *endings: tuple[int, bool]) -> None:
        self._endings = iter(endings)
        self.lines: list[str] = []

    def run(self, given: Mapping[str, Any], words: Sequence[str], preforked: object) -> None:
        code, saves = next(self._endings)
        self.lines.append(" ".join(words))
        assert not Path(given["save"]).exists(), "an earlier try left it"
        if saves:
            Path(given["save"]).write_text("new")
        raise typer.Exit(code)


def _task(folder: Path, monkeypatch: pytest.MonkeyPatch, shards: _Shards, total: int) -> int:
    monkeypatch.setattr(slurm_task, "run_with", shards.run)
    monkeypatch.setattr(slurm_task, "be_command", lambda: None)
    monkeypatch.setattr(slurm_claims, "seconds_left", lambda task: 3600.0)
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "7")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "2")
    with pytest.raises(SystemExit) as ended:
        slurm_task.main(folder, total, WORDS)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize(
    ("code", "saves", "ends"), [(0, 1, 0), (1, 1, 0), (5, 1, 0), (3, 1, 3), (1, 0, 1), (5, 0, 5), (0, 0, 1)]
)
def test_a_task_gives_what_it_saved_and_nothing_of_an_earlier_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, saves: int, ends: int
) -> None:
    (tmp_path / "1.run").touch()
    (tmp_path / "2.part").write_text("half of an earlier try")
    assert _task(tmp_path, monkeypatch, _Shards((code, bool(saves))), 2) == ends
    assert [path.read_text() for path in tmp_path.glob("2.[pr]*")] == ["new"] * saves
    assert (tmp_path / "2.run").exists() == bool(saves)


def test_a_task_goes_on_with_shards_that_nobody_has_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shards = _Shards((1, True), (0, True), (0, True))
    assert _task(tmp_path, monkeypatch, shards, 3) == 0
    assert [path.name for path in sorted(tmp_path.glob("*.run"))] == ["1.run", "2.run", "3.run"]
    places = [f"--shard {n}/3 --history {tmp_path}/history-{n} --save {tmp_path}/{n}.part" for n in (2, 3, 1)]
    assert shards.lines == [f"{' '.join(WORDS)} {place}" for place in places]


def test_a_node_that_gives_no_results_begins_no_other_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _task(tmp_path, monkeypatch, _Shards((4, False)), 3) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.of-7"]
