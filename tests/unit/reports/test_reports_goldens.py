"""Every report's text on the standard run, and that each is found by its entry point."""

from __future__ import annotations

import importlib.metadata
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.core.changes import CellChange, LostFusion, MetricDelta, RunChanges
from assay.core.native_warning import NativeWarning, WarningCode
from assay.core.result import MeasureResult
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.ports import Report
from assay.reports.csv import Csv
from assay.reports.github import GitHub
from assay.reports.gitlab import GitLab
from assay.reports.html import Html
from assay.reports.json import Json
from assay.reports.junit import JUnit
from assay.reports.markdown import Markdown
from assay.reports.terminal import Terminal
from assay.testing.standard_run import standard_run

SameText = Callable[[str, str], None]
TEXTS: dict[str, Report] = {
    "terminal-80.txt": Terminal(width=80),
    "terminal-200.txt": Terminal(width=200),
    "junit.xml": JUnit(),
    "markdown.md": Markdown(),
    "csv.csv": Csv(),
    "github.txt": GitHub(),
    "gitlab.json": GitLab(),
}

CHANGED: dict[str, Report] = {
    "changed-terminal.txt": Terminal(width=120),
    "changed-markdown.md": Markdown(),
    "changed-junit.xml": JUnit(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_on_the_standard_run(name: str, same_text: SameText) -> None:
    same_text(name, TEXTS[name].render(*standard_run()))


def test_the_json_on_the_standard_run_with_three_samples_each(same_text: SameText) -> None:
    run, results, judgement = standard_run()
    few = [
        replace(
            result,
            measurements=tuple(
                replace(taken, wall_s=taken.wall_s[:3], cpu_s=taken.cpu_s[:3]) for taken in result.measurements
            ),
        )
        if isinstance(result, MeasureResult)
        else result
        for result in results
    ]
    same_text("json.json", Json().render(run, few, judgement))


def test_the_html_a_reader_without_scripts_gets(same_text: SameText) -> None:
    page = Html().render(*standard_run())
    page = re.sub(r"(?s)(<(style|script)[^>]*>).*?(</\2>)", r"\1...\3", page)
    same_text("html.html", re.sub(r"sha256-[^']+", "sha256-...", page))


def _with_changes(judgement: RunVerdict) -> RunVerdict:
    cell = CellChange(
        "digits-classifier",
        "openvino-f32",
        deltas=(
            MetricDelta("budget_used", 0.41, 3.4, (0.4, 0.41, 0.41)),
            MetricDelta("artifact.bytes", 4_000_000.0, 4_120_000.0),
            MetricDelta("latency.median_ms", 1.25, 1.5),
            MetricDelta("memory.run_peak_bytes", 80e6, 60e6),
            MetricDelta("task.top1_agreement", 0.99, 0.984),
        ),
        new_warnings=(NativeWarning(WarningCode.DEPRECATED, "", "the | option <x> is deprecated"),),
        lost_fusion=LostFusion({"FusedConv": 3}, {"Conv": 3, "Relu": 3}),
        engine=("coarsest type float32 -> float16",),
        verdicts=("pass", "fail"),
    )
    changes = RunChanges(
        "run 20261120T101010-aaaaaa",
        (cell, CellChange("gone", "openvino-f32", only="old")),
        "2026-11-20T10:10:10+00:00",
        "2026-11-21T14:19:05+00:00",
        "a" * 40,
        "b" * 40,
        ("bbbbbbb Fold <b>", "ccccccc Before"),
        (("onnxruntime", "1.30.0", "1.31.1"),),
    )
    return replace(judgement, changes=changes)


@pytest.mark.parametrize("name", CHANGED)
def test_what_changed_since_the_version_before(name: str, same_text: SameText) -> None:
    run, results, judgement = standard_run()
    whole = CHANGED[name].render(run, results, judgement).splitlines()
    more = CHANGED[name].render(run, results, _with_changes(judgement)).splitlines()
    added = [line.rstrip() for line in more if line not in whole]
    same_text(name, "\n".join(added) + "\n")


def test_a_code_host_shows_each_critical_warning_of_a_pass_with_its_file() -> None:
    run, results, judgement = standard_run()
    passes = tuple(replace(verdict, word=VerdictStatus.PASS) for verdict in judgement.verdicts)
    passed = _with_changes(replace(judgement, verdicts=passes, run=replace(judgement.run, word=VerdictStatus.PASS)))
    file, name = "models/digits-classifier.onnx", "digits-classifier on openvino-f32"
    skipped, lost = GitHub().render(run, results, passed).splitlines()
    assert skipped == (
        f"::warning file={file},title=warning%3A {name}%3A fusion-skipped::fusion skipped for 3 nodes: Conv_3, Add_4, Relu_5"
    )
    assert lost.startswith(f"::warning file={file},title=warning%3A {name}%3A fusion-lost::fusion lost for 3 nodes: ")
    findings = json.loads(GitLab().render(run, results, passed))
    assert [(finding["severity"], finding["check_name"], finding["location"]["path"]) for finding in findings] == [
        ("minor", "assay-warning", file)
    ] * 2
    fewer = [replace(result, native_warnings=result.native_warnings[:2]) for result in results]
    again = json.loads(GitLab().render(run, fewer, passed))
    assert [finding["fingerprint"] for finding in again] == [finding["fingerprint"] for finding in findings]
    assert again != findings, "the text has the new count"


def test_no_kept_text_is_unused() -> None:
    kept = Path(__file__).parents[2] / "messages" / "reports"
    assert {path.name for path in kept.iterdir()} == {*TEXTS, *CHANGED, "json.json", "html.html"}


@pytest.mark.parametrize("name", ["terminal", "json", "junit", "markdown", "csv", "html"])
def test_found_by_entry_point_made_without_arguments_and_repeatable(name: str) -> None:
    (point,) = importlib.metadata.entry_points(group="assay.reports", name=name)
    report: Report = point.load()()
    assert report.name == name
    assert report.suffix.startswith(".")
    assert report.render(*standard_run()) == report.render(*standard_run())


@pytest.mark.parametrize("report", [Markdown(), Html()])
def test_one_core_is_no_cores(report: Report) -> None:
    run, results, judgement = standard_run()
    text = report.render(replace(run, machine=replace(run.machine, cpu="Old", cores=1)), results, judgement)
    assert "Old, 1 core, " in text


def test_a_pass_that_rests_on_a_stated_limit_says_so_on_the_screen() -> None:
    run, results, judgement = standard_run()
    why = "task metric decides: top-1 agreement 1.000 >= 0.990; without it inconclusive: it is poor"
    verdicts = tuple(
        replace(verdict, reason=why, by_stated_limit=True) if verdict.word is VerdictStatus.PASS else verdict
        for verdict in judgement.verdicts
    )
    assert why not in Terminal(width=200).render(run, results, judgement)
    assert why in Terminal(width=200).render(run, results, replace(judgement, verdicts=verdicts))
