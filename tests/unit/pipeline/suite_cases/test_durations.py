"""What each case took: from the last whole run, or from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.composition import open_services
from assay.commands.run import run_suites
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import NotWritable, UsageError
from assay.options.run import RunOptions
from assay.pipeline.suite_cases.durations import read_durations, seconds_of_last_run, write_durations
from assay.ports import Store
from assay.testing.builders import make_job, make_result, make_run

COMMAND = "assay run s --flow onnxruntime"


def _record(store: Store, place: int, command: str, seconds: float, missing: tuple[str, ...] = ()) -> None:
    job = make_job("s/a")
    run = make_run(jobs=(job,), command=command, id=f"20261128T00000{place}-aaaaaa", missing=missing)
    store.open_run(run)
    store.record(run.id, [make_result("s/a", seconds=seconds)])
    store.close_run(run.id, "complete", RunVerdict((), Verdict(VerdictStatus.PASS, "PASS"), 0))


def test_the_last_whole_run_of_the_command_says_what_cases_take(tmp_path: Path) -> None:
    """Else the second shard would see what the first one recorded, and share out the cases in another way."""
    with open_services(str(tmp_path / "history")) as services:
        assert seconds_of_last_run(COMMAND, services.store) == {}
        _record(services.store, 1, COMMAND, 1.0)
        _record(services.store, 2, f"{COMMAND} --seed 7", 2.0)
        _record(services.store, 3, f"{COMMAND} --shard 1/2", 3.0)
        _record(services.store, 4, COMMAND, 4.0, missing=("2/2",))
        for number in (1, 2):
            shard = f"{COMMAND} --shard {number}/2 --durations last --workers 3"
            assert seconds_of_last_run(shard, services.store) == {"s/a": 1.0}


def test_a_file_of_durations_reads_as_it_was_written_and_is_the_same_each_time(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    write_durations(path, {"s/b": 0.12345, "s/a": 2.0})
    assert path.read_text() == '{\n"s/a": 2.0,\n"s/b": 0.123\n}\n'
    assert read_durations(path) == {"s/a": 2.0, "s/b": 0.123}
    with pytest.raises(NotWritable, match="give another file"):
        write_durations(tmp_path / "no" / "durations.json", {})


@pytest.mark.parametrize("text", ["", "[1]", '{"a": "1"}', '{"a": -1}', '{"a": NaN}', '{"a": true}', "\x00\xff"])
def test_what_is_no_file_of_durations_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"other does not say how long each case took: `assay merge --durations FILE`"):
        read_durations(path)
    with pytest.raises(UsageError, match=r"absent cannot be read \(No such file"):
        read_durations(tmp_path / "absent")


def test_without_a_history_there_is_no_last_run(tmp_path: Path) -> None:
    options = RunOptions(
        suites=("operators",), flows=("onnxruntime",), unrecorded=True, save=tmp_path / "x", durations="last"
    )
    with pytest.raises(UsageError, match="with --unrecorded no history is read: give --durations a file"):
        run_suites(options)
