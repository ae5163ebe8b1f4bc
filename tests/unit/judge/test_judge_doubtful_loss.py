"""A loss against a float model blames nobody while one oracle alone says what that model answers."""

from __future__ import annotations

import datetime

import pytest
from msgspec.structs import replace

from assay.core.engine_info import AppliedTransform, EngineInfo
from assay.core.outcome import Cause, Outcome
from assay.core.policy import Goal, Policy
from assay.core.reference import Reference, ReferenceKind, Witness
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.judge import judge
from assay.judge.doubtful_loss import witness_needed
from assay.judge.goal_rules import limits_loss
from assay.testing.builders import make_comparison, make_result

F64 = Reference(ReferenceKind.ORACLE, "reference-f64", "", "reference", "onnxruntime")
ITSELF = Reference(ReferenceKind.ORACLE, "onnxruntime-disable", "", "onnxruntime", "onnxruntime", own_inputs=True)
GOLDEN = Reference(ReferenceKind.GOLDEN, "torch-eager", "", "torch", "onnxruntime")
LIMIT = Goal("vs_float.sqnr_db", min=30.0, option="--require")
AGREES = Witness("onnxruntime-disable", "onnxruntime", agrees_with_reference=True)
DIFFERS = replace(AGREES, agrees_with_reference=False, node="/pool")
SILENT = replace(AGREES, agrees_with_reference=None, detail="it is not installed")
SEEN = "seen: vs_float.sqnr_db is 20 dB, allowed is at least 30 dB; bring it up, or change the limit in --require"
DECIDES = (
    "to decide it, give the answers of the framework that the float model comes from, beside their inputs: "
    "`assay check MODEL.onnx --flow onnxruntime --golden ANSWERS.npz --require 'vs_float.sqnr_db >= 30'`"
)


def lost(measured_by: Reference = F64, *witnesses: Witness, sqnr_db: float = 20.0, **changes: object) -> Result:
    far = make_comparison()
    far = replace(far, metrics={**far.metrics, "sqnr_db": sqnr_db})
    return make_result(against_float=(far,), float_reference=measured_by, float_witnesses=witnesses, **changes)


def of(result: Result, *goals: Goal) -> Verdict:
    day = datetime.date(2026, 11, 25)
    return judge([result], Policy(goals=goals), planned=[result.job_key], today=day, narrowed=True).verdicts[0]


@pytest.mark.parametrize(
    ("result", "word", "reason"),
    [
        (
            lost(F64, AGREES),
            VerdictStatus.FAIL,
            f"{SEEN[6:]}; reference-f64 and onnxruntime-disable agree on the float model",
        ),
        (
            lost(F64, DIFFERS),
            VerdictStatus.INCONCLUSIVE,
            "the loss is measured by answers that are disputed: onnxruntime-disable and reference-f64 differ on the float model; they "
            f"part at node '/pool'; {DECIDES}; {SEEN}",
        ),
        (
            lost(F64, SILENT),
            VerdictStatus.INCONCLUSIVE,
            "the loss is measured by reference-f64, and nobody else vouches for its answers (onnxruntime-disable: it is not "
            f"installed); {DECIDES}; {SEEN}",
        ),
        (
            lost(F64, DIFFERS, replace(AGREES, flow="openvino-f32", library="openvino")),
            VerdictStatus.FAIL,
            "on the float model",
        ),
        (lost(F64, replace(AGREES, library="reference")), VerdictStatus.INCONCLUSIVE, SEEN),
        (lost(GOLDEN), VerdictStatus.FAIL, SEEN[6:]),
        (lost(F64, sqnr_db=40.0), VerdictStatus.PASS, "1 goal met"),
    ],
)
def test_a_loss_beyond_a_goal_is_as_good_as_its_float_reference(
    result: Result, word: VerdictStatus, reason: str
) -> None:
    verdict = of(result, LIMIT)
    assert verdict.word is word
    assert verdict.reason.endswith(reason)


@pytest.mark.parametrize(("metric", "word"), [("task.top1_agreement", "inconclusive"), ("task.top1_accuracy", "fail")])
def test_agreement_with_the_float_model_is_a_loss_and_accuracy_on_labels_is_none(metric: str, word: str) -> None:
    result = lost(F64, DIFFERS, task_metrics={metric.removeprefix("task."): 0.5})
    assert of(result, Goal(metric, min=0.9)).word.value == word


def test_a_figure_that_was_not_recorded_is_nobodys_dispute() -> None:
    assert of(lost(F64, DIFFERS), Goal("vs_float.snqr_db", min=30.0)).word is VerdictStatus.FAIL


def test_a_stated_limit_decides_nothing_where_an_engine_is_measured_by_its_own_library() -> None:
    facts = EngineInfo(transforms=(AppliedTransform("int8-dynamic"),))
    open_ = {"outcome": Outcome.MISTRUSTED, "cause": Cause.NO_REFERENCE, "comparisons": (), "facts": facts}
    own = replace(F64, own_inputs=True)
    loose = Goal("vs_float.sqnr_db", min=10.0)
    assert of(lost(own, reference=own, **open_), loose).word is VerdictStatus.PASS
    assert of(lost(ITSELF, reference=own, **open_), loose).word is VerdictStatus.INCONCLUSIVE
    other = replace(AGREES, flow="openvino-f32", library="openvino")
    assert of(lost(ITSELF, other, reference=own, **open_), loose).word is VerdictStatus.PASS


