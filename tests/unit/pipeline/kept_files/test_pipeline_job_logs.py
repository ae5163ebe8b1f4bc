"""Every failure has a log that exists."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from assay.alerts.causes import red_jobs
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.judge.verdicts import judge
from assay.pipeline.kept_files.job_logs import log_path, with_log
from assay.ports import Report
from assay.reports.github import GitHub
from assay.reports.gitlab import GitLab
from assay.reports.junit import JUnit
from assay.reports.markdown import Markdown
from assay.reports.suite_markdown import SuiteMarkdown
from assay.reports.terminal import Terminal
from assay.testing.builders import make_job, make_result, make_run


def test_a_failure_has_a_file_with_what_the_job_wrote_and_a_pass_of_a_large_suite_has_none(tmp_path: Path) -> None:
    job = make_job("suite/Add-1 x/..", "onnxruntime")
    run = make_run(jobs=(job,))
    result = make_result(
        "suite/Add-1 x/..", "onnxruntime", outcome=Outcome.CRASH, log="native words\n", detail="it died"
    )
    kept = with_log(result, run, tmp_path, every=False)
    path = Path(kept.log_file)
    assert path == log_path(run.id, job.key, tmp_path)
    assert path.parent == tmp_path / "logs" / run.id
    text = path.read_text()
    assert "outcome   crash in" in text
    assert "detail    it died" in text
    assert text.endswith("What the job and its libraries wrote:\nnative words\n")
    passed = make_result("suite/Add-1 x/..", "onnxruntime")
    assert with_log(passed, run, tmp_path, every=False).log_file == ""
    assert Path(with_log(passed, run, tmp_path, every=True).log_file).is_file()


def test_what_is_skipped_keeps_the_words_of_its_library_where_there_are_any(tmp_path: Path) -> None:
    run = make_run(jobs=(make_job(),))
    spoke = make_result(outcome=Outcome.UNSUPPORTED, log="error 3: ...", detail="no shapes; its reason is in the log")
    assert Path(with_log(spoke, run, tmp_path, every=False).log_file).read_text().endswith("error 3: ...\n")
    assert with_log(make_result(outcome=Outcome.UNSUPPORTED), run, tmp_path, every=False).log_file == ""


def test_a_log_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where a folder should be")
    result = make_result(outcome=Outcome.ERROR)
    assert with_log(result, make_run(jobs=(make_job(),)), tmp_path, every=True) == result


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (Terminal(width=100), "\n  log: .assay/logs/1/x.log\n"),
        (JUnit(), "\nlog: .assay/logs/1/x.log\nrepeat: "),
        (Markdown(), "\nLog: `.assay/logs/1/x.log`\n"),
        (SuiteMarkdown(), "\n  Log: `.assay/logs/1/x.log`\n"),
        (GitHub(), "%0Alog: .assay/logs/1/x.log%0Aassay "),
        (GitLab(), " (log: .assay/logs/1/x.log)"),
    ],
)
def test_every_report_that_tells_of_a_failure_has_the_path_of_its_log(report: Report, line: str) -> None:
    job = make_job()
    result = make_result(outcome=Outcome.ERROR, detail="no", log_file=".assay/logs/1/x.log")
    judgement = judge([result], Policy(), planned=[job.key], today=date(2026, 11, 24))
    assert line in report.render(make_run(jobs=(job,)), [result], judgement)


def test_an_alert_has_the_path_of_the_log() -> None:
    job = make_job()
    result = make_result(outcome=Outcome.ERROR, detail="no", log_file=".assay/logs/1/x.log")
    judgement = judge([result], Policy(), planned=[job.key], today=date(2026, 11, 24))
    red, _ = red_jobs(judgement.verdicts, [result], [job], "assay check")
    assert [job_red.log for job_red in red if job_red.key == job.key] == [".assay/logs/1/x.log"]
