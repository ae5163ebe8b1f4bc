"""What changed between the results of two runs, and which fusions are lost: by what engines executed."""

from __future__ import annotations

import datetime

import pytest
from msgspec.structs import replace

from assay.core.changes import CellChange, MetricDelta, RunChanges
from assay.core.engine_info import EngineInfo, Placement
from assay.core.native_warning import NativeWarning, WarningCode
from assay.core.policy import Goal, Policy
from assay.core.result import Result, VerifyResult
from assay.core.verdict import Verdict, VerdictStatus
from assay.judge.changes import baseline_metrics, cell_changes
from assay.judge.lost_fusions import describe_lost_fusion, lost_fusion
from assay.judge.verdicts import judge
from assay.reports.changes import cells
from assay.reports.html_changes import page_changes
from assay.testing.builders import make_measurement, make_result

FUSED = (("FusedConv", "fused", 3), ("MatMul", "compute", 1), ("ReorderInput", "reformat", 1))
APART = (("Conv", "compute", 3), ("Relu", "compute", 3), ("MatMul", "compute", 1))


def _facts(rows: tuple[tuple[str, str, int], ...], nodes: int = 0) -> EngineInfo:
    placements = tuple(Placement(kind, "CPU", "float32", count, role) for kind, role, count in rows)
    return EngineInfo(placements=placements, nodes=nodes)


def _result(rows: tuple[tuple[str, str, int], ...], *warnings: str) -> VerifyResult:
    native = tuple(NativeWarning(WarningCode.INITIALIZER_DROPPED, node, "dropped") for node in warnings)
    made = make_result("m", "f")
    assert isinstance(made, VerifyResult)
    return replace(made, facts=_facts(rows), native_warnings=native, reads_warnings=True)


def test_kernels_that_fall_apart_are_lost_fusions_with_what_became_of_them() -> None:
    lost = lost_fusion(_facts(FUSED), _facts(APART))
    assert lost is not None
    assert lost.count == 3
    assert describe_lost_fusion(lost) == "fusion lost for 3 nodes: 3 FusedConv became 3 Conv, 3 Relu"


def test_fused_kernels_that_keep_the_name_of_their_first_operator() -> None:
    """As ONNX Runtime's profile names them."""
    before = (("Conv", "fused", 2), ("Conv", "compute", 1))
    lost = lost_fusion(_facts(before), _facts((("Conv", "fused", 1), ("Conv", "compute", 2), ("Relu", "compute", 1))))
    assert lost is not None
    assert describe_lost_fusion(lost) == "fusion lost for 1 node: 1 fused Conv became 1 Conv, 1 Relu"


def test_names_are_not_guessed_where_some_kernels_are_renamed_and_others_fall_apart() -> None:
    after = (("ConvActivation", "fused", 3), ("Conv", "compute", 2), ("Relu", "compute", 2))
    lost = lost_fusion(_facts((("FusedConv", "fused", 5),)), _facts(after))
    assert lost is not None
    assert describe_lost_fusion(lost) == "fusion lost for 2 nodes: 2 fused kernels became 2 Conv, 2 Relu"


def test_fewer_fused_kernels_that_hold_as_many_nodes_of_a_larger_model_are_no_loss() -> None:
    before, after = (("FusedConv", "fused", 5),), (("FusedConv", "fused", 4), ("Softmax", "compute", 3))
    assert lost_fusion(_facts(before, 10), _facts(after, 13)) is None
    assert lost_fusion(_facts(before, 10), _facts(after, 12)) is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (APART, FUSED),
        (FUSED, FUSED),
        (FUSED, (("FusedConvAdd", "fused", 2), ("MatMul", "compute", 1))),
        (FUSED, (("FusedConv", "fused", 3), ("MatMul", "compute", 1), ("Transpose", "reformat", 9))),
        (FUSED, ()),
        ((("FusedConv", "fused", 5),), (("ConvActivation", "fused", 5), ("Softmax", "compute", 1))),
        ((("Conv", "fused", 2), ("Conv", "compute", 1)), (("Conv", "fused", 1), ("ConvActivation", "fused", 3))),
    ],
)
def test_more_fusion_more_copies_or_silence_are_no_loss(
    before: tuple[tuple[str, str, int], ...], after: tuple[tuple[str, str, int], ...]
) -> None:
    assert lost_fusion(_facts(before), _facts(after)) is None


def test_without_marks_of_fusion_an_operator_that_never_ran_counts_where_the_model_is_as_large() -> None:
    before, after = (("Conv", "", 3),), (("Conv", "", 3), ("BatchNormalization", "", 3))
    lost = lost_fusion(_facts(before, 6), _facts(after, 6))
    assert lost is not None
    assert describe_lost_fusion(lost) == "fusion lost for 3 nodes: 3 BatchNormalization not fused any more"
    assert lost_fusion(_facts(before, 6), _facts(after, 9)) is None, "a larger model has more operators"


