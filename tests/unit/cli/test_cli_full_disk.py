"""A disk that is full is no defect of Assay: one sentence, and no traceback."""

from __future__ import annotations

import errno
import tempfile

import pytest

from assay.cli import main as command

FULL = "No space left on device; free some space"


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        (None, FULL),
        ("fuzz/c.npz", f"fuzz/c.npz: {FULL}, or name another place for it"),
        ("/scratch/x/c.npz", f"/scratch/x/c.npz: {FULL}, or name another place for it (TMPDIR for temporary files)"),
    ],
)
def test_a_full_disk_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str | None, sentence: str
) -> None:
    def writes(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", place)

    monkeypatch.setattr(command, "app", writes)
    monkeypatch.setattr(tempfile, "tempdir", "/scratch")
    with pytest.raises(SystemExit) as ended:
        command.main([])
    assert (ended.value.code, capsys.readouterr().err) == (4, f"assay: {sentence}\n")
