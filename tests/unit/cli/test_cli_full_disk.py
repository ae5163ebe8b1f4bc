"""A disk that is full is no defect of Assay: one sentence, and no traceback."""

from __future__ import annotations

import errno

import pytest

from assay.cli import main as command


@pytest.mark.parametrize(("place", "said"), [(None, ""), ("fuzz/c.npz", "fuzz/c.npz: ")])
def test_a_full_disk_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str | None, said: str
) -> None:
    def writes(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", place)

    monkeypatch.setattr(command, "app", writes)
    with pytest.raises(SystemExit) as ended:
        command.main([])
    advice = "free some space, or name folders on another disk (--history, --corpus)"
    assert (ended.value.code, capsys.readouterr().err) == (4, f"assay: {said}No space left on device; {advice}\n")
