"""Expectations, counts and what a run adds up to."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_results import expecting, judged, over, words

from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Goal, Policy
from assay.core.verdict import VerdictStatus
from assay.testing.builders import make_comparison, make_job, make_model, make_result

KEY = "digits-classifier|onnxruntime|verify"


def test_minimum_cases_are_of_each_flow_and_of_what_was_executed() -> None:
    results = (make_result("a"), make_result("b"), make_result("a", "openvino-f32"))
    judgement = judged(*results, policy=Policy(minimum_cases={"*": 2}))
    assert words(judgement) == [VerdictStatus.PASS] * 3 + [VerdictStatus.FAIL]
    assert "flow 'openvino-f32' executed 1 of at least 2 cases" in judgement.run.reason
    skipped = make_result("c", outcome=Outcome.UNAVAILABLE, comparisons=())
    assert judged(*results[:2], skipped, policy=Policy(minimum_cases={"*": 3})).exit_code == 1
    assert judged(*results[:2], policy=Policy(minimum_cases={"*": 2})).exit_code == 0


def test_verify_and_measure_are_one_case() -> None:
    both = (make_result("a"), make_result("a", kind="measure"))
    assert judged(*both, policy=Policy(minimum_cases={"*": 2})).exit_code == 1


def test_a_flow_that_vanished_fails() -> None:
    judgement = judged(make_result(), policy=Policy(minimum_cases={"openvino-*": 1}))
    assert judgement.exit_code == 1
    assert "no flow matches 'openvino-*'" in judgement.run.reason


def test_a_narrowed_run_is_not_held_to_counts_and_unused_rules() -> None:
    policy = Policy((Goal("seconds", max=9.0, case="x"),), expecting(case="x").expectations, {"*": 7})
    assert judged(make_result(), policy=policy, narrowed=True).exit_code == 0
    assert judged(make_result(), policy=policy).exit_code == 1
    assert judged(over(), policy=policy, narrowed=True).exit_code == 1


def test_a_job_alone_owes_no_figures_that_others_record_and_keeps_its_own() -> None:
    policy = Policy((Goal("speed.slowdown_percent", max=9.0), Goal("budget_used", max=1.0)))
    assert judged(make_result(), policy=policy, narrowed=True, alone=True).exit_code == 0
    assert judged(make_result(), policy=policy, narrowed=True).exit_code == 1
    assert judged(over(), policy=policy, narrowed=True, alone=True).exit_code == 1
    missing = Policy((Goal("budget_usd", max=1.0),))
    assert judged(make_result(), policy=missing, narrowed=True, alone=True).exit_code == 1


def test_a_planned_job_without_a_result_is_an_error() -> None:
    judgement = judged(make_result(), planned=[KEY, "lost|onnxruntime|verify"])
    assert words(judgement) == [VerdictStatus.PASS, VerdictStatus.ERROR]
    assert judgement.exit_code == 4
    assert "lost|onnxruntime|verify: lost: no result was recorded" in judgement.run.reason


@pytest.mark.parametrize(
    ("outcomes", "code", "start"),
    [
        ([], 5, "NOTHING EXECUTED: no job was planned"),
        (["unavailable"], 5, "NOTHING EXECUTED: the only job was skipped (1 unavailable); the first: "),
        (["unavailable", "unavailable"], 5, "NOTHING EXECUTED: all 2 jobs were skipped (2 unavailable); the first: "),
        (
            ["lowered", "unsupported"],
            5,
            "NOTHING EXECUTED: all 2 jobs were skipped (1 lowered, 1 unsupported); the first: ",
        ),
        (["ok", "unavailable"], 0, "PASS: 1 of 2 jobs passed, 1 skipped (1 unavailable)"),
        (["unsupported", "ok", "undelegated"], 0, "PASS: 1 of 3 jobs passed, 2 skipped (1 unsupported, 1 undelegated)"),
        (["error", "crash", "mismatch", "timeout"], 1, "FAIL: 4 of 4 jobs failed; the first: c2|"),
        (["error", "timeout", "crash"], 1, "FAIL: 3 of 3 jobs failed; the first: c2|"),
        (["ok", "mistrusted"], 3, "INCONCLUSIVE: 1 of 2 jobs proves nothing"),
        (["ok", "infrastructure", "mistrusted"], 4, "ERROR: 1 of 3 jobs could not be judged"),
        (["infrastructure"], 4, "ERROR: 1 of 1 job could not be judged"),
        (
            ["ok", "crash", "infrastructure", "mistrusted"],
            1,
            "FAIL: 1 of 4 jobs failed; the first: c1|onnxruntime|verify",
        ),
    ],
)
def test_what_a_run_adds_up_to(outcomes: list[str], code: int, start: str) -> None:
    results = [make_result(f"c{index}", outcome=Outcome(outcome)) for index, outcome in enumerate(outcomes)]
    judgement = judged(*results)
    assert judgement.exit_code == code
    assert judgement.run.reason.startswith(start)
    assert (judgement.run.word is VerdictStatus.PASS) == (code == 0)


def test_nothing_executed_comes_before_a_broken_rule() -> None:
    assert judged(policy=Policy(minimum_cases={"*": 1})).exit_code == 5


def test_a_result_that_nobody_planned_is_judged_too() -> None:
    assert words(judged(make_result(outcome=Outcome.CRASH), planned=[])) == [VerdictStatus.FAIL]


@settings(deadline=None)
@given(st.lists(st.sampled_from(list(Outcome)), max_size=6), st.randoms())
def test_the_order_of_the_results_changes_nothing(outcomes: list[Outcome], dice: random.Random) -> None:
    results = [make_result(f"c{index}", outcome=outcome) for index, outcome in enumerate(outcomes)]
    keys = [result.job_key for result in results]
    shuffled = dice.sample(results, len(results))
    policy = expecting("crash")
    assert judged(*results, policy=policy, planned=keys) == judged(*shuffled, policy=policy, planned=keys)


@settings(deadline=None)
@given(st.lists(st.sampled_from(list(Outcome)), min_size=1, max_size=6))
def test_one_bad_job_is_never_a_pass(outcomes: list[Outcome]) -> None:
    judgement = judged(*(make_result(f"c{index}", outcome=outcome) for index, outcome in enumerate(outcomes)))
    assert len(judgement.verdicts) == len(outcomes)
    harmless = {Outcome.OK, Outcome.UNAVAILABLE, Outcome.LOWERED, Outcome.UNSUPPORTED, Outcome.UNDELEGATED}
    assert (judgement.exit_code == 0) == (set(outcomes) <= harmless and Outcome.OK in outcomes)


def test_of_several_mismatches_the_one_that_is_furthest_off_is_named() -> None:
    results = [
        make_result(name, outcome=Outcome.MISMATCH, comparisons=(make_comparison(budget_used=used),))
        for name, used in (("near", 5.0), ("far", 900.0), ("nearer", 2.0))
    ]
    assert "; the first: far|" in judged(*results).run.reason


@pytest.mark.parametrize(
    ("stage", "cause", "word"),
    [
        (Stage.LOWER, Cause.REFUSED, VerdictStatus.SKIP),
        (Stage.TRANSFORM, Cause.OPERATOR_UNSUPPORTED, VerdictStatus.SKIP),
        (Stage.LOWER, Cause.INVALID_MODEL, VerdictStatus.FAIL),
        (Stage.LOWER, Cause.WRONG_USAGE, VerdictStatus.FAIL),
        (Stage.RUN, Cause.REFUSED, VerdictStatus.FAIL),
    ],
)
def test_what_a_loader_refuses_is_unsupported_in_whatever_words(
    stage: Stage, cause: Cause, word: VerdictStatus
) -> None:
    refused = make_result(
        outcome=Outcome.ERROR, stage=stage, cause=cause, detail="no Conv", node="/conv", comparisons=()
    )
    (verdict,) = judged(refused).verdicts
    assert verdict.word is word
    if word is VerdictStatus.SKIP:
        assert verdict.reason.startswith(f"unsupported in {stage.value} at node '/conv': no Conv; rewrite that part")
        assert words(judged(refused, policy=Policy(fail_on=("unsupported",)))) == [VerdictStatus.FAIL]
        assert words(judged(refused, policy=expecting("error"))) == [VerdictStatus.XFAIL]


def test_a_file_that_two_engines_find_invalid_is_not_valid_for_both() -> None:
    """Also where their loaders say it of different nodes; an engine alone may be wrong."""
    said = {"outcome": Outcome.ERROR, "stage": Stage.LOWER, "cause": Cause.INVALID_MODEL, "comparisons": ()}
    mine = make_result("m", flow="onnxruntime", detail="Type float16 of node (cast) is not float", node="cast", **said)
    other = make_result("m", flow="openvino", detail="MatMul: f32 and f16.", node="/dense", **said)
    assert [verdict.reason for verdict in judged(mine, other).verdicts] == [
        "the model is not valid for engines onnxruntime and openvino: Type float16 of node (cast) is not float; export or convert it "
        "again; `onnx.checker.check_model(FILE, full_check=True)` says what else contradicts",
        "the model is not valid for engines onnxruntime and openvino at node '/dense': MatMul: f32 and f16; export or convert it "
        "again; `onnx.checker.check_model(FILE, full_check=True)` says what else contradicts",
    ]
    (alone,) = judged(mine).verdicts
    assert alone.reason == (
        "error in lower: Type float16 of node (cast) is not float; export or convert it again, or ask another engine; "
        "`onnx.checker.check_model(FILE, full_check=True)` says what else contradicts"
    )
    elsewhere = msgspec.structs.replace(other, case="n", job_key="n|openvino|verify")
    assert not any("not valid for engines" in verdict.reason for verdict in judged(mine, elsewhere).verdicts)


def test_what_the_exporter_of_torch_wrote_is_no_file_of_the_user() -> None:
    """There is no ONNX file that he could export again or check: he named a program."""
    said = {"outcome": Outcome.ERROR, "stage": Stage.LOWER, "cause": Cause.INVALID_MODEL, "comparisons": ()}
    results = [make_result("m", flow=flow, detail="Squeeze of 64", **said) for flow in ("onnxruntime", "openvino")]
    jobs = {result.job_key: make_job("m", result.flow) for result in results}
    programs = {
        key: msgspec.structs.replace(job, case=msgspec.structs.replace(job.case, model=make_model("m", format="torch")))
        for key, job in jobs.items()
    }
    for asked, step in ((jobs, "check_model(FILE"), (programs, "torch.onnx.export wrote the file")):
        for engines in (results, results[:1]):
            for verdict in judged(*engines, jobs_by_key=asked).verdicts:
                assert step in verdict.reason
                assert ("export or convert it again" in verdict.reason) == (asked is jobs)


def test_what_two_jobs_of_one_engine_complain_of_is_said_once() -> None:
    policy = Policy(goals=(Goal("artifact.bytes", max=1.0),))
    first, second = (make_result(kind=kind) for kind in ("verify", "measure"))
    judgement = judged(second, first, policy=policy)
    assert {verdict.job_key: verdict.word for verdict in judgement.verdicts} == {
        first.job_key: VerdictStatus.FAIL,
        second.job_key: VerdictStatus.PASS,
    }


def test_where_only_broken_models_fail_the_input_is_bad() -> None:
    broken = make_result("digits-broken", outcome=Outcome.ERROR, cause=Cause.NOT_MADE, stage=Stage.START)
    assert judged(broken).exit_code == 2
    assert judged(make_result(), broken).exit_code == 2
    assert judged(over(), broken).exit_code == 1
    assert judged(broken, policy=Policy(minimum_cases={"*": 3})).exit_code == 1