def test_new_and_gone_warnings_and_verdicts_of_both_runs() -> None:
    old, new = _result(FUSED, "a", "b"), _result(APART, "b", "c")
    said = [Verdict(VerdictStatus.FAIL, "slower", new.job_key)]
    (cell,) = cell_changes([old], [new], old_words={old.job_key: "pass"}, verdicts=said)
    assert [warning.node for warning in cell.new_warnings] == ["c"]
    assert [warning.node for warning in cell.gone_warnings] == ["a"]
    assert cell.verdicts == ("pass", "fail")
    assert "fused kernels 3 -> 0" in cell.engine
    (shown,) = cells(RunChanges("run r", (cell,)))
    assert {line.label: (line.before, line.after) for line in shown.lines}["fused kernels"] == ("3", "0")
    assert baseline_metrics([old], [new]) == {"fusions.lost": 3.0, "warnings.new": 1.0}


def test_a_cell_of_one_run_alone_has_nothing_new() -> None:
    (cell,) = cell_changes([], [_result(FUSED, "a")])
    assert (cell.only, cell.new_warnings) == ("new", ())


@pytest.mark.parametrize(("metric", "code"), [("fusions.lost", 1), ("warnings.new", 1), ("warnings.fusion-skipped", 0)])
def test_a_goal_over_what_only_a_baseline_tells(metric: str, code: int) -> None:
    new = _result(APART, "new")
    judgement = judge(
        [new],
        Policy(goals=(Goal(metric, max=0),)),
        planned=[new.job_key],
        baseline=[_result(FUSED)],
        today=datetime.date(2026, 11, 26),
    )
    assert judgement.exit_code == code, judgement.run.reason


def test_without_a_baseline_the_goal_says_what_to_give() -> None:
    new = _result(APART)
    judgement = judge(
        [new], Policy(goals=(Goal("fusions.lost", max=0),)), planned=[new.job_key], today=datetime.date(2026, 11, 26)
    )
    assert "give --baseline or --compare-run RUN" in judgement.verdicts[0].reason


def test_times_of_different_batches_are_not_compared() -> None:
    def timed(*batches: int) -> list[Result]:
        return [make_result("m", "f", kind="measure", measurements=tuple(make_measurement(batch) for batch in batches))]

    def old_median(old: list[Result], new: list[Result]) -> float | None:
        (change,) = cell_changes(old, new)
        return next(delta.old for delta in change.deltas if delta.metric == "latency.median_ms")

    assert old_median(timed(8), timed(1, 8)) is None
    assert old_median(timed(1), timed(1, 8)) is not None
    (change,) = cell_changes(timed(8), timed(1, 8))
    assert change.batches == (8, 1)
    (cell,) = cells(RunChanges("run r", (change,)))
    assert "latency and throughput were of batch 8, and are of batch 1 now: not compared" in cell.notes
    assert next(line.change for line in cell.lines if line.label == "latency, p50") == "of another batch"


def test_a_cell_that_is_new_says_once_that_there_is_nothing_to_compare_with() -> None:
    (change,) = cell_changes([], [make_result("m", "f", kind="measure", measurements=(make_measurement(),))])
    (cell,) = cells(RunChanges("run r", (change,)))
    assert cell.notes == ("in this run alone: nothing to compare with",)
    assert {line.change for line in cell.lines if line.after} == {""}
    deltas = (MetricDelta("task.top1", None, 0.0), MetricDelta("task.top5", None, 0.5), MetricDelta("casts", None, 0.0))
    (cell,) = cells(RunChanges("run r", (replace(change, deltas=deltas),)))
    assert [line.label for line in cell.lines] == ["task.top1", "task.top5"], (
        "nothing of it is right, and that is shown"
    )
    page = page_changes(RunChanges("run r", (change,)))
    assert page is not None
    assert page["cells"][0]["header"] == ["metric", "after", "change"]  # type: ignore[index]


def test_pruned_weights_are_shown_and_a_divergence_of_nothing_is_not_worse() -> None:
    deltas = (
        MetricDelta("sparsity.zero_share", 0.0, 0.5),
        MetricDelta("task.kl_divergence", 2e-14, 2e-13),
        MetricDelta("task.top1_accuracy", 0.99, 0.97),
    )
    (cell,) = cells(RunChanges("run r", (CellChange("m", "f", deltas=deltas),)))
    assert {line.label: line.worse for line in cell.lines} == {
        "sparsity.zero_share": -1,
        "task.kl_divergence": 0,
        "task.top1_accuracy": 1,
    }
