"""`assay fuzz` from the command line: a planted fault is found and reported, and a session goes on where it ended."""

from __future__ import annotations

from pathlib import Path

from assay.fuzz.corpus import Corpus, Session
from command_line import run_assay

FAULT = ("--flow", "miscompiler", "--option", "fault=wrong_slope", "--generator", "sweep", "--workers", "1")


def _session(folder: Path) -> Session:
    session = Corpus(folder).read()
    assert session is not None
    return session


def test_a_planted_fault_is_found_and_a_session_goes_on(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    where = ("--corpus", str(corpus))
    ended = run_assay("fuzz", *FAULT, "--for", "300s", "--cases", "215", "--seed", "12", *where, cwd=tmp_path)
    first = _session(corpus)
    wrong = [bucket for bucket in first.buckets.values() if bucket.status == "wrong" and not bucket.known]
    assert any(bucket.known for bucket in first.buckets.values())  # the library below it has defects that are known
    assert [bucket.operators for bucket in wrong] == [("LeakyRelu",)], ended.stdout
    assert ended.returncode == 1
    assert "wrong: 1 (wrong by two witnesses)" in ended.stdout
    assert Path(wrong[0].smallest).exists()
    shown = run_assay("fuzz", "report", *where, cwd=tmp_path)
    assert "LeakyRelu" in shown.stdout
    assert "coverage on miscompiler: " in shown.stdout

    again = run_assay("fuzz", *FAULT, "--for", "60s", "--cases", "3", *where, cwd=tmp_path)
    second = _session(corpus)
    assert again.returncode == 0, again.stdout
    assert second.seed == 12
    assert second.arms["sweep on miscompiler"].next > first.arms["sweep on miscompiler"].next


def test_a_time_of_nothing_is_refused(tmp_path: Path) -> None:
    ended = run_assay("fuzz", "--for", "0", cwd=tmp_path)
    assert ended.returncode == 2
    assert "--for '0' is no time of at least a second; write for example --for 90s, 30m or 8h" in ended.stderr
