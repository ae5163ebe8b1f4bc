"""A run of many rows beside another one: what changed is read first, in every form of the report."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.core.changes import CellChange, MetricDelta, RunChanges
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.plugins import load
from assay.reports.change_order import gravest_first
from assay.reports.changes import cells
from assay.reports.html_changes import page_changes
from assay.reports.terminal import Terminal
from assay.testing.builders import make_result, make_run

SAME = ("pass", "pass")
DEVIATION = MetricDelta("budget_used", 0.25, 0.25)
QUIET = tuple(CellChange(f"m{number:03}", "f", verdicts=SAME, deltas=(DEVIATION,)) for number in range(60))
LATE = (
    CellChange("better", "f", verdicts=("fail", "pass"), deltas=(DEVIATION,)),
    CellChange("larger", "f", verdicts=SAME, deltas=(MetricDelta("artifact.bytes", 1e6, 2e6),)),
    CellChange("smaller", "f", verdicts=SAME, deltas=(MetricDelta("artifact.bytes", 2e6, 1e6),)),
    CellChange("red-still", "f", verdicts=("fail", "fail"), deltas=(DEVIATION,)),
    CellChange("gone", "f", only="old", verdicts=("pass", "")),
    CellChange("broken", "f", verdicts=("pass", "fail"), deltas=(MetricDelta("budget_used", 0.25, 4.0),)),
)
CHANGES = RunChanges("run before", (*QUIET, *LATE), "2026-11-20T10:00:00+00:00", "2026-11-21T10:00:00+00:00")


def test_what_got_worse_stands_first_and_what_did_not_change_last() -> None:
    ordered = gravest_first(CHANGES)
    assert [cell.case for cell in ordered.cells[:7]] == [
        "gone", "broken", "red-still", "better", "larger", "smaller", "m000",
    ]  # fmt: skip
    assert ordered.unchanged == len(QUIET)
    assert [ordered.rest(shown) for shown in (66, 12, 6, 4, 1)] == [
        "", "54 more without a change", "60 more without a change", "62 more, 60 of them without a change",
        "65 more, 60 of them without a change",
    ]  # fmt: skip
    assert gravest_first(replace(CHANGES, cells=LATE)).rest(2) == "4 more"


@pytest.mark.parametrize(("form", "last"), [("terminal", "m005"), ("markdown", "m043")])
def test_a_report_of_many_rows_shows_what_broke_and_counts_the_rest(form: str, last: str) -> None:
    text = _rendered(form)
    assert "broken" in text
    assert text.index("broken") < text.index("m000")
    assert last in text
    assert "without a change" in text


def test_the_screen_draws_the_last_runs_as_bars_behind_the_change() -> None:
    run = make_run()
    deltas = (MetricDelta("artifact.bytes", 4e6, 1e6, (2e6, 8e6)),)
    changes = RunChanges("run before", (CellChange("net", "f", verdicts=SAME, deltas=deltas),))
    judgement = RunVerdict((), Verdict(VerdictStatus.PASS, "PASS"), 0, changes=changes)
    lines = Terminal(width=120).render(run, [make_result()], judgement).splitlines()
    (line,) = [line for line in lines if line.strip().startswith("artifact ")]
    assert line.endswith("  ▂█▁"), "the least of the series lowest, the greatest highest, this run last"


def test_the_page_folds_what_did_not_change() -> None:
    page = page_changes(CHANGES)
    assert page is not None
    assert [len(page[part]) for part in ("cells", "unchanged")] == [8, 58]  # type: ignore[arg-type]
    text = _rendered("html")
    assert "<summary>58 more without a change</summary>" in text
    assert text.count("<b>m0") == len(QUIET), "each is there to be unfolded"
    assert text.lstrip().startswith("<!DOCTYPE html>")


def test_a_run_that_is_compared_with_a_later_one_says_so() -> None:
    backwards = replace(CHANGES, old_started="2026-11-22T10:00:00+00:00")
    assert "Compared with: run before, which is the later one" in _rendered("terminal", backwards)
    assert "later" not in _rendered("terminal")


def _rendered(form: str, changes: RunChanges = CHANGES) -> str:
    judgement = RunVerdict((), Verdict(VerdictStatus.PASS, "PASS"), 0, changes=changes)
    return str(load("assay.reports", form)().render(make_run(), [make_result()], judgement))


def test_decibels_change_by_decibels() -> None:
    """A release whose weights were lost had -0.017 dB: "+792995.4 %"."""
    deltas = (MetricDelta("vs_float.sqnr_db", -0.017, 135.0), MetricDelta("task.psnr_db", 30.0, 24.0))
    (cell,) = cells(RunChanges("before", (CellChange("m", "f", verdicts=("fail", "pass"), deltas=deltas),)))
    assert [(line.label, line.change, line.worse) for line in cell.lines] == [
        ("vs_float.sqnr_db", "+135 dB", -1), ("task.psnr_db", "-6 dB", 1),
    ]  # fmt: skip
