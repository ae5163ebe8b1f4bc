"""Reports of a suite on the standard run: the peer's columns, the counts, and that no name escapes."""

from __future__ import annotations

import csv
import re

from msgspec.structs import replace

from assay.reports.matrix import Matrix
from assay.reports.suite_csv import OURS, PEER, SuiteCsv
from assay.reports.suite_markdown import SuiteMarkdown
from assay.testing.builders import make_job, make_result, make_run, standard_run


def test_the_peers_22_columns_come_first_and_every_line_is_whole() -> None:
    assert len(PEER) == 22
    run, results, judgement = standard_run()
    lines = list(csv.reader(SuiteCsv().render(run, results, judgement).splitlines()))
    assert lines[0] == [*PEER, *OURS]
    assert {len(line) for line in lines} == {len(PEER) + len(OURS)}
    by_name = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    passed = [one for one in by_name if one["verdict"] == "pass"]
    assert {one["Result"] for one in passed} == {"Pass"}
    assert max(float(one["Output 0 Error Max"] or 0) for one in passed) > 0
    assert all(one["Result"] == "Fail" for one in by_name if one["verdict"] in ("fail", "error"))


def test_the_matrix_and_the_summary_count_every_row() -> None:
    run, results, judgement = standard_run()
    page, text = Matrix().render(run, results, judgement), SuiteMarkdown().render(run, results, judgement)
    cells = [tuple(map(int, one)) for one in re.findall(r">(\d+)/(\d+)</td>", page)]
    table = re.findall(r"^\| [^|]+ \| (\d+) \| [\d.]+ % \|", text.split("### By suite")[0], re.MULTILINE)
    assert sum(total for _, total in cells) == sum(map(int, table)) > 0
    assert "assay check" in text


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
