"""The head of the page names what a run was judged by."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.core.policy import LIMITS, Goal
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.reports.html import Html
from assay.reports.html_head import _goal
from assay.testing.standard_run import standard_run


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        (Goal("latency.median_ms", max=5.0), "latency.median_ms at most 5"),
        (Goal("delegates.nodes", equal=0.0, flow="a"), "delegates.nodes exactly 0 for case *, flow a"),
        (Goal("artifact.bytes", max_degradation=0.0), "artifact.bytes worse by at most 0, against run"),
        (
            Goal("max_abs", percent_max_degradation=5.0, against="flow:a"),
            "max_abs worse in percent by at most 5, against flow:a",
        ),
    ],
)
def test_a_goal_is_named_with_its_limit_whatever_its_kind(goal: Goal, text: str) -> None:
    assert _goal(goal) == text


def test_every_kind_of_limit_has_its_words() -> None:
    for name, words in LIMITS.items():
        assert words in _goal(Goal("m", **{name: 1.0}))  # type: ignore[arg-type]


def test_the_title_of_a_pass_says_how_many_jobs_were_skipped() -> None:
    run, results, judgement = standard_run()
    title = f"· Assay {run.id}</title>"
    first, *rest = (replace(verdict, word=VerdictStatus.PASS) for verdict in judgement.verdicts)
    skips = (replace(verdict, word=VerdictStatus.SKIP) for verdict in rest)
    passed = Verdict(VerdictStatus.PASS, "PASS: 1 of 10 jobs passed, 9 skipped")
    assert f"<title>PASS, 9 of 10 jobs skipped {title}" in Html().render(
        run, results, RunVerdict((first, *skips), passed, 0)
    )
    assert f"<title>PASS {title}" in Html().render(run, results, RunVerdict((first, *rest), passed, 0))
