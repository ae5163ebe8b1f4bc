"""Sentences on a terminal."""

from __future__ import annotations

from assay.cli.common import folded


def test_a_sentence_is_folded_under_its_indent_and_no_path_is_torn() -> None:
    path = "/a/folder-with-a-long-name/" + "x" * 40 + "/repro.py"
    text = f"  script: {path} runs by itself, and with the workaround it is right again, which can be seen at once"
    lines = folded(text, 60).splitlines()
    assert lines[0] == "  script:"
    assert lines[1] == f"    {path}"
    assert all(len(line) <= 60 for line in lines if path not in line)
    assert [*map(str.strip, lines)] == [line.strip() for line in lines]
    assert folded(text, 400) == text
