"""The standard run: three models, three flows, and one example of nearly every way a job can end."""

from __future__ import annotations

from typing import Any

from assay.core.engine_info import EngineInfo
from assay.core.finding import Finding, FindingCode, WorstElement, facts
from assay.core.native_warning import NativeWarning, WarningCode
from assay.core.note import NoteCode, noted
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Expectation, Goal, Policy
from assay.core.result import Result, StageTime
from assay.core.run import Run
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.testing.builders import make_comparison, make_job, make_result, make_run

CLASSIFIER, DETECTOR, SEGMENTER = "digits-classifier", "digits-detector", "digits-segmenter"
ORT, F32, BF16 = "onnxruntime", "openvino-f32", "openvino-bf16"

POLICY = Policy(
    goals=(Goal(metric="latency_p50_ms", max=5.0), Goal(metric="top1_agreement", min=0.99, case=CLASSIFIER)),
    expectations=(
        Expectation(
            case=DETECTOR,
            flow=F32,
            outcome="unsupported",
            reason="NonMaxSuppression with a dynamic count is not in the plug-in",
            issue="https://example.org/issues/41",
            expires="2027-06-30",
        ),
        Expectation(case=SEGMENTER, flow=BF16, outcome="mismatch", reason="ConvTranspose rounds in bfloat16"),
    ),
    minimum_cases={"*": 3},
)


def run() -> Run:
    """All ten jobs ended."""
    jobs = tuple(make_job(result.case, result.flow, result.kind) for result in results())
    return make_run(
        jobs=jobs,
        policy=POLICY,
        command="assay check digits/*.onnx --flow onnxruntime --flow openvino-f32 --flow openvino-bf16 --golden golden",
        status="complete",
    )


def results() -> tuple[Result, ...]:
    """Ten results in the order recorded."""
    return (*_that_passed(), *_that_disagreed(), *_that_ended_early())


def judgement() -> RunVerdict:
    """Four pass or xfail, four fail or xpass, one inconclusive, one skip: the run fails."""
    budget = "budget_used"
    late = "top1_agreement 0.984 is below 0.99; share_out_of_tolerance 0.03"
    verdicts = (
        Verdict(VerdictStatus.PASS, "budget used 0.21", f"{CLASSIFIER}|{ORT}|verify", budget, 0.21, 1.0),
        Verdict(VerdictStatus.PASS, "budget used 0.64", f"{DETECTOR}|{ORT}|verify", budget, 0.64, 1.0),
        Verdict(
            VerdictStatus.PASS,
            "latency_p50_ms 0.5 is at most 5",
            f"{CLASSIFIER}|{ORT}|measure",
            "latency_p50_ms",
            0.5,
            5.0,
        ),
        Verdict(
            VerdictStatus.XPASS,
            "expected mismatch (ConvTranspose rounds in bfloat16) but it is ok: remove the expectation",
            f"{SEGMENTER}|{BF16}|verify",
        ),
        Verdict(VerdictStatus.FAIL, f"scores: budget used 3.4; {late}", f"{CLASSIFIER}|{F32}|verify", budget, 3.4, 1.0),
        Verdict(
            VerdictStatus.INCONCLUSIVE,
            "mistrusted: output scores is constant (0.1): it proves nothing",
            f"{CLASSIFIER}|{BF16}|verify",
        ),
        Verdict(
            VerdictStatus.XFAIL, "unsupported as expected (https://example.org/issues/41)", f"{DETECTOR}|{F32}|verify"
        ),
        Verdict(VerdictStatus.FAIL, "crash: SIGSEGV in run", f"{SEGMENTER}|{ORT}|verify"),
        Verdict(VerdictStatus.FAIL, "timeout: no end of lower after 30 s", f"{SEGMENTER}|{F32}|verify"),
        Verdict(VerdictStatus.SKIP, "unavailable: pip install 'assay[openvino]'", f"{DETECTOR}|{BF16}|verify"),
    )
    return RunVerdict(
        verdicts, Verdict(VerdictStatus.FAIL, "3 of 10 jobs failed and 1 passed unexpectedly"), exit_code=1
    )


