"""Reports of a suite on the standard run: the peer's columns, the counts, and that no name escapes."""

from __future__ import annotations

import csv
import datetime
import io
import re

import pytest
from msgspec.structs import replace

from assay.core.engine_info import EngineInfo, Placement
from assay.core.outcome import Outcome, Stage
from assay.core.policy import Policy
from assay.core.run import Run
from assay.judge.verdicts import judge
from assay.reports.matrix import Matrix
from assay.reports.rows import common_prefix
from assay.reports.suite_csv import OURS, PEER, SuiteCsv
from assay.reports.suite_markdown import SuiteMarkdown
from assay.testing.builders import make_job, make_result, make_run
from assay.testing.standard_run import standard_run


def test_the_peers_22_columns_come_first_and_every_line_is_whole() -> None:
    assert len(PEER) == 22
    run, results, judgement = standard_run()
    lines = list(csv.reader(SuiteCsv().render(run, results, judgement).splitlines()))
    assert lines[0] == [*PEER, *OURS]
    assert {len(line) for line in lines} == {len(PEER) + len(OURS)}
    by_name = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    passed = [row for row in by_name if row["verdict"] == "pass"]
    assert {row["Result"] for row in passed} == {"Pass"}
    assert max(float(row["Output 0 Error Max"] or 0) for row in passed) > 0
    assert all(row["Result"] == "Fail" for row in by_name if row["verdict"] in ("fail", "error"))


def test_the_matrix_and_the_summary_count_every_row() -> None:
    run, results, judgement = standard_run()
    page, text = Matrix().render(run, results, judgement), SuiteMarkdown().render(run, results, judgement)
    cells = [tuple(map(int, pair)) for pair in re.findall(r">(\d+)/(\d+)<", page)]
    table = re.findall(r"^\| [^|]+ \| (\d+) \| [\d.]+ % \|", text.split("### By suite")[0], re.MULTILINE)
    assert sum(total for _, total in cells) == sum(map(int, table)) > 0
    assert "assay check" in text


def test_the_summary_ends_with_the_critical_warnings_each_with_case_and_flow() -> None:
    text = SuiteMarkdown().render(*standard_run())
    assert text.endswith(
        "### Critical warnings\n\n- digits-classifier · openvino-f32: fusion skipped for 3 nodes: Conv\\_3, Add\\_4, Relu\\_5\n\n"
    )
    run, _, judgement = standard_run()
    assert "Critical" not in SuiteMarkdown().render(run, [], judgement)


def test_a_cell_says_what_was_no_pass_and_whether_it_was_expected() -> None:
    run, results, judgement = standard_run()
    page = Matrix().render(run, results, judgement)
    title_by_class = dict(re.findall(r'<td class="(\w+)">\d+/\d+<small>\d+ ([\w ]+)</small>', page))
    assert title_by_class.keys() == {"known", "none"}, title_by_class
    assert {"mismatch", "unsupported"} & set(title_by_class.values()), title_by_class


def test_a_flow_that_this_machine_cannot_run_stands_below_the_table_with_its_reason() -> None:
    jobs = tuple(make_job(f"operators/{name}", "there") for name in ("add", "mul"))
    missing = [
        replace(
            make_result(job.case.name, "there", outcome=Outcome.UNAVAILABLE),
            job_key=job.key,
            detail="<x> is not installed",
        )
        for job in jobs
    ]
    run, day = make_run(jobs=jobs), datetime.date(2026, 11, 27)
    keys = [job.key for job in jobs]
    page = Matrix().render(run, missing, judge(missing, Policy(), planned=keys, today=day))
    (line,) = re.findall(r"<li>(.*)</li>", page.split("<h2>Not available here</h2>")[1])
    assert line.startswith("there: unavailable")
    assert "&lt;x&gt; is not installed" in line
    assert line.endswith("(2 jobs)")
    fine = [replace(make_result(job.case.name, "there"), job_key=job.key) for job in jobs]
    assert "Not available here" not in Matrix().render(run, fine, judge(fine, Policy(), planned=keys, today=day))


@pytest.mark.parametrize(
    ("case", "about", "rest"),
    [
        ("operators/conv2d-float32-smoke-2x4x9x11-k=3", "operators/conv2d", "float32-smoke-2x4x9x11-k=3"),
        ("onnx-node/test_add", "onnx-node/test_add", ""),
        ("onnx-functions/test_reduce_l1_default_axes", "onnx-functions/test_reduce", "l1_default_axes"),
        ("my-zoo/resnet-18", "my-zoo/resnet", "18"),
        ("a-model", "a-model", ""),
    ],
)
def test_what_a_case_is_about_is_looked_for_in_its_own_name(case: str, about: str, rest: str) -> None:
    assert common_prefix(case) == (about, rest)


