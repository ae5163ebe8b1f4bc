"""Names, reasons and logs written by an adversary, and runs with nothing in them, through every report."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence

import defusedxml.ElementTree
import msgspec
import pytest

from assay.core.note import NoteCode, noted
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.ports import Report
from assay.reports.csv import Csv, guarded
from assay.reports.html import Html
from assay.reports.json import Json
from assay.reports.junit import JUnit
from assay.reports.markdown import Markdown, escaped
from assay.reports.terminal import Terminal
from assay.testing.builders import make_comparison, make_job, make_result, make_run
from assay.testing.standard_run import standard_run

REPORTS: tuple[Report, ...] = (Terminal(width=80), Json(), JUnit(), Markdown(), Csv(), Html())
HOSTILE = "=1+1|</script><img src=x onerror=alert(1)>\x1b[31m\x00\u202e`a`\n| x | ]]> & @team"


def hostile_run() -> tuple[Run, list[Result], RunVerdict]:
    job = make_job(HOSTILE, "flow\x07")
    result = make_result(
        HOSTILE,
        "flow\x07",
        outcome=Outcome.MISMATCH,
        detail=HOSTILE,
        node=HOSTILE,
        log=HOSTILE * 3,
        notes=(noted(NoteCode.LIBRARY_SAID, text=HOSTILE),),
        comparisons=(make_comparison(HOSTILE, budget_used=math.nan),),
    )
    judgement = RunVerdict((Verdict(VerdictStatus.FAIL, HOSTILE, job.key),), Verdict(VerdictStatus.FAIL, HOSTILE), 1)
    return make_run(jobs=(job,), command=HOSTILE), [result], judgement


def empty_run() -> tuple[Run, list[Result], RunVerdict]:
    nothing = Verdict(VerdictStatus.ERROR, "nothing was executed: no job was planned")
    return make_run(jobs=(), status="complete"), [], RunVerdict((), nothing, 5)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_hostile_text_leaves_no_control_character(report: Report) -> None:
    text = report.render(*hostile_run())
    assert not {character for character in text if ord(character) < 32 or character == "\u202e"} - {"\n", "\t"}
    assert text.encode("utf-8")


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_a_run_without_jobs_says_so(report: Report) -> None:
    text = report.render(*empty_run())
    if report.name != "csv":
        assert "nothing was executed" in text


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_an_unavailable_flow_shows_how_to_install_it(report: Report) -> None:
    assert "pip install" in report.render(*standard_run())


def test_junit_is_read_back_by_a_strict_parser_with_the_right_counts() -> None:
    root = defusedxml.ElementTree.fromstring(JUnit().render(*standard_run()))
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "10",
        "failures": "4",
        "errors": "1",
        "skipped": "2",
    }
    assert len(root.findall(".//testcase")) == 10
    (case,) = defusedxml.ElementTree.fromstring(JUnit().render(*hostile_run())).findall(".//testcase")
    assert "</script><img src=x onerror=alert(1)>" in case.get("name")
    assert case.get("classname") == "flow\\x07"


@pytest.mark.parametrize(
    "word", [VerdictStatus.INCONCLUSIVE, VerdictStatus.ERROR, VerdictStatus.XPASS, VerdictStatus.FAIL]
)
def test_junit_is_never_green_for_what_is_not_proven(word: VerdictStatus) -> None:
    run = make_run()
    judgement = RunVerdict((Verdict(word, "", run.jobs[0].key),), Verdict(word, ""), 3)
    root = defusedxml.ElementTree.fromstring(JUnit().render(run, [make_result()], judgement))
    assert int(root.get("failures")) + int(root.get("errors")) == 1


def test_junit_is_red_where_only_the_run_failed_or_nothing_ran() -> None:
    run = make_run()
    verdicts = (Verdict(VerdictStatus.PASS, "", run.jobs[0].key), Verdict(VerdictStatus.FAIL, "too few cases"))
    judgement = RunVerdict(verdicts, Verdict(VerdictStatus.FAIL, "too few cases"), 1)
    root = defusedxml.ElementTree.fromstring(JUnit().render(run, [make_result()], judgement))
    assert root.get("failures") == "1"
    assert defusedxml.ElementTree.fromstring(JUnit().render(*empty_run())).get("errors") == "1"
    lost = RunVerdict((), Verdict(VerdictStatus.ERROR, "lost"), 4)
    assert defusedxml.ElementTree.fromstring(JUnit().render(run, [], lost)).get("errors") == "1"


def test_json_keeps_full_precision_and_spells_what_is_not_finite() -> None:
    run, results, judgement = standard_run()
    read = json.loads(Json().render(run, results, judgement))
    assert [job["key"] for job in read["jobs"]] == [job.key for job in run.jobs]
    assert read["jobs"][2]["result"]["measurements"][0]["wall_s"] == list(results[2].measurements[0].wall_s)
    hostile = json.loads(Json().render(*hostile_run()))
    assert hostile["jobs"][0]["result"]["case"] == HOSTILE
    assert hostile["jobs"][0]["result"]["comparisons"][0]["metrics"]["budget_used"] == "NaN"


def test_csv_has_a_line_per_job_and_no_formula() -> None:
    lines = list(csv.DictReader(io.StringIO(Csv().render(*standard_run()))))
    assert len(lines) == 10
    assert float(lines[0]["max_abs"]) == 2.1000000000000002e-06
    (hostile,) = csv.DictReader(io.StringIO(Csv().render(*hostile_run())))
    assert hostile["case"].startswith("'=1+1")
    assert hostile["budget_used"] == "nan"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "\t=", "\r=", "\x00=", "＝"])
def test_csv_guards_every_way_to_start_a_formula(start: str) -> None:
    assert not guarded(f"{start}cmd").startswith(("=", "+", "-", "@", "\t", "\r", "＝"))


def test_markdown_cells_cannot_break_the_table() -> None:
    lines = Markdown().render(*hostile_run()).splitlines()
    table = [line for line in lines if line.startswith("|")]
    bars = [line.replace("\\|", "").count("|") for line in table]
    assert bars == [10] * 3
    assert "<img" not in "\n".join(lines).split("```")[0]
    assert not any(line.startswith("| x |") for line in lines)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("# title", "\\# title"),
        ("1. one", "1\\. one"),
        ("- item", "\\- item"),
        ("[a](b)", "\\[a\\](b)"),
        ("@team", "&#64;team"),
        ("a-b.onnx", "a-b.onnx"),
        ("x" * 700, "x" * 597 + "..."),
    ],
)
def test_markdown_escapes(text: str, shown: str) -> None:
    assert escaped(text) == shown


def many(count: int, word: VerdictStatus = VerdictStatus.FAIL) -> tuple[Run, Sequence[Result], RunVerdict]:
    jobs = tuple(make_job(f"case-{number}" + "x" * 300) for number in range(count))
    reason = "r" * 5000
    results = [make_result(job.case.name, outcome=Outcome.ERROR, stage=Stage.RUN) for job in jobs]
    return (
        make_run(jobs=jobs),
        results,
        RunVerdict(tuple(Verdict(word, reason, j.key) for j in jobs), Verdict(word, ""), 1),
    )


def test_markdown_fits_a_job_summary_and_says_what_it_left_out() -> None:
    text = Markdown().render(*many(2000))
    assert len(text.encode("utf-8")) < 2**20
    assert "1800 more rows are not shown" in text
    assert "1950 more are in the other reports" in text


def test_the_terminal_shows_the_gravest_of_very_many_rows() -> None:
    run, results, judgement = many(200, VerdictStatus.PASS)
    verdicts = (*judgement.verdicts[:-1], Verdict(VerdictStatus.FAIL, "the only one", run.jobs[-1].key))
    text = Terminal(width=200).render(run, results, RunVerdict(verdicts, judgement.run, 1))
    assert "140 more rows" in text
    assert "the only one" in text


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_terminal_table_keeps_to_the_width(width: int) -> None:
    table = Terminal(width=width).render(*standard_run()).split("\n\n")[0]
    assert max(map(len, table.splitlines())) <= width


def test_the_terminal_has_escape_codes_only_when_asked() -> None:
    assert "\x1b" not in Terminal(width=80).render(*standard_run())
    coloured = Terminal(width=80, colour=True).render(*standard_run())
    assert "\x1b[1;31mFAIL" in coloured


@pytest.mark.parametrize("colour", [False, True])
def test_sentences_on_a_screen_end_within_it_and_commands_stay_whole(colour: bool) -> None:
    """Word for word the same text besides."""
    standing = Terminal(width=60).render(*standard_run())
    screen = re.sub(r"\x1b\[[0-9;]*m", "", Terminal(width=60, colour=colour, wrapped=True).render(*standard_run()))
    long = [line for line in screen.splitlines() if len(line) > 60]
    assert long
    assert all(line.startswith("  assay check ") for line in long)
    assert any(len(line) > 60 and not line.startswith("  assay check ") for line in standing.splitlines())
    assert screen.split() == standing.split()


def test_what_was_told_with_a_failure_is_not_told_of_the_passes_again() -> None:
    run, results, judgement = standard_run()
    note = noted(NoteCode.LIBRARY_SAID, text="told once")
    text = Terminal(width=200).render(
        run, [msgspec.structs.replace(result, notes=(note,)) for result in results], judgement
    )
    assert "  warning: told once" in text
    assert "\nwarning: " not in text


def test_a_pass_that_rests_on_less_says_so() -> None:
    run, results, judgement = standard_run()
    passed = {verdict.job_key for verdict in judgement.verdicts if verdict.word.value == "pass"}
    doubtful = [
        msgspec.structs.replace(
            result, notes=(noted(NoteCode.LIBRARY_SAID, text="the reference\x1b[31m is another engine's"),)
        )
        if result.job_key in passed
        else result
        for result in results
    ]
    (line,) = (
        console_line
        for console_line in Terminal(width=80).render(run, doubtful, judgement).splitlines()
        if "another engine's" in console_line and console_line.startswith("warning: ")
    )
    assert "\x1b" not in line
    assert "passes have warnings: --report html=FILE shows all" in line
