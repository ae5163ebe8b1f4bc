"""Who is believed: the verdict by what the witnesses said, as golden texts."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from msgspec.structs import replace

from assay.core.finding import Finding
from assay.core.node_error import NodeError
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.reference import Reference, ReferenceKind, Witness
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.judge import judge
from assay.judge.witnesses import Doubt, agrees, agrees_at_node, doubt_of
from assay.testing.builders import make_comparison, make_job, make_result

F64 = Reference(ReferenceKind.ORACLE, "reference-f64", "1.23", "reference", "onnxruntime")
OWN = Reference(ReferenceKind.ORACLE, "onnxruntime-disable", "1.31", "onnxruntime", "onnxruntime")
GOLDEN = Reference(ReferenceKind.GOLDEN, "torch-eager", "2.9", "torch", "onnxruntime")
HIS_OWN = replace(GOLDEN, producer="onnxruntime", library="onnxruntime")
COMMAND = (
    "to decide it, give the answers of the framework that the model comes from, beside their inputs, as a golden: "
    "`assay check models/net.onnx --flow onnxruntime --golden ANSWERS.npz`"
)
SEEN = "; seen: output 'scores': budget used 9, allowed 1 (max_abs 9e-05); worst at [17, 0, 3]: expected 4.25, actual 4.25009"


def of(result: Result, policy: Policy = Policy()) -> Verdict:
    job = make_job(kind=result.kind)
    net = replace(job.case.model, source="models/net.onnx", outputs=())
    job = replace(job, case=replace(job.case, model=net))
    judgement = judge(
        [result],
        policy,
        planned=[result.job_key],
        today=datetime.date(2026, 11, 21),
        narrowed=True,
        jobs_by_key={result.job_key: job},
    )
    return judgement.verdicts[0]


def differing(reference: Reference, *witnesses: Witness, finding: str = "values", **changes: Any) -> Result:
    compared = make_comparison(budget_used=9.0 if finding == "values" else 0.5, findings=(Finding(finding, "scores"),))
    seen = {"comparisons": (compared,), "reference": reference, "witnesses": witnesses}
    return make_result(outcome=Outcome.MISMATCH, **seen, **changes)


def says(
    flow: str,
    reference: bool | None,
    engine: bool | None = None,
    *,
    library: str = "",
    node: str = "",
    detail: str = "",
    install: str = "",
) -> Witness:
    return Witness(flow, library or flow.partition("-")[0], "", reference, engine, node, detail, install)


@pytest.mark.parametrize(
    ("result", "word", "reason"),
    [
        (
            differing(F64, says("onnxruntime-disable", True)),
            VerdictStatus.FAIL,
            'fix the flow, or allow more in [model.tolerance."scores"] if that error is acceptable; reference-f64 and '
            "onnxruntime-disable agree",
        ),
        (
            differing(F64, says("onnxruntime-disable", False, True), says("openvino-f32", False, True, node="/pool")),
            VerdictStatus.INCONCLUSIVE,
            "the reference is disputed: onnxruntime and openvino-f32 agree, only reference-f64 differs; they part at node "
            f"'/pool'; {COMMAND}{SEEN}",
        ),
        (
            differing(F64, says("onnxruntime", False, True)),
            VerdictStatus.INCONCLUSIVE,
            f"the reference is disputed: onnxruntime and reference-f64 differ, and nobody else answers; {COMMAND}{SEEN}",
        ),
        (
            differing(F64, says("onnxruntime-disable", False, True, node="/pool")),
            VerdictStatus.INCONCLUSIVE,
            "the reference is disputed: onnxruntime and onnxruntime-disable agree, which are one library, and reference-f64 "
            f"differs; they part at node '/pool'; {COMMAND}{SEEN}",
        ),
        (
            differing(F64, says("openvino-f32", False, False)),
            VerdictStatus.INCONCLUSIVE,
            "the reference is disputed: onnxruntime, openvino-f32 and reference-f64 all differ from one another; "
            f"{COMMAND}{SEEN}",
        ),
        (
            differing(F64, says("openvino-f32", None, detail="openvino is not installed", install="pip install o")),
            VerdictStatus.INCONCLUSIVE,
            "differs from reference-f64, and nobody else vouches for it (openvino-f32: openvino is not installed); install another "
            f"engine (`pip install o`) and check again; or, {COMMAND}{SEEN}",
        ),
        (
            differing(OWN, says("onnxruntime", True)),
            VerdictStatus.INCONCLUSIVE,
            f"differs from onnxruntime-disable, and nobody else vouches for it; {COMMAND}{SEEN}",
        ),
        (
            differing(F64, says("openvino-f32", False, True, node="pool, in old"), kind="change", original="old"),
            VerdictStatus.INCONCLUSIVE,
            "the reference is disputed: openvino-f32 answers both models alike, and reference-f64 does not; they part at node "
            "'pool, in old'; to decide it, give the answers of the framework that the old model comes from, beside their inputs, "
            f"as a golden of the new file: `assay check models/net.onnx --golden ANSWERS.npz`{SEEN}",
        ),
        (
            differing(F64, says("openvino-f32", True, False), kind="change", original="old"),
            VerdictStatus.FAIL,
            "; reference-f64 and openvino-f32 agree",
        ),
        (differing(GOLDEN), VerdictStatus.FAIL, "is acceptable; against the golden (torch-eager)"),
        (differing(F64, finding="missing_output"), VerdictStatus.FAIL, "fix the flow; against reference-f64"),
        (
            make_result(reference=OWN, witnesses=(says("openvino-f32", True),)),
            VerdictStatus.PASS,
            "budget used 0.21 of 1 against onnxruntime-disable; onnxruntime-disable and openvino-f32 agree",
        ),
        (
            make_result(reference=OWN, witnesses=(says("openvino-f32", False),)),
            VerdictStatus.INCONCLUSIVE,
            "agrees with onnxruntime-disable, which is the same library (onnxruntime) and no witness of its own; openvino-f32 "
            f"answers otherwise; {COMMAND}",
        ),
        (
            make_result(reference=HIS_OWN),
            VerdictStatus.PASS,
            "budget used 0.21 of 1 against the golden (onnxruntime, the same library as the engine)",
        ),
    ],
)  # fmt: skip
def test_the_verdict_follows_from_who_agrees_with_whom(result: Result, word: VerdictStatus, reason: str) -> None:
    verdict = of(result)
    assert verdict.word is word
    assert verdict.reason.endswith(reason)


@pytest.mark.parametrize("kind", ["values", "shape", "nan", "infinity", "drift", "missing_reference"])
def test_an_oracle_may_be_wrong_in_values_and_shapes_and_not_in_names_and_types(kind: str) -> None:
    assert doubt_of(differing(F64, finding=kind)) is Doubt.REFERENCE
    assert doubt_of(differing(F64, finding="dtype")) is Doubt.NONE
    assert doubt_of(differing(GOLDEN, finding=kind)) is Doubt.NONE


def test_what_a_golden_says_nothing_of_is_answered_by_the_evaluator_alone() -> None:
    finding = Finding("values", "scores")
    sized = make_comparison(budget_used=9.0, findings=(finding,), at="batch=17")
    result = make_result(
        outcome=Outcome.MISMATCH, comparisons=(make_comparison(), sized), findings=(finding,), reference=GOLDEN
    )
    assert doubt_of(result) is Doubt.REFERENCE
    assert of(result).word is VerdictStatus.INCONCLUSIVE
    assert of(replace(result, witnesses=(says("openvino-f32", True),))).word is VerdictStatus.FAIL


def test_a_policy_that_wants_evidence_fails_what_has_none() -> None:
    assert of(make_result(reference=OWN), Policy(fail_on=("mistrusted",))).word is VerdictStatus.FAIL


def test_a_tighter_budget_than_the_recorded_one_needs_no_witness() -> None:
    assert of(make_result(reference=F64), Policy(budget_max=0.1)).word is VerdictStatus.FAIL


FAR = (make_comparison(budget_used=9.0, findings=(Finding("values", "scores"),)),)
COARSE = (Finding("precision", ""),)


@pytest.mark.parametrize(
    ("testimony", "right"),
    [
        (make_result(), True),
        (make_result(outcome=Outcome.OTHER_PRECISION), True),
        (make_result(comparisons=()), None),
        (make_result(outcome=Outcome.MISMATCH, comparisons=FAR), False),
        (make_result(outcome=Outcome.MISMATCH, findings=COARSE), None),
        (make_result(outcome=Outcome.MISTRUSTED), None),
        (make_result(outcome=Outcome.CRASH, comparisons=()), None),
    ],
)
def test_a_witness_speaks_of_the_answers_that_it_gave(testimony: Result, right: bool | None) -> None:
    assert agrees(testimony) is right


@pytest.mark.parametrize(
    ("used", "right"), [((2.0, 3.0), False), ((2.0, 0.1), True), ((2.0, None), None), ((2.0,), None)]
)
def test_a_witness_that_is_wrong_before_is_asked_of_the_blamed_node_itself(
    used: tuple[float | None, ...], right: bool | None
) -> None:
    def nodes(*budgets: float | None) -> tuple[NodeError, ...]:
        return tuple(NodeError(place, f"n{place}", "Elu", f"t{place}", budget) for place, budget in enumerate(budgets))

    blamed = make_result(kind="per_node", outcome=Outcome.MISMATCH, node="n1 (Elu)", node_errors=nodes(0.2, 5.0))
    witness = make_result(kind="per_node", outcome=Outcome.MISMATCH, node="n0 (Elu)", node_errors=nodes(*used))
    assert agrees_at_node(witness, blamed) is right


def test_two_that_answer_otherwise_than_the_oracle_were_not_compared_with_one_another() -> None:
    reason = of(differing(F64, says("openvino-f32", False))).reason
    assert reason.startswith(
        "the reference is disputed: openvino-f32 answers otherwise than reference-f64, too; to decide it, "
    )


def test_no_flow_is_said_to_answer_otherwise_as_well_as_itself() -> None:
    itself, other = says("onnxruntime", False), says("openvino-f32", False)
    assert of(differing(F64, itself, other)).reason.startswith(
        "the reference is disputed: openvino-f32 answers otherwise than reference-f64, too; to decide it, "
    )
    refused = replace(says("torch-eager", None), detail="unsupported, no Loop")
    assert of(differing(F64, itself, refused)).reason.startswith(
        "the reference is disputed: onnxruntime and reference-f64 differ, and nobody else answers (torch-eager: unsupported, no Loop); "
    )
