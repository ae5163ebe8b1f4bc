"""Inconclusive is no dead end: what each way of proving nothing says would decide it, as golden texts."""

from __future__ import annotations

import datetime

import pytest
from msgspec.structs import replace

from assay.core.case import Inputs
from assay.core.engine_info import AppliedTransform, EngineInfo
from assay.core.finding import Finding, FindingCode, facts
from assay.core.job_base import Job
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Goal, Policy
from assay.core.reference import Reference, ReferenceKind
from assay.core.result import Result
from assay.core.result_parts import ComparedResult
from assay.core.verdict import VerdictStatus
from assay.judge import judge
from assay.testing.builders import make_comparison, make_job, make_result

DRAWN = Reference(ReferenceKind.ORACLE, "reference-f64", "", "reference", "onnxruntime")
POOR_REFERENCE = Finding("degenerate", "scores", FindingCode.REFERENCE_CONSTANT, facts(value=0.1, elements=640))
OWN = Reference(ReferenceKind.GOLDEN, "torch-eager", "", "torch", "onnxruntime", own_inputs=True)
NO_NUMBER = Finding("degenerate", "scores", FindingCode.REFERENCE_NOT_FINITE, facts(elements=640))
PUBLISHED = Reference(ReferenceKind.DEFINITION, "onnx", "", "", "onnxruntime", own_inputs=True)
POOR = (make_comparison(degenerate=POOR_REFERENCE),)
CHECK = "assay check models/net.onnx --flow onnxruntime"
CLASSES = (
    "; or by what the outputs mean, if they are scores of classes (or detection, "
    "embedding, language, pose, ranking, regression, segmentation, transcription)"
    "{labels}: `" + CHECK + " {inputs} --task-metric classification:output=scores --require 'task.top1_{goal}'`"
)
LABELLED = CLASSES.format(
    labels=", with the right classes as 'label' beside the inputs",
    inputs="--inputs LABELLED.npz",
    goal="accuracy >= 0.9",
)
ON_THESE = (
    f"to decide it on these inputs, state what is close enough: `{CHECK} --golden golden/net --seed 0 --require 'rel_l2 <= 0.05'`"
    + CLASSES.format(labels="", inputs="--golden golden/net --seed 0", goal="agreement >= 0.99")
)
ANSWERS = (
    "to decide it, give the answers of the framework that the model comes from, beside their inputs, as a golden: "
    f"`{CHECK} --golden ANSWERS.npz`{LABELLED}"
)


def asked(result: Result) -> Job:
    job = make_job(kind=result.kind, flow=result.flow)
    own = isinstance(result, ComparedResult) and result.reference.own_inputs
    inputs = Inputs(golden="golden/net") if own else Inputs()
    return replace(job, case=replace(job.case, model=replace(job.case.model, source="models/net.onnx"), inputs=inputs))


def mistrusted(cause: Cause = Cause.NONE, **changes: object) -> Result:
    return make_result(**{"outcome": Outcome.MISTRUSTED, "cause": cause, "detail": "it is poor", **changes})


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (
            mistrusted(comparisons=POOR, reference=DRAWN),
            f"mistrusted in compare: it is poor; to decide it, give inputs of your own: `{CHECK} --inputs FILE.npz`; or other random "
            f"ones: `{CHECK} --seed 1 --samples 16`",
        ),
        (
            mistrusted(comparisons=POOR, reference=OWN),
            f"mistrusted in compare: it is poor; {ON_THESE}",
        ),
        (
            mistrusted(comparisons=(make_comparison(degenerate=NO_NUMBER),), reference=OWN),
            "mistrusted in compare: it is poor; to decide it, give inputs on which the model answers with numbers: "
            f"`{CHECK} --inputs FILE.npz`",
        ),
        (
            mistrusted(comparisons=POOR, reference=PUBLISHED),
            "mistrusted in compare: it is poor; these published answers can show no more: give inputs of your own to the "
            "same operator",
        ),
        (
            mistrusted(Cause.NO_REFERENCE, comparisons=(), stage=Stage.RUN, detail="no reference outputs for 'net' (...)"),
            f"mistrusted in run: no reference outputs for 'net' (...); {ANSWERS}",
        ),
        (
            mistrusted(Cause.NO_REFERENCE, facts=EngineInfo(transforms=(AppliedTransform("int8-qdq"),))),
            "mistrusted in compare: it is poor; to decide it, state what the transform may cost against the float model, on inputs "
            f"of your own: `{CHECK} --inputs FILE.npz --require 'vs_float.rel_l2 <= 0.05'`",
        ),
        (
            make_result(comparisons=POOR, reference=OWN),
            f"mistrusted: output 'scores': the reference is constant (0.1) in all 640 elements; it proves nothing; {ON_THESE}",
        ),
        (
            make_result(comparisons=(), reference=DRAWN),
            f"nothing was compared: the model has no output that the reference has; {ANSWERS}",
        ),
        (
            make_result(kind="measure", measurements=()),
            "nothing was measured: no sample was taken; to decide it, measure for longer: "
            f"`{CHECK} --only-kind measure --measure-seconds 5`",
        ),
    ],
)  # fmt: skip
def test_what_proves_nothing_says_what_would_decide_it(result: Result, reason: str) -> None:
    judgement = judge(
        [result], planned=[result.job_key], today=datetime.date(2026, 11, 21), narrowed=True, policy=Policy(),
        jobs_by_key={result.job_key: asked(result)},
    )  # fmt: skip
    (verdict,) = judgement.verdicts
    assert verdict.word is VerdictStatus.INCONCLUSIVE
    assert verdict.reason == reason
    assert judgement.exit_code == 3


