"""Words of strangers in the robot's mouth."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt
from submissions import failed, whole

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.robot import report
from assay_zoo.robot.sanitize import markdown, sanitize

HOSTILE = [
    "<script>alert(1)</script>",
    "<!-- assay zoo robot: digits -->",
    "![x](https://evil.example/pixel.png)",
    "[click](javascript:alert(1))",
    "`code` **bold** _it_ ~~no~~ # head",
    "| cell | cell |",
    "a\n/close\n/merge",
    "&lt;b&gt; &amp;",
    "a\u202egnp.exe\u200f",
    "$`x^2`$",
    "https://evil.example/?q=1 www.evil.example",
    "\x1b[31mred\x07",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_it_is_markup(text: str) -> None:
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(f"| a |\n|---|\n| {markdown(text)} |\n")
    inside = rendered.partition("<tbody>")[2]
    assert set(re.findall(r"</?([a-z0-9]+)", inside)) <= {"tbody", "tr", "td", "table"}, rendered
    assert "\n/" not in markdown(text)


def test_nothing_of_it_is_a_mention_a_reference_or_an_address() -> None:
    text = markdown(
        "@octocat fixes #12 and !3 and zoo/models#4, https://evil.example www.evil.example JIRA-12 $5 ~bug %1 &2"
    )
    assert not re.search(r"[@#!~%]\w|://|www\.|&\d|JIRA-1", text.replace("\\", ""))
    assert "octocat" in text


def test_it_is_one_line_and_not_endless() -> None:
    assert sanitize("a\x00b\r\n\tc\u2028d") == "a b c d"
    assert len(sanitize("x" * 9999)) == 500
    assert sanitize("x" * 9999, 10) == "x" * 9 + "…"


def test_a_comment_never_grows_past_what_a_forge_takes() -> None:
    many = failed(5000, "y" * 3000)
    text = report.comment(
        whole("decline", checks=many, reasons=["z" * 5000] * 300), "https://zoo.example/submissions/1"
    )
    assert len(text) < 65_536
    assert text.startswith("<!-- assay zoo robot: digits -->\n### `digits`: declined")
    assert "[all findings, log](https://zoo.example/submissions/1)" in text


def test_a_comment_as_people_see_it() -> None:
    checks = [
        Check(name="files.links", outcome=CheckOutcome.PASSED, sentence="no links", executed=1),
        Check(
            name="compliance.graph",
            outcome=CheckOutcome.FAILED,
            sentence="node 3 <x> is unsorted",
            path="model.onnx",
            line=3,
        ),
        Check(name="accuracy.all", outcome=CheckOutcome.SKIPPED, sentence="not executed"),
    ]
    assert report.comment(
        whole("decline", checks=checks, reasons=["compliance.graph: node 3 <x> is unsorted"]), ""
    ) == (
        "<!-- assay zoo robot: digits -->\n"
        "### `digits`: declined\n\n"
        "| check | outcome | what | where |\n|---|---|---|---|\n"
        "| compliance.graph | failed | node 3 &lt;x&gt; is unsorted | model.onnx:3 |\n"
        "| accuracy.all | skipped | not executed |  |\n\n"
        "1 other checks passed, 1 cases executed.\n\n"
        "What to do: correct what is said above and push; the robot then checks it again. On a machine of your own "
        "`assay zoo check submissions/digits` says the same.\n\n"
        f"Commit {'a' * 40}\n"
    )


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (whole(), "digits waits in the queue"),
        (whole("promote", promoted="b" * 40), "accepted and in the zoo by commit bbbbbbbbbbbb"),
        (whole("decline", promoted="b" * 40, reasons=["x: y"]), "declined: x: y"),
        (whole("promote", trouble="the version is taken"), "accepted, but not promoted: the version is taken"),
        (whole("retry", reasons=["x: y"]), "could not be checked, through no fault of it: x: y"),
        (whole("needs a person", reasons=["x: y"]), "needs a person: x: y"),
    ],
)
def test_one_line_for_every_state(state: object, line: str) -> None:
    assert report.line(state) == line  # type: ignore[arg-type]
