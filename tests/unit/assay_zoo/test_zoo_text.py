"""What a person reads after `assay zoo check`, at 80 and at 200 columns."""

from __future__ import annotations

import pytest

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer, Decision, decide
from assay_zoo.inspect import Inspection
from assay_zoo.inspection_text import exit_code, inspection_text


def check(name: str, outcome: CheckOutcome, sentence: str, path: str = "", line: int = 0, executed: int = 0) -> Check:
    return Check(name=name, outcome=outcome, sentence=sentence, path=path, line=line, executed=executed, seconds=0.25)


CHECKS = (
    check("files.links", CheckOutcome.PASSED, "no links, no hard links, no special files", executed=1),
    check(
        "files.secrets", CheckOutcome.FAILED,
        "preprocess.py looks like it holds a secret (AWS Access Key): withdraw it where it is valid", "preprocess.py", 12, 1,
    ),
    check("artifacts.readme", CheckOutcome.UNDECIDED, "a \x1b[31mhostile\x1b[0m\nsentence", "README.md"),
    check("artifacts.license", CheckOutcome.WAIVED, "GPL (waived until 2027-01-01 by me: a reason)"),
    check("compliance.all", CheckOutcome.SKIPPED, "not executed: the checks of files must hold before the model is opened"),
    check("performance.all", CheckOutcome.INFRASTRUCTURE, "the harness failed"),
)  # fmt: skip
FOUND = Inspection(
    name="digits", version="1.0", digest="0123456789abcdef" * 4, checks=CHECKS, decision=decide(CHECKS), at="2026-11-22"
)

NARROW = """\
digits 1.0  sha256 0123456789abcdef

files  1 passed, 1 failed; 2 executed, 0.5 s
  ok     links    no links, no hard links, no special files
  FAIL   secrets  preprocess.py looks like it holds a secret (AWS Access Key):
                  withdraw it where it is valid
                  submissions/digits/preprocess.py:12

artifacts  1 waived, 1 undecided, 0.5 s
  ask     readme   a hostile sentence
                   submissions/digits/README.md
  waived  license  GPL (waived until 2027-01-01 by me: a reason)

compliance  1 skipped, 0.2 s
  -      all  not executed: the checks of files must hold before the model is
              opened

performance  1 infrastructure, 0.2 s
  machine  all  the harness failed

decline
  files.secrets
exit 1 = decline
"""


def test_at_80_columns() -> None:
    assert inspection_text(FOUND, folder="submissions/digits", width=80) == NARROW


def test_at_200_columns_the_place_stands_beside_the_sentence() -> None:
    text = inspection_text(FOUND, folder="submissions/digits", width=200)
    (line,) = [fail_line for fail_line in text.splitlines() if "FAIL" in fail_line]
    assert line.endswith("where it is valid  submissions/digits/preprocess.py:12") or "preprocess.py:12" in line
    assert len(text.splitlines()) == len(NARROW.splitlines()) - 4


def test_a_reason_is_told_once() -> None:
    twice = (
        check("artifacts.parts", CheckOutcome.FAILED, "a is missing"),
        check("artifacts.parts", CheckOutcome.FAILED, "b is missing"),
    )
    reasons = ("artifacts.parts: a is missing", "artifacts.parts: b is missing", "performance: nothing was executed")
    decided = Decision(answer=Answer.DECLINE, reasons=reasons)
    inspection = Inspection(name="n", digest="d", checks=twice, decision=decided, at="")
    text = inspection_text(inspection, folder="f", width=100)
    assert text.endswith("decline\n  artifacts.parts (2)\n  performance: nothing was executed\nexit 1 = decline\n")
    assert text.count("b is missing") == 1


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("colour", [False, True])
def test_no_line_is_wider_and_no_escape_of_a_stranger_gets_through(width: int, colour: bool) -> None:
    text = inspection_text(FOUND, folder="submissions/digits", width=width, colour=colour)
    assert "\x1b[31mhostile" not in text
    if not colour:
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize(
    ("answer", "executed", "code"),
    [
        (Answer.PROMOTE, 1, 0),
        (Answer.DECLINE, 1, 1),
        (Answer.PERSON, 1, 3),
        (Answer.RETRY, 1, 4),
        (Answer.PERSON, 0, 5),
    ],
)
def test_the_exit_code_says_the_decision(answer: Answer, executed: int, code: int) -> None:
    checks = (check("files.links", CheckOutcome.SKIPPED, "x", executed=executed),)
    inspection = Inspection(
        name="n", digest="d", checks=checks, decision=Decision(answer=answer, reasons=("r",)), at=""
    )
    assert exit_code(inspection) == code