def test_a_flow_that_only_a_configuration_explains_is_asked_with_it() -> None:
    result = mistrusted(comparisons=POOR, reference=DRAWN)
    judgement = judge(
        [result], planned=[result.job_key], today=datetime.date(2026, 11, 21), narrowed=True, policy=Policy(),
        jobs_by_key={result.job_key: asked(result)}, config="own/assay.toml",
    )  # fmt: skip
    assert (
        "assay check models/net.onnx --config own/assay.toml --flow onnxruntime --inputs FILE.npz"
        in judgement.verdicts[0].reason
    )


def test_a_limit_of_an_error_is_not_missed_where_no_answer_is_a_number() -> None:
    nothing = replace(make_comparison(degenerate=NO_NUMBER), metrics={})
    result = mistrusted(comparisons=(nothing,), reference=OWN)
    policy = Policy(goals=(Goal("max_abs", max=0.001),))
    verdict = judge(
        [result], policy, planned=[result.job_key], today=datetime.date(2026, 11, 21), narrowed=True
    ).verdicts[0]
    assert verdict.word is VerdictStatus.INCONCLUSIVE
    assert verdict.reason.endswith("; max_abs has no value here, for the reference has no finite number")


@pytest.mark.parametrize(
    ("metric", "hint"),
    [
        ("max_abbs", "metric not recorded: max_abbs; "),
        ("latency.median_ms", "nothing was measured: set enabled = true in [measure]"),
        ("warnings.new", "it is known beside a baseline alone"),
    ],
)
def test_answers_without_numbers_excuse_no_other_metric(metric: str, hint: str) -> None:
    nothing = replace(make_comparison(degenerate=NO_NUMBER), metrics={})
    result = mistrusted(comparisons=(nothing,), reference=OWN)
    verdict = judge(
        [result], Policy(goals=(Goal(metric, max=0.001),)), planned=[result.job_key], today=datetime.date(2026, 11, 21),
        narrowed=True,
    ).verdicts[0]  # fmt: skip
    assert hint in verdict.reason


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (
            "com.acme:FancyNorm",
            "com.acme is no domain of ONNX: export the model without it, or choose a flow that has a kernel",
        ),
        (
            "com.acme.FancyNorm",
            "com.acme is no domain of ONNX: export the model without it, or choose a flow that has a kernel",
        ),
        ("com.acmeX:FancyNorm", "rewrite that part of the model, or choose another flow"),
        ("ai.onnx.ml:SVMRegressor", "rewrite that part of the model, or choose another flow"),
        ("conv1", "rewrite that part of the model, or choose another flow"),
    ],
)
def test_an_operator_of_somebodys_own_domain_is_no_lack_of_the_backend(node: str, sentence: str) -> None:
    result = make_result(outcome=Outcome.UNSUPPORTED, cause=Cause.OPERATOR_UNSUPPORTED, stage=Stage.LOWER, node=node)
    job = asked(result)
    model = replace(job.case.model, opsets={"": 17, "ai.onnx.ml": 3, "com.acme": 1})
    job = replace(job, case=replace(job.case, model=model))
    judgement = judge(
        [result], planned=[result.job_key], today=datetime.date(2026, 11, 21), narrowed=True, policy=Policy(),
        jobs_by_key={result.job_key: job},
    )  # fmt: skip
    assert sentence in judgement.verdicts[0].reason
