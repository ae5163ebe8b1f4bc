from __future__ import annotations

import math

import pytest

from assay.core.verdict import RunSummary, RunVerdict, Verdict, VerdictStatus
from assay.ports import Report
from assay.reports.markdown import Markdown
from assay.reports.rows import SEVERITY, counts, headline, rows, run_verdicts
from assay.reports.terminal import Terminal
from assay.reports.terminal_table import folded
from assay.testing.builders import make_comparison, make_job, make_measurement, make_result, make_run
from assay.testing.standard_run import standard_run


def judged(*verdicts: Verdict) -> RunVerdict:
    return RunVerdict(verdicts, Verdict(VerdictStatus.FAIL, "FAIL: something"), 1, summary=RunSummary("something"))


def test_every_word_has_a_severity() -> None:
    assert set(SEVERITY) == {word.value for word in VerdictStatus} | {""}


def test_verify_and_measure_of_a_cell_are_one_row() -> None:
    table = rows(*standard_run())
    assert len(table) == 9
    first = table[0]
    assert [entry.kind for entry in first.entries] == ["verify", "measure"]
    assert first.figures.budget_used == 0.21
    assert first.figures.batch == 1
    assert first.figures.median_s is not None


def test_the_gravest_verdict_of_its_tasks_is_that_of_the_row() -> None:
    run = make_run(jobs=(make_job(), make_job(kind="measure")))
    slow = Verdict(VerdictStatus.FAIL, "too slow", run.jobs[1].key)
    (row,) = rows(
        run,
        [make_result(), make_result(kind="measure")],
        judged(Verdict(VerdictStatus.PASS, "", run.jobs[0].key), slow),
    )
    assert row.word == "fail"


@pytest.mark.parametrize("report", [Terminal(width=200), Markdown()])
def test_what_every_job_of_a_row_says_is_read_once(report: Report) -> None:
    tasks = ("verify", "measure", "compare_speed")
    run = make_run(jobs=tuple(make_job(kind=task) for task in tasks))
    results = [make_result(kind=task) for task in tasks]
    large = "artifact bytes are 77, allowed is at most 5"
    reasons = (large, large, "slower")
    said = judged(*(Verdict(VerdictStatus.FAIL, why, job.key) for why, job in zip(reasons, run.jobs, strict=True)))
    text = report.render(run, results, said)
    assert text.count(large) == 1, text
    assert text.count("verify, measure") == 1, text
    assert "slower" in text


def test_a_planned_job_without_a_result_is_no_pass() -> None:
    run = make_run()
    (row,) = rows(run, [], judged())
    assert row.word == ""
    assert row.entries[0].reason == "planned, but no result was recorded"
    assert counts([row]) == {"": 1}


def test_a_result_that_no_job_asked_for_is_shown() -> None:
    table = rows(make_run(jobs=()), [make_result("stranger")], judged())
    assert [row.case for row in table] == ["stranger"]


def test_nan_is_the_worst_figure_of_all() -> None:
    result = make_result(
        comparisons=(make_comparison("a"), make_comparison("b", budget_used=math.nan), make_comparison("c"))
    )
    (row,) = rows(make_run(), [result], judged())
    assert row.figures.budget_used is not None
    assert math.isnan(row.figures.budget_used)


def test_p90_only_from_44_samples_on() -> None:
    def p90(calls: int) -> float | None:
        result = make_result(kind="measure", measurements=(make_measurement(calls=calls),))
        return rows(make_run(jobs=()), [result], judged())[0].figures.p90_s

    assert p90(43) is None
    assert p90(44) is not None


def test_verdicts_on_the_run_are_those_of_no_job_and_not_passed() -> None:
    run = make_run()
    few = Verdict(VerdictStatus.FAIL, "too few cases")
    judgement = judged(
        Verdict(VerdictStatus.PASS, "", run.jobs[0].key), few, Verdict(VerdictStatus.PASS, "enough flows")
    )
    assert run_verdicts(run, [], judgement) == [few]


def test_the_headline_does_not_say_the_word_twice() -> None:
    assert headline(judged()) == ("FAIL", "something")


def test_of_a_long_reason_the_headline_has_the_beginning() -> None:
    for length in (291, 292):
        reason_text = "something " + "x" * (length - 1)
        _, reason = headline(
            RunVerdict((), Verdict(VerdictStatus.FAIL, f"FAIL: {reason_text}"), 1, summary=RunSummary(reason_text))
        )
        assert (len(reason), reason.endswith(" ...")) == (300, length > 291)
        assert reason_text.startswith(reason.removesuffix(" ..."))


def test_a_long_name_is_broken_behind_a_mark() -> None:
    name = "gradients/hardshrink-float32-20-level=0.25-vjp"
    assert folded(name, 22).split("\n") == ["gradients/hardshrink-", "float32-20-level=0.25-", "vjp"]
    assert folded(name, 80) == name
    assert folded("a" * 30, 10) == "a" * 30  # no mark: left to the table


def test_a_long_headline_ends_at_a_whole_word() -> None:
    reason_text = "x" * 280 + " reference-f64 and onnxruntime agree"
    _, reason = headline(
        RunVerdict((), Verdict(VerdictStatus.FAIL, f"FAIL: {reason_text}"), 1, summary=RunSummary(reason_text))
    )
    assert reason == "x" * 280 + " reference-f64 ..."