def test_operators_are_counted_by_type_and_tier() -> None:
    names = ["operators/add-float32-smoke-20_20", "operators/mul-float32-smoke-20", "operators/add-int64-edge-0_0"]
    jobs = tuple(make_job(name) for name in names)
    results = [replace(make_result(job.case.name), job_key=job.key) for job in jobs]
    text = SuiteMarkdown().render(make_run(jobs=jobs), results, replace(standard_run()[2], verdicts=()))
    tiers = text.split("### By tier of the operators")[1].split("###")[0]
    assert re.findall(r"^\| (\w+ \w+) on [^|]+ \| (\d+) \|", tiers, re.MULTILINE) == [
        ("float32 smoke", "2"),
        ("int64 edge", "1"),
    ]
    assert "By tier" not in SuiteMarkdown().render(*standard_run())


def test_one_flow_is_no_flows() -> None:
    job = make_job("suite/case")
    result = replace(make_result("suite/case"), job_key=job.key)
    page = Matrix().render(make_run(jobs=(job,)), [result], replace(standard_run()[2], verdicts=()))
    assert "1 operator, 1 flow." in page


def test_a_hostile_name_stays_text() -> None:
    name = "<script>alert(1)</script>|x"
    job = make_job(name)
    run = make_run(jobs=(job,))
    result = replace(make_result(name), job_key=job.key)
    judgement = replace(standard_run()[2], verdicts=())
    assert "<script>" not in Matrix().render(run, [result], judgement)
    lines = SuiteMarkdown().render(run, [result], judgement).splitlines()
    shown = [line for line in lines if not line.startswith(" " * 6)]  # the rest is code: the line to repeat
    assert len(shown) < len(lines)
    assert not any("<script>" in line for line in shown)


@pytest.mark.parametrize(
    ("outcome", "stage", "artifact_bytes", "delegated", "written"),
    [
        (Outcome.UNSUPPORTED, Stage.LOWER, 0, None, ""),
        (Outcome.TIMEOUT, Stage.LOWER, 0, None, ""),
        (Outcome.UNAVAILABLE, Stage.IMPORT, 0, None, ""),
        (Outcome.UNDELEGATED, Stage.LOWER, 0, None, "False"),
        (Outcome.OK, Stage.COMPARE, 100, 0, "False"),
        (Outcome.OK, Stage.COMPARE, 100, 3, "True"),
        (Outcome.CRASH, Stage.RUN, 0, None, "True"),
    ],
)
def test_delegated_is_written_of_what_was_lowered_alone(
    outcome: Outcome, stage: Stage, artifact_bytes: int, delegated: int | None, written: str
) -> None:
    facts = EngineInfo(artifact_bytes=artifact_bytes, delegated=delegated)
    result = replace(make_result("m", "f"), outcome=outcome, stage=stage, facts=facts)
    judgement = judge([result], Policy(), planned=[result.job_key], today=datetime.date(2026, 11, 26))
    text = SuiteCsv().render(Run("r", "2026-11-26T00:00:00+00:00", "assay run", ()), [result], judgement)
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["Delegated"] == written
    if outcome is Outcome.TIMEOUT:
        assert row["Result Detail"] == "Fail (Other)", "a limit of time blames no stage"


def _row(facts: EngineInfo) -> dict[str, str]:
    result = replace(make_result("m", "f"), facts=facts)
    judgement = judge([result], Policy(), planned=[result.job_key], today=datetime.date(2026, 11, 26))
    text = SuiteCsv().render(Run("r", "2026-11-26T00:00:00+00:00", "assay run", ()), [result], judgement)
    (row,) = csv.DictReader(io.StringIO(text))
    return row


def test_operators_are_named_where_they_ran() -> None:
    placed = (
        Placement("add", "XnnpackBackend", "float32", 2, "compute"),
        Placement("permute", "XnnpackBackend", "float32", 1, "reformat"),
        Placement("quantize", "XnnpackBackend", "int8", 1, "cast"),
        Placement("add", "portable", "float32", 1, "compute"),
        Placement("sort", "portable", "float32", 2, "compute"),
        Placement("view", "portable", "float32", 1, "reformat"),
    )
    row = _row(EngineInfo(artifact_bytes=9, placements=placed, undelegated=("add", "sort", "sort"), delegated=3))
    assert (row["Delegated Ops"], row["Undelegated Ops"]) == ("add: 2, permute: 1", "add: 1, sort: 2")
    assert (row["Delegated Nodes"], row["Undelegated Nodes"]) == ("3", "3")
    nothing = _row(
        EngineInfo(artifact_bytes=9, placements=placed[3:], undelegated=("add", "sort", "sort"), delegated=0)
    )
    assert (nothing["Delegated Ops"], nothing["Delegated"]) == ("", "False")
    whole = _row(EngineInfo(artifact_bytes=9, placements=placed[:2]))
    assert (whole["Delegated Ops"], whole["Undelegated Ops"]) == ("add: 2, permute: 1", "")