def _that_passed() -> tuple[Result, ...]:
    boxes = make_comparison("boxes", budget_used=0.64, shape=(64, 1, 12, 4), elements=3072)
    scores = make_comparison("scores", budget_used=0.4, shape=(64, 1, 12), elements=768)
    return (
        make_result(CLASSIFIER, ORT, task_metrics={"top1_agreement": 1.0, "top5_agreement": 1.0, "accuracy": 0.984375}),
        make_result(DETECTOR, ORT, comparisons=(boxes, scores), task_metrics={"map_50": 0.91, "map_50_change": 0.0}),
        make_result(
            CLASSIFIER, ORT, "measure", stage_times=(StageTime(Stage.LOAD, 0.02), StageTime(Stage.MEASURE, 1.2))
        ),
        make_result(SEGMENTER, BF16, comparisons=(make_comparison("mask", budget_used=0.93),), seconds=0.61),
    )


def _that_disagreed() -> tuple[Result, ...]:
    worst = WorstElement((0, 3), 0.7, 0.71)
    beyond = facts(outside=19, elements=640, rtol=1e-3, atol=1e-6)
    values = Finding("values", "scores", FindingCode.SOME_BEYOND_LIMITS, beyond, (worst,))
    shape = Finding("shape", "scores", FindingCode.SHAPE, facts(sample=0, seen=(10,), due=(1, 10)))
    collapse = Finding("degenerate", "scores", FindingCode.OUTPUT_CONSTANT, facts(value=0.1, elements=640))
    constant = Finding("degenerate", "scores", FindingCode.COLLAPSED, about=collapse)
    return (
        make_result(
            CLASSIFIER,
            F32,
            outcome=Outcome.MISMATCH,
            detail="output scores: 19 of 640 elements are out of tolerance",
            comparisons=(make_comparison(budget_used=3.4, findings=(values, shape)),),
            findings=(values, shape),
            task_metrics={"top1_agreement": 0.984, "top5_agreement": 1.0, "kl_divergence": 2.1e-4},
            notes=(
                noted(
                    NoteCode.LIBRARY_SAID,
                    text="INFERENCE_PRECISION_HINT f32 was requested, f16 is the actual precision",
                ),
            ),
            native_warnings=tuple(
                NativeWarning(WarningCode.FUSION_SKIPPED, node, f"{node} <is> not fused")
                for node in ("Conv_3", "Add_4", "Relu_5")
            ),
            reads_warnings=True,
            log="\x1b[33m[ WARN ]\x1b[0m <Conv_3> & others were fused\n",
        ),
        make_result(
            CLASSIFIER,
            BF16,
            outcome=Outcome.MISTRUSTED,
            detail="output scores is constant (0.1): it proves nothing; give inputs that differ",
            comparisons=(make_comparison(budget_used=0.0, degenerate=collapse, findings=(constant,)),),
            findings=(constant,),
        ),
    )


def _that_ended_early() -> tuple[Result, ...]:
    def early(case: str, flow: str, outcome: Outcome, stage: Stage, cause: Cause, detail: str, **more: Any) -> Result:
        return make_result(
            case,
            flow,
            outcome=outcome,
            stage=stage,
            cause=cause,
            detail=detail,
            comparisons=(),
            facts=EngineInfo(),
            stage_times=(StageTime(Stage.IMPORT, 0.31), StageTime(stage, 0.1)),
            **more,
        )

    return (
        early(
            DETECTOR,
            F32,
            Outcome.UNSUPPORTED,
            Stage.LOWER,
            Cause.OPERATOR_UNSUPPORTED,
            "NonMaxSuppression is not supported",
            node="/head/NonMaxSuppression",
        ),
        early(
            SEGMENTER,
            ORT,
            Outcome.CRASH,
            Stage.RUN,
            Cause.SIGNAL,
            "SIGSEGV in run",
            signal="SIGSEGV",
            attempts=2,
            log="Fatal Python error: Segmentation fault\n",
        ),
        early(SEGMENTER, F32, Outcome.TIMEOUT, Stage.LOWER, Cause.TIMEOUT, "no end of lower after 30 s", seconds=30.02),
        early(
            DETECTOR,
            BF16,
            Outcome.UNAVAILABLE,
            Stage.IMPORT,
            Cause.NOT_INSTALLED,
            "openvino is not installed: pip install 'assay[openvino]'",
        ),
    )


def standard_run() -> tuple[Run, list[Result], RunVerdict]:
    """The run, its results and its verdicts."""
    return run(), list(results()), judgement()
