"""Where oracles refuse all inputs while they run, the inputs are wrong."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.case import Case, Inputs
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.pipeline.references.ensure_references import _next, _wrong_inputs

DRAWN = VerifyJob(Case("m", Model("m", "m.onnx", "", format="onnx")), Flow("onnxruntime", "onnxruntime"))
GIVEN = replace(DRAWN, case=replace(DRAWN.case, inputs=Inputs(given="data/1")))


def _refusal(flow: str, outcome: Outcome = Outcome.ERROR, stage: Stage = Stage.RUN) -> Result:
    job = VerifyJob(Case("m", Model("m", "m.onnx", "")), Flow(flow, "reference"))
    return replace(empty_result(job, outcome), stage=stage, detail=f"{flow} says no")


def test_two_libraries_decide_whoever_else_could_not_build_the_model() -> None:
    failed = _refusal("torch-eager", stage=Stage.TRANSFORM)
    sentence = _wrong_inputs(DRAWN, [_refusal("reference-f64"), _refusal("onnxruntime-disable"), failed])
    assert sentence == (
        "no inputs were found that 'm' takes: reference-f64 says no (reference-f64; 2 of 3 oracles refuse all that was tried); "
        "state sizes with --dim, values with --input-range or --input-value, or give a golden with --golden"
    )


def test_one_library_alone_does_not() -> None:
    failed = _refusal("torch-eager", stage=Stage.TRANSFORM)
    assert _wrong_inputs(DRAWN, [_refusal("reference-f64"), _refusal("reference"), failed]) == ""
    assert _wrong_inputs(DRAWN, [_refusal("reference-f64"), failed]) == ""


def test_nobody_else_is_asked_where_two_libraries_refuse_what_was_given() -> None:
    first, second = _refusal("reference-f64"), _refusal("onnxruntime-disable")
    assert _next(GIVEN, [first], ()) is not None
    assert _next(DRAWN, [first, second], ()) is not None
    assert _next(GIVEN, [first, second], ()) is None
    assert _wrong_inputs(GIVEN, [first, second]) == (
        "'m' does not take the inputs that were given: reference-f64 says no (reference-f64 and onnxruntime-disable refuse them); correct "
        "them, or give others"
    )
