"""Sentences on a terminal."""

from __future__ import annotations

import io

import pytest

from assay.cli.common import folded, tell_line


def test_a_sentence_is_folded_under_its_indent_and_no_path_is_torn() -> None:
    path = "/a/folder-with-a-long-name/" + "x" * 40 + "/repro.py"
    text = f"  script: {path} runs by itself, and with the workaround it is right again, which can be seen at once"
    lines = folded(text, 60).splitlines()
    assert lines[0] == "  script:"
    assert lines[1] == f"    {path}"
    assert all(len(line) <= 60 for line in lines if path not in line)
    assert [*map(str.strip, lines)] == [line.strip() for line in lines]
    assert folded(text, 400) == text


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "most"), [(_Screen(), 80), (io.StringIO(), 200)])
def test_standard_error_is_folded_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, most: int
) -> None:
    sentence = "assay: " + "a word or two " * 12
    monkeypatch.setattr("sys.stderr", stream)
    tell_line(sentence.strip())
    lines = stream.getvalue().splitlines()
    assert len(lines) == (1 if most > 80 else 3)
    assert max(map(len, lines)) <= most
    assert " ".join(map(str.strip, lines)) == sentence.strip()
