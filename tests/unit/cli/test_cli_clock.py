"""A clock that Python cannot read is one sentence, whatever the command."""

from __future__ import annotations

import time

import pytest

from assay.cli import main as command


def test_a_clock_thousands_of_years_ahead_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def beyond() -> float:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr(time, "time", beyond)
    with pytest.raises(SystemExit) as ended:
        command.main(["--help"])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (4, "")
    assert (
        printed.err
        == "assay: this machine's clock is beyond the year 2262, which no run could be recorded with: set it\n"
    )
