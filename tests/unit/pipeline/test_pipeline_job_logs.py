"""Every failure has a log that exists."""

from __future__ import annotations

from pathlib import Path

from assay.core.outcome import Outcome
from assay.pipeline.job_logs import log_path, with_log
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


def test_a_log_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where a folder should be")
    result = make_result(outcome=Outcome.ERROR)
    assert with_log(result, make_run(jobs=(make_job(),)), tmp_path, every=True) == result


def test_the_screen_shows_the_path_of_a_failure() -> None:
    from datetime import date

    from assay.core.policy import Policy
    from assay.judge.verdicts import judge

    job = make_job()
    result = make_result(outcome=Outcome.ERROR, detail="no", log_file=".assay/logs/1/x.log")
    judgement = judge([result], Policy(), planned=[job.key], today=date(2026, 11, 24))
    shown = Terminal(width=100).render(make_run(jobs=(job,)), [result], judgement)
    assert "\n  log: .assay/logs/1/x.log\n" in shown
