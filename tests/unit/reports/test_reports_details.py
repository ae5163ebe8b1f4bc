"""`--details`: every output with its values and the quantiles of its errors."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.repeats import Repeats
from assay.core.result import VerifyResult
from assay.core.tensor_statistics import TensorStatistics
from assay.reports.details import values
from assay.reports.terminal import Terminal
from assay.testing.builders import make_comparison, make_result, make_run
from assay.testing.standard_run import standard_run


def test_every_output_of_every_verified_flow_is_shown_only_where_it_is_asked_for() -> None:
    run, results, judgement = standard_run()
    assert "absolute error" not in Terminal(width=120).render(run, results, judgement)
    text = Terminal(width=120, details=True).render(run, results, judgement)
    assert "    absolute error  max " in text
    assert text.count("samples\n") == sum(len(result.comparisons) for result in results if result.kind == "verify")


def test_the_values_say_what_is_not_finite() -> None:
    assert values(TensorStatistics(-1.0, 2.5, 0.25, 1.0)) == "min -1, max 2.5, mean 0.25, std 1; no NaN, no infinity"
    assert values(TensorStatistics(nans=3, infinities=1)).endswith("; 3 NaN, 1 infinities")


def test_a_name_of_an_output_keeps_to_its_line() -> None:
    result = make_result(comparisons=(make_comparison("a\nb", actual=TensorStatistics()),))
    run = make_run()
    _, _, judgement = standard_run()
    text = Terminal(width=120, details=True).render(run, [result], judgement)
    assert any(line.startswith("  a") and "b  float32" in line for line in text.splitlines())


def test_how_seldom_a_passing_engine_was_asked_again_is_said_once() -> None:
    run, results, judgement = standard_run()
    few = [
        replace(result, repeats=Repeats(calls=11 + place, seconds=0.6, share=0.25))
        if isinstance(result, VerifyResult)
        else result
        for place, result in enumerate(results)
    ]
    text = Terminal(wrapped=False).render(run, few, judgement)
    (line,) = [line for line in text.splitlines() if line.startswith("not seen: ")]
    assert "repeated calls over 0.6 s were compared with the first answers: up to one bad call in " in line
    assert line.endswith("passes were asked less than 149 times)")
    often = [
        replace(result, repeats=Repeats(calls=149, share=0.25)) if isinstance(result, VerifyResult) else result
        for result in results
    ]
    assert "not seen: " not in Terminal(wrapped=False).render(run, often, judgement)


def test_the_metrics_of_a_task_are_shown_and_a_class_too_many_is_counted() -> None:
    run, _, judgement = standard_run()
    few = make_result(comparisons=(make_comparison("y"),), task_metrics={"oks": 0.902, "min_oks_agreement": 1.0})
    assert "\n  task  oks 0.902, min_oks_agreement 1\n" in Terminal(wrapped=False, details=True).render(
        run, [few], judgement
    )
    many = replace(few, task_metrics={f"iou_class{index}": 0.5 for index in range(43)})
    text = Terminal(wrapped=False, details=True).render(run, [many], judgement)
    assert "iou_class39 0.5, and 3 more\n" in text
