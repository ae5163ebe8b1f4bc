"""A result as named metrics."""

from __future__ import annotations

import math

import pytest

from assay.core.comparison import StatedMetric
from assay.core.engine_info import EngineInfo, Placement, Sparsity
from assay.core.measurement import Memory
from assay.core.note import NoteCode, noted
from assay.core.outcome import Stage
from assay.core.result import StageTime
from assay.judge.metric_registry import direction, is_unknown, recorded_by, unit
from assay.judge.named_metrics import metrics, samples_missing, stated_by
from assay.testing.builders import make_comparison, make_measurement, make_result


def test_the_worst_over_outputs_and_each_output() -> None:
    good, bad = make_comparison("a", budget_used=0.2), make_comparison("b", budget_used=0.9)
    named = metrics(make_result(comparisons=(bad, good)))
    assert named["budget_used"] == 0.9
    assert named["a.budget_used"] == 0.2
    assert named["sqnr_db"] == bad.metrics["sqnr_db"] < good.metrics["sqnr_db"]
    assert named["cosine"] == bad.metrics["cosine"] < good.metrics["cosine"]


def test_a_nan_is_the_worst_in_whatever_order() -> None:
    good, broken = make_comparison("a"), make_comparison("b", metrics={"cosine": math.nan})
    for pair in ((good, broken), (broken, good)):
        assert math.isnan(metrics(make_result(comparisons=pair))["cosine"])


def test_the_worst_norm_ratio_is_the_one_farthest_from_one() -> None:
    pair = (make_comparison("a", metrics={"norm_ratio": 0.5}), make_comparison("b", metrics={"norm_ratio": 1.2}))
    assert metrics(make_result(comparisons=pair))["norm_ratio"] == 0.5


def test_latencies_are_told_where_the_samples_support_them() -> None:
    named = metrics(make_result(kind="measure"))
    assert named["latency.median_ms"] == pytest.approx(0.5, rel=0.05)
    assert named["latency.batch1.median_ms"] == named["latency.median_ms"]
    assert named["latency.batch8.median_ms"] == pytest.approx(2.6, rel=0.05)
    assert named["throughput.batch8.per_s"] == pytest.approx(8e3 / named["latency.batch8.median_ms"])
    assert named["latency.cpu_median_ms"] == pytest.approx(0.97 * named["latency.median_ms"])
    assert {"latency.p90_ms", "latency.p95_ms"} <= named.keys()
    assert "latency.p99_ms" not in named


def test_the_plain_latency_is_of_the_smallest_batch_however_recorded() -> None:
    both = (make_measurement(8, median_s=0.0026), make_measurement(1))
    assert metrics(make_result(kind="measure", measurements=both))["latency.median_ms"] == pytest.approx(0.5, rel=0.05)


def test_samples_of_one_batch_size_count_together() -> None:
    launches = tuple(make_measurement(1, calls=230) for _ in range(2))
    assert "latency.p99_ms" in metrics(make_result(kind="measure", measurements=launches))


def test_too_few_samples_are_told_from_a_figure_that_does_not_exist() -> None:
    result = make_result(kind="measure", measurements=(make_measurement(1, calls=3),))
    assert "latency.median_ms" not in metrics(result)
    assert samples_missing(result, "latency.median_ms") == (5, 3)
    assert samples_missing(result, "latency.batch1.p99_ms") == (459, 3)
    assert samples_missing(result, "latency.batch2.p99_ms") is None
    assert samples_missing(result, "latency.p98_ms") is None
    assert samples_missing(make_result(), "latency.p99_ms") is None


def test_zero_bytes_are_no_figure() -> None:
    bare = make_result(kind="measure", memory=Memory(), facts=EngineInfo())
    assert not {"memory.load_peak_bytes", "memory.run_peak_bytes", "artifact.bytes"} & metrics(bare).keys()
    assert metrics(make_result())["artifact.bytes"] == 51_200.0


def test_stages_counts_and_task_metrics() -> None:
    result = make_result(
        stage_times=(StageTime(Stage.LOWER, 1.0), StageTime(Stage.LOWER, 0.5)),
        facts=EngineInfo(undelegated=("Conv", "Relu")),
        notes=(noted(NoteCode.LIBRARY_SAID, text="slow"),),
        task_metrics={"top1_accuracy": 0.97},
        seconds=3.0,
    )
    named = metrics(result)
    assert named["stage.lower_s"] == 1.5
    assert (named["undelegated"], named["warnings"], named["seconds"]) == (2.0, 1.0, 3.0)
    assert named["task.top1_accuracy"] == 0.97


def placed(*rows: tuple[str, str, int, str]) -> EngineInfo:
    return EngineInfo(placements=tuple(Placement(name, "CPU", kind, count, role) for name, kind, count, role in rows))


