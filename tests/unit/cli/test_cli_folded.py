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


COMMAND = "assay baseline set 'my models/net one.onnx' --flow onnxruntime --reason 'why this engine'"


@pytest.mark.parametrize("width", [1, 20, 60, 70, 80, 100])
def test_a_command_is_whole_on_a_line_however_narrow_the_terminal(width: int) -> None:
    lines = folded(
        f"assay: the engine is stale; approve one here: `{COMMAND}`; or check without it", width
    ).splitlines()
    assert lines[-1].endswith("it")
    assert sum(COMMAND in line for line in lines) == 1


def test_a_path_in_quotes_is_never_torn_apart() -> None:
    text = """assay: the reader's file 'my models/net one.onnx' has no "first input" (see path='other models/a b') of users"""
    for width in range(10, 100):
        lines = folded(text, width)
        assert all(
            part in lines for part in ("'my models/net one.onnx'", '"first input"', "(see", "path='other models/a b')")
        )
        assert " ".join(lines.split()) == text


def test_lines_stay_lines() -> None:
    assert folded("first line\n\n  - a  b\n  - " + "word " * 5 + "\n", 20) == (
        "first line\n\n  - a  b\n  - word word word\n    word word\n"
    )


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
