"""`--details`: every output with its values and the quantiles of its errors."""

from __future__ import annotations

from assay.core.tensor_statistics import TensorStatistics
from assay.reports.details import values
from assay.reports.terminal import Terminal
from assay.testing.builders import make_comparison, make_result, make_run, standard_run


def test_every_output_of_every_verified_flow_is_shown_only_where_it_is_asked_for() -> None:
    run, results, judgement = standard_run()
    assert "absolute error" not in Terminal(width=120).render(run, results, judgement)
    text = Terminal(width=120, details=True).render(run, results, judgement)
    assert "    absolute error  max " in text
    assert text.count("samples\n") == sum(len(one.comparisons) for one in results if one.kind == "verify")


def test_the_values_say_what_is_not_finite() -> None:
    assert values(TensorStatistics(-1.0, 2.5, 0.25, 1.0)) == "min -1, max 2.5, mean 0.25, std 1; no NaN, no infinity"
    assert values(TensorStatistics(nans=3, infinities=1)).endswith("; 3 NaN, 1 infinities")


def test_a_name_of_an_output_keeps_to_its_line() -> None:
    result = make_result(comparisons=(make_comparison("a\nb", actual=TensorStatistics()),))
    run = make_run()
    _, _, judgement = standard_run()
    text = Terminal(width=120, details=True).render(run, [result], judgement)
    assert any(line.startswith("  a") and "b  float32" in line for line in text.splitlines())