def test_what_the_engine_really_is() -> None:
    facts = placed(
        ("QLinearConv", "uint8", 6, "fused"),
        ("Gemm", "float32", 2, "compute"),
        ("Shape", "int64", 5, "compute"),
        ("QuantizeLinear", "int8", 3, "cast"),
        ("Reorder", "float32", 1, "reformat"),
    )
    named = metrics(make_result(facts=facts))
    assert (named["precision.int8"], named["precision.float32"], named["precision.float16"]) == (0.75, 0.25, 0.0)
    assert (named["operators"], named["fused"], named["casts"], named["undelegated"]) == (17.0, 6.0, 4.0, 0.0)
    assert "delegated" not in named


def test_sparsity_is_a_share_of_the_elements() -> None:
    named = metrics(make_result(facts=EngineInfo(sparsity=Sparsity(200, 100, 50), sparse_kernels=3)))
    assert (named["sparsity.zero_share"], named["sparsity.two_of_four_share"], named["sparsity.kernels"]) == (
        0.5,
        0.25,
        3,
    )
    assert not {metric for metric in metrics(make_result()) if metric.startswith("sparsity.")}


def test_what_the_backend_does_not_tell_is_no_figure() -> None:
    """A zero would keep a limit that nobody has looked at."""
    names = {"operators", "undelegated", "delegated", "fused", "casts", "precision.float32", "precision.int8"}
    assert not names & metrics(make_result(facts=EngineInfo(precision="float32"))).keys()
    unsaid = metrics(make_result(facts=placed(("Conv", "float32", 4, ""), ("Relu", "float32", 1, "compute"))))
    assert not {"fused", "casts", "delegated"} & unsaid.keys()
    assert "precision.float32" not in metrics(make_result(facts=placed(("Shape", "int64", 4, "compute"))))
    nothing = metrics(make_result(facts=EngineInfo(delegated=0)))
    assert (nothing["delegated"], nothing["undelegated"]) == (0.0, 0.0)


def test_against_the_float_model_is_apart_and_has_no_budget() -> None:
    lossy = make_comparison(budget_used=900.0)
    named = metrics(make_result(against_float=(lossy,)))
    assert named["vs_float.sqnr_db"] == named["vs_float.scores.sqnr_db"] == lossy.metrics["sqnr_db"]
    assert named["budget_used"] < 1
    assert "vs_float.budget_used" not in named
    assert direction("vs_float.scores.sqnr_db") == "down"


def test_a_size_of_its_own_counts_as_worst_and_hides_no_other() -> None:
    named = metrics(make_result(comparisons=(make_comparison(), make_comparison(budget_used=0.9, at="batch=9"))))
    assert (named["scores.budget_used"], named["budget_used"]) == (0.21, 0.9)


def test_an_output_cannot_hide_a_listed_figure() -> None:
    fake = make_comparison("artifact", metrics={"bytes": 0.0})
    named = metrics(make_result(comparisons=(fake,)))
    assert named["artifact.bytes"] > 0.1


@pytest.mark.parametrize(
    ("metric", "bad", "of"),
    [
        ("latency.median_ms", "up", "ms"),
        ("latency.batch8.p99_ms", "up", "ms"),
        ("throughput.per_s", "down", "1/s"),
        ("logits.sqnr_db", "down", "dB"),
        ("a.b.cosine", "down", ""),
        ("norm_ratio", "both", ""),
        ("abs_p99", "up", ""),
        ("task.top1_accuracy", "down", ""),
        ("task.kl_divergence", "up", ""),
        ("task.word_error_rate", "up", ""),
        ("task.psnr_db", "down", "dB"),
        ("task.of_nobody", "down", ""),
        ("memory.run_peak_bytes", "up", "bytes"),
        ("stage.lower_s", "up", "s"),
        ("a_strangers_metric", "up", ""),
    ],
)
def test_every_figure_has_a_bad_direction(metric: str, bad: str, of: str) -> None:
    assert direction(metric) == bad
    assert unit(metric) == of


def test_names_that_can_never_be_recorded() -> None:
    assert is_unknown("latency.medain_ms")
    assert is_unknown("stage.lower")
    assert not is_unknown("latency.batch16.p90_ms")
    assert not is_unknown("memory.max_abs"), "an output may be called memory"
    assert not is_unknown("a_strangers_metric")


def test_the_task_that_answers_for_a_missing_figure() -> None:
    assert recorded_by("latency.p99_ms") == "measure"
    assert recorded_by("memory.max_abs") == "verify"
    assert recorded_by("artifact.bytes") == "verify"


def test_the_worst_of_a_plug_ins_figure_is_as_it_states() -> None:
    about = {"agreement": StatedMetric("points", "down")}
    outputs = [
        make_comparison(output=name, metrics={"agreement": value}, stated=about)
        for name, value in (("a", 90.0), ("b", 70.0))
    ]
    result = make_result(comparisons=tuple(outputs))
    assert metrics(result)["agreement"] == 70.0
    assert stated_by(result) == about
