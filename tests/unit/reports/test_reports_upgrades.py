"""Old beside new, the older version first."""

from __future__ import annotations

import datetime

from msgspec.structs import replace

from assay.core.engine_info import EngineInfo
from assay.core.policy import Policy
from assay.core.result import Result
from assay.judge.verdicts import judge
from assay.reports.html import Html
from assay.reports.rows import rows
from assay.reports.terminal import Terminal
from assay.reports.upgrades import upgrades
from assay.testing.builders import make_comparison, make_job, make_result, make_run


def _result(flow: str, version: str, used: float) -> Result:
    result = make_result("m", flow, comparisons=(make_comparison(budget_used=used),))
    return replace(result, facts=EngineInfo(backend_version=version, artifact_bytes=1000))


def _run(*results: Result):  # type: ignore[no-untyped-def]
    run = make_run(jobs=tuple(make_job("m", result.flow) for result in results))
    judgement = judge(results, Policy(), planned=[job.key for job in run.jobs], today=datetime.date(2026, 11, 24))
    return run, results, judgement


def test_versions_are_in_their_order_and_the_change_is_told_in_percent() -> None:
    changes = upgrades(rows(*_run(_result("ort", "1.27.0", 0.3), _result("ort@old", "1.9.2", 0.2))))
    assert [(result.case, result.flow) for result in changes] == [("m", "ort")]
    old, new, change = changes[0].lines
    assert old[:4] == ("ort@old", "1.9.2", "pass", "0.2")
    assert new[:4] == ("ort", "1.27.0", "pass", "0.3")
    assert change[:4] == ("change", "", "same", "+50.0 %")


def test_the_verdict_that_changed_is_named() -> None:
    (upgrade,) = upgrades(rows(*_run(_result("ort@old", "1.9.2", 0.2), _result("ort", "1.27.0", 3.0))))
    assert upgrade.lines[2][2] == "pass -> fail"


def test_one_version_or_two_flows_are_no_upgrade() -> None:
    assert upgrades(rows(*_run(_result("ort", "1.27.0", 0.2), _result("ort@same", "1.27.0", 0.2)))) == []
    assert upgrades(rows(*_run(_result("ort", "1.27.0", 0.2), _result("openvino", "2026.4", 0.2)))) == []


def test_screen_and_page_show_it() -> None:
    run, results, judgement = _run(_result("ort@old", "1.9.2", 0.2), _result("ort", "1.27.0", 0.3))
    shown = Terminal(width=120).render(run, results, judgement)
    assert "m | ort: old beside new" in shown
    assert "m on ort: old beside new" in Html().render(run, results, judgement)