@pytest.mark.parametrize(
    ("result", "goals", "needed"),
    [
        (lost(), [LIMIT], True),
        (lost(), [], False),
        (lost(sqnr_db=40.0), [LIMIT], False),
        (lost(sqnr_db=40.0), [Goal("vs_float.sqnr_db", max_degradation=1.0)], True),
        (lost(), [replace(LIMIT, flow="openvino-*")], False),
        (lost(GOLDEN), [LIMIT], False),
        (lost(F64, AGREES), [LIMIT], False),
        (lost(ITSELF, sqnr_db=40.0), [LIMIT], True),
        (lost(outcome=Outcome.MISMATCH), [LIMIT], False),
        (make_result(), [LIMIT], False),
        (lost(reference=F64, kind="change"), [], True),
        (lost(F64, AGREES, reference=F64, kind="change"), [], False),
        (lost(reference=GOLDEN, kind="change"), [], False),
    ],
)
def test_nobody_is_asked_where_nothing_rests_on_it(result: Result, goals: list[Goal], needed: bool) -> None:
    assert witness_needed(result, goals) is needed


GIVEN = Reference(ReferenceKind.GIVEN, "given")


def changed(*witnesses: Witness, **changes: object) -> Result:
    return replace(
        lost(GIVEN, *witnesses, reference=F64, kind="change"),
        job_key="new|model-change|change",
        original="old",
        **changes,
    )


@pytest.mark.parametrize(
    ("witnesses", "reason"),
    [
        ((DIFFERS,), "the given answers are not those of 'old': onnxruntime-disable answers that file otherwise; "),
        (
            (SILENT,),
            "nobody else says that the given answers are those of 'old' (onnxruntime-disable: it is not installed); ",
        ),
    ],
)
def test_answers_given_for_the_old_file_count_where_another_engine_gives_them_to_it(
    witnesses: tuple[Witness, ...], reason: str
) -> None:
    out = (
        "to decide it, leave them out, so that both files are evaluated on these inputs: "
        "`assay check NEW.onnx --reference OLD.onnx --inputs ANSWERS.npz`"
    )
    verdict = of(changed(*witnesses))
    assert (verdict.word, verdict.reason) == (VerdictStatus.INCONCLUSIVE, reason + out)
    assert of(changed(AGREES)).word is VerdictStatus.PASS
    assert witness_needed(changed(), [])
    assert not witness_needed(changed(AGREES), [])


def test_no_stated_limit_decides_a_change_by_answers_that_may_be_those_of_the_new_file() -> None:
    own = replace(F64, own_inputs=True)
    loose = Goal("vs_float.sqnr_db", min=10.0)
    assert of(changed(DIFFERS, comparisons=(), reference=own), loose).word is VerdictStatus.INCONCLUSIVE
    assert of(changed(AGREES, comparisons=(), reference=own), loose).word is VerdictStatus.PASS


def test_two_files_that_an_oracle_answers_alike_are_one_model_unless_another_engine_answers_one_otherwise() -> None:
    def same(*witnesses: Witness) -> Verdict:
        result = lost(F64, *witnesses, reference=F64, kind="change")
        return of(replace(result, job_key="new|model-change|change", original="old"))

    loose = Goal("vs_float.sqnr_db", min=10.0)
    own = replace(F64, own_inputs=True)
    blind = replace(lost(F64, DIFFERS, reference=own, kind="change"), job_key="new|model-change|change")
    assert of(blind, loose).word is VerdictStatus.INCONCLUSIVE
    assert same().word is VerdictStatus.PASS
    assert same(SILENT).word is VerdictStatus.PASS
    assert same(DIFFERS, replace(AGREES, library="openvino")).word is VerdictStatus.PASS
    disputed = same(DIFFERS)
    assert disputed.word is VerdictStatus.INCONCLUSIVE
    assert disputed.reason.startswith(
        "the reference is disputed: onnxruntime-disable and reference-f64, which answers both files alike, differ on one of them; they "
        "part at node '/pool'; to decide it, "
    )


def test_a_loss_larger_than_the_answers_is_said_where_no_limit_was_set() -> None:
    verdict = of(lost(F64, AGREES, sqnr_db=-19.5))
    assert verdict.word is VerdictStatus.PASS
    assert verdict.reason.endswith(
        "-19.5 dB from the float model, off by more than the answers themselves on these inputs: "
        "--require 'vs_float.rel_l2 <= 0.05' makes that a failure"
    )
    assert of(lost(F64, AGREES, sqnr_db=5.54)).reason.endswith(
        "5.54 dB from the float model, off by 53 % of the answers on these inputs: "
        "--require 'vs_float.rel_l2 <= 0.05' makes that a failure"
    )
    assert of(lost(F64, AGREES, sqnr_db=10.0)).reason.endswith("10 dB from the float model")


@pytest.mark.parametrize(
    ("goal", "limits"),
    [
        (Goal("vs_float.sqnr_db", min=5.0), True),
        (Goal("vs_float.sqnr_db", max_degradation=1.0), False),
        (Goal("vs_float.rel_l2", percent_max_degradation=5.0), False),
        (Goal("sqnr_db", min=5.0), False),
        (Goal("vs_float.sqnr_db", min=5.0, flow="other"), False),
    ],
)
def test_what_limits_the_loss_is_absolute_and_about_the_float_model(goal: Goal, *, limits: bool) -> None:
    assert limits_loss(goal, "case", "flow") is limits
