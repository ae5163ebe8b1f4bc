"""The history as a user asks it."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from assay.core.outcome import Outcome
from assay.stores.sql import SqlStore
from assay.testing.builders import MACHINE, make_result, make_run
from command_line import run_assay


def test_runs_are_found_by_what_is_known_of_them(tmp_path: Path) -> None:
    store = SqlStore(str(tmp_path / ".assay" / "history.db"))
    for number, outcome in enumerate((Outcome.OK, Outcome.CRASH)):
        machine = replace(MACHINE, cpu=f"Processor {number}")
        store.open_run(
            make_run(f"2026010{number}-run", commit=f"{number}abc", machine=machine, command=f"run {number}")
        )
        store.record(f"2026010{number}-run", [make_result(outcome=outcome)])
    store.close()
    for arguments in (("--commit", "1AB"), ("--machine", "processor 1"), ("--code", "crash")):
        listed = run_assay("runs", *arguments, cwd=tmp_path)
        assert (listed.returncode, listed.stdout.count("run 1"), listed.stdout.count("run 0")) == (0, 1, 0), arguments
    assert run_assay("runs", "--model", "digits-classifier", cwd=tmp_path).stdout.count("-run ") == 2
    none = run_assay("runs", "--code", "no-such-code", cwd=tmp_path)
    assert none.stdout == "no run in .assay is like that; `assay runs` lists them all\n"
