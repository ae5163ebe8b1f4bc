"""A sweep over batch sizes as rows, with the knee named."""

from __future__ import annotations

import datetime

import pytest

from assay.core.job_base import JobKind
from assay.core.note import NoteCode, noted
from assay.core.result import Result
from assay.core.run import Run
from assay.core.speed import PairedRun, SpeedComparison
from assay.core.verdict import RunVerdict
from assay.judge.verdicts import judge
from assay.judge.words.note_text import note_text
from assay.reports.batch_sweep import KNEE, columns, curve, launches, sweep
from assay.reports.markdown import Markdown
from assay.reports.rows import entries, figures
from assay.reports.terminal import Terminal
from assay.testing.builders import make_job, make_measurement, make_result, make_run
from assay.testing.standard_run import standard_run


def _judged(run: Run, results: list[Result]) -> RunVerdict:
    planned = [job.key for job in run.jobs]
    return judge(results, run.policy, planned=planned, today=datetime.date(2026, 11, 23))


def test_latency_and_throughput_against_the_batch_size_with_the_knee() -> None:
    taken = tuple(make_measurement(n, median_s=8e-3 + 1e-3 * n) for n in (1, 4, 8, 16, 32))
    header, rows = sweep(make_result(kind="measure", measurements=taken))
    assert header[:2] == ("batch", "latency")
    assert [row[0] for row in rows if row[-1] == KNEE] == ["8"]
    assert rows[2][3].endswith("/s")
    found = curve(make_result(kind="measure", measurements=taken))
    assert found is not None
    assert found["knee"] == 8


def test_a_comparison_shows_its_rival_beside_it() -> None:
    speeds = [
        SpeedComparison(
            "old", (PairedRun(0.1, 0, 0, 2),), "thread", 1e-3, 1e-3, batch, own_wall_s=1e-3, rival_wall_s=9e-4
        )
        for batch in (1, 8)
    ]
    header, rows = sweep(make_result(kind="compare_speed", speeds=tuple(speeds)))
    assert rows[1] == ["8", "0.900 ms", "1.00 ms", "+10.5 %", "8,000/s", ""]
    assert columns(header, rows)[0].startswith("batch  before")
    result = make_result(kind="compare_speed", speeds=tuple(speeds))
    found = curve(result)
    assert found is not None
    assert found["before"] == [[1, 0.9, pytest.approx(1 / 9e-4)], [8, 0.9, pytest.approx(8 / 9e-4)]]
    assert launches(result)[1] == ["8", "1", "+10.5 %", "+0.0 %", "+0.0 %", "0 ms", "0 ms"]
    assert figures(entries(make_run(jobs=()), [result], standard_run()[2])).slowdown_percent == pytest.approx(
        10.5, abs=0.1
    )


def test_what_is_told_of_the_only_job_is_not_told_twice() -> None:
    result = make_result(
        "net",
        "onnxruntime",
        "compare_speed",
        speeds=(SpeedComparison("old", trouble=noted(NoteCode.CPU_CLOCK_STOPPED)),),
    )
    run = make_run(jobs=(make_job("net", "onnxruntime", JobKind.COMPARE_SPEED),))
    text = Terminal(width=80).render(run, [result], _judged(run, [result]))
    assert text.count(note_text(noted(NoteCode.CPU_CLOCK_STOPPED))) == 1
    assert "INCONCLUSIVE  1 of 1 job proves nothing\n" in text
    both = [make_job("net", flow, JobKind.COMPARE_SPEED) for flow in ("onnxruntime", "openvino-f32")]
    results = [make_result("net", job.subject, "compare_speed", speeds=result.speeds) for job in both]
    run = make_run(jobs=tuple(both))
    assert "; the first: net|onnxruntime|compare_speed: " in Terminal(width=80).render(
        run, results, _judged(run, results)
    )


def test_one_batch_size_is_no_sweep() -> None:
    assert sweep(make_result(kind="measure", measurements=(make_measurement(1),))) == ((), [])


def test_markdown_says_what_a_comparison_found_and_its_batch_sizes() -> None:
    launches_ = tuple(PairedRun(0.001 * (n % 2), 0, 0, 9, 1e-3, 1e-3) for n in range(4))
    speeds = [SpeedComparison("old", launches_, "thread", 1e-3, 1e-3, batch, 1, "", 1e-3, 9e-4) for batch in (1, 8)]
    result = make_result("net", "onnxruntime", "compare_speed", speeds=tuple(speeds[:2]))
    run = make_run(jobs=(make_job("net", "onnxruntime", JobKind.COMPARE_SPEED),))
    text = Markdown().render(run, [result], _judged(run, [result]))
    assert "net · onnxruntime: at batch 1: same: +0.1 % CPU time against old" in text
    assert "| 8 | 0.900 ms | 1.00 ms | +0.1 % | 8,000/s |" in text
