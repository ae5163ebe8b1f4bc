"""Sentences of a screen, and the commands in them."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.core.verdict import VerdictStatus
from assay.reports.console_text import wrap
from assay.reports.terminal import Terminal
from assay.testing.standard_run import standard_run

COMMAND = "assay check models/net.onnx --flow onnxruntime --golden ANSWERS.npz"


def test_a_command_that_does_not_fit_has_a_line_of_its_own_and_is_whole() -> None:
    line = f"  it is disputed; to decide it, give answers: `{COMMAND}`; or others: `{COMMAND} --seed 1`"
    assert wrap(line, 60, "    ") == [
        "  it is disputed; to decide it, give answers:",
        f"    {COMMAND}",
        "    or others:",
        f"    {COMMAND} --seed 1",
    ]


def test_a_short_one_stays_in_its_sentence_and_is_not_broken() -> None:
    assert wrap("word word word `assay flows` names the install command", 24) == [
        "word word word",
        "`assay flows` names the",
        "install command",
    ]
    assert wrap("do `assay golden record`, then check again", 80) == ["do `assay golden record`, then check again"]


@pytest.mark.parametrize("text", ["a ` b", "`", "``", "a (`assay check x.onnx`) b", ""])
def test_odd_backticks_lose_no_word(text: str) -> None:
    assert " ".join(" ".join(wrap(text, 10)).split()) == text


def test_a_screen_of_80_columns_shows_a_verdicts_command_whole() -> None:
    run, results, judgement = standard_run()
    open_ = replace(
        judgement.verdicts[0],
        word=VerdictStatus.INCONCLUSIVE,
        reason=f"to decide it, measure again: `{COMMAND} --seed 1`",
    )
    text = Terminal(width=80, wrapped=True).render(run, results, replace(judgement, verdicts=(open_,)))
    assert f"    {COMMAND} --seed 1" in text.splitlines()


@given(st.lists(st.text("abc-", min_size=1, max_size=30), max_size=30), st.integers(34, 60))
def test_other_text_is_wrapped_as_text_is(words: list[str], width: int) -> None:
    text = "  " + " ".join(words) if words else ""
    usual = textwrap.wrap(text, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    assert wrap(text, width, "    ") == (usual or [""])
