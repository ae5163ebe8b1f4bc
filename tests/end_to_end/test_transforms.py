"""Whole runs with transforms, on real backends and a real model: what is calibrated, judged, gated and refused."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import numpy as np
import onnx
import pytest
from digits_checks import GOLDEN, MODEL, checked, here, recorded
from onnx import TensorProto, helper, numpy_helper

from assay.core.case import Inputs
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Goal, Policy
from assay.core.result import Result
from assay.core.verdict import VerdictStatus
from assay.errors import UnknownName, UsageError
from assay.judge import judge
from assay.judge.named_metrics import metrics
from assay.numerics.operators.index import onnx_operators
from assay.numerics.operators.record import MICROSOFT
from assay.options.arguments import values_from_arguments
from assay.options.check import CheckOptions
from assay.pipeline.open_run import Checked
from assay.plugins import find_flow
from assay.ports import Availability
from assay.transforms.int8_nncf import Int8Nncf
from assay.transforms.requirements import requirements
from command_line import run_assay
from int8_sums import skip_where_sums_saturate


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def by_flow(run: Checked) -> dict[str, Result]:
    return {result.flow: result for result in run.results}


def test_every_named_flow_is_near_the_model_and_says_what_it_is() -> None:
    skip_where_sums_saturate()
    run = checked(
        "onnxruntime-fp16", "onnxruntime-int8-qdq-per-tensor", "onnxruntime-int8-qdq-per-channel", "openvino-int8"
    )
    words = {verdict.job_key.split("|")[1]: verdict.word for verdict in run.judgement.verdicts}
    # On x86 nothing of the half precision flow computes in float16: right answers, and never a pass.
    half = by_flow(run)["onnxruntime-fp16"].outcome
    assert half in (Outcome.OK, Outcome.OTHER_PRECISION)
    assert words.pop("onnxruntime-fp16") is (VerdictStatus.PASS if half is Outcome.OK else VerdictStatus.INCONCLUSIVE)
    assert set(words.values()) == {VerdictStatus.PASS}, run.judgement.run.reason
    for name, result in by_flow(run).items():
        named = metrics(result)
        assert named["vs_float.sqnr_db"] > 20, name
        assert named["task.top1_accuracy"] > 0.95, name
        assert len(result.facts.transforms) == 1
        if name != "onnxruntime-fp16":
            assert named["precision.int8"] > 0.6, name
            assert named["sqnr_db"] > named["vs_float.sqnr_db"], name
            (applied,) = result.facts.transforms
            assert len(applied.samples) == 64
            assert {comparison.samples for comparison in result.comparisons} == {192}


def test_calibration_is_repeatable_and_follows_its_seed() -> None:
    """In this process: three times the same job, and once with another seed."""
    flow = find_flow("onnxruntime-int8-qdq-per-tensor")
    digests: dict[int, set[tuple[object, ...]]] = {}
    for seed in (0, 0, 5):
        result = here(MODEL, Inputs(golden=str(GOLDEN), seed=seed, calibration=8), flow)
        (applied,) = result.facts.transforms
        assert (len(applied.samples), applied.seed) == (8, seed)
        digests.setdefault(seed, set()).add((applied.samples, applied.digest, result.facts.artifact_digest))
    assert len(digests[0]) == 1
    assert digests[0] != digests[5]


def test_without_a_golden_calibration_draws_samples_of_its_own() -> None:
    skip_where_sums_saturate()
    (result,) = checked("onnxruntime-int8-qdq-per-tensor", golden=None, samples=3).results
    assert result.outcome is Outcome.OK, result.detail
    assert result.facts.transforms[0].samples == tuple(range(3, 35))
    assert result.comparisons[0].samples == 3


def test_too_few_samples_to_calibrate_are_bad_input_and_name_the_option() -> None:
    with pytest.raises(UsageError) as caught:
        checked("onnxruntime", "onnxruntime-int8-qdq-per-tensor", calibration=256)
    message = str(caught.value)
    assert message.startswith(
        f"flow 'onnxruntime-int8-qdq-per-tensor': {GOLDEN} has 256 samples, calibration takes 256 and leaves none"
    )
    assert message.endswith(", or ask for fewer with --calibration")


def test_one_given_sample_is_too_few_to_calibrate_and_called_by_its_file() -> None:
    image = np.random.default_rng(0).normal(size=(1, 1, 8, 8)).astype(np.float32)
    np.savez("one.npz", image=image)
    command = (
        "check",
        str(MODEL),
        "--flow",
        "onnxruntime-int8-qdq-per-tensor",
        "--inputs",
        "one.npz",
        "--only-kind",
        "verify",
    )
    refused = run_assay(*command, cwd=Path.cwd())
    assert refused.returncode == 2
    assert "flow 'onnxruntime-int8-qdq-per-tensor': one.npz has 1 sample, calibration takes 1" in refused.stderr
    assert "give more with --inputs" in refused.stderr


def test_a_quantized_model_that_the_reference_cannot_evaluate_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ONNX Runtime quantizes an embedding into an operator of its own. Where the evaluator does not know that, nothing says what
    it should answer."""
    monkeypatch.delitem(onnx_operators(), (MICROSOFT, "QEmbedLayerNormalization"))
    stream = np.random.default_rng(0)
    shapes = {"words": (9, 8), "places": (4, 8), "segments": (9, 8), "gamma": (8,), "beta": (8,), "w": (8, 8)}
    weights = [numpy_helper.from_array(stream.normal(size=s).astype(np.float32), n) for n, s in shapes.items()]
    ids, kinds = (helper.make_tensor_value_info(n, TensorProto.INT32, [1, 4]) for n in ("ids", "kinds"))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 8])
    node = helper.make_node(
        "EmbedLayerNormalization", ["ids", "kinds", "words", "places", "segments", "gamma", "beta"], ["e", "mask"],
        domain="com.microsoft", epsilon=1e-5, name="embed",
    )  # fmt: skip
    product = helper.make_node("MatMul", ["e", "w"], ["y"])
    graph = helper.make_graph([node, product], "g", [ids, kinds], [y], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    path = tmp_path / "embedding.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    inputs = Inputs(seed=3, samples=2)
    result = here(path, inputs, find_flow("onnxruntime-int8-dynamic"), recorded(path, inputs))
    assert (result.outcome, result.comparisons) == (Outcome.MISTRUSTED, ()), result.detail
    assert "the quantized model has no reference answers" in result.detail
    assert metrics(result)["vs_float.sqnr_db"] > 20
    verdict = judge([result], Policy(), planned=[result.job_key], today=date(2026, 11, 22)).verdicts[0]
    assert verdict.word is VerdictStatus.INCONCLUSIVE
    assert "to decide it, state what the transform may cost against the float model" in verdict.reason


def test_a_transform_that_cannot_serve_is_told_and_the_others_go_on() -> None:
    run = by_flow(checked("onnxruntime+opset:9", "onnxruntime+int8-qdq:per-row", "onnxruntime+opset:20"))
    assert run["onnxruntime+opset:20"].outcome is Outcome.OK
    assert run["onnxruntime+opset:9"].outcome is Outcome.UNSUPPORTED
    assert run["onnxruntime+opset:9"].stage == "transform"
    assert run["onnxruntime+int8-qdq:per-row"].outcome is Outcome.ERROR
    assert run["onnxruntime+int8-qdq:per-row"].detail == (
        "transform int8-qdq takes one of per-tensor, per-channel, per-tensor-symmetric, per-channel-symmetric, not 'per-row'"
    )


def test_transforms_that_do_not_go_together_are_told_and_the_others_go_on() -> None:
    flows = ("openvino-bf16+int8-nncf", "onnxruntime-fp16+int8-dynamic", "onnxruntime+xnnpack-int8", "onnxruntime")
    checks = checked(*flows)
    run = by_flow(checks)
    assert run.pop("onnxruntime").outcome is Outcome.OK
    assert {(result.outcome, result.cause, result.stage) for result in run.values()} == {
        (Outcome.ERROR, Cause.WRONG_USAGE, Stage.TRANSFORM)
    }
    assert [run[name].detail.removeprefix(f"flow {name!r}: ") for name in flows[:-1]] == [
        "option precision=bfloat16 and transform int8-nncf contradict each other; keep one of them",
        "transforms fp16 and int8-dynamic both decide the precision; keep one of them",
        "transform xnnpack-int8 rewrites torch models and backend onnxruntime reads onnx models; choose a transform of that form",
    ]
    assert checks.judgement.exit_code == 1


@pytest.mark.parametrize(
    ("flows", "options", "kind", "message"),
    [
        (("onnxruntime+int8-qdp",), {}, UnknownName, "perhaps you mean 'int8-qdq'"),
        (
            ("onnxruntime",),
            {"transforms": ["fq16"]},
            UnknownName,
            "there is no transform 'fq16'; perhaps you mean 'fp16'",
        ),
        (("onnxruntime",), {"dims": ["batch=4:1:2"]}, UsageError, "neither MIN:OPT:MAX nor MIN:MAX:STEP"),
        (("onnxruntime",), {"dims": ["batch4"]}, UsageError, "--dim 'batch4' is not NAME=..."),
        (("onnxruntime",), {"dims": ["bach=1:2:4"]}, UsageError, "perhaps you mean 'batch'"),
        (("onnxruntime",), {"require": ["casts"]}, UsageError, "is not FIGURE OPERATOR NUMBER"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    flows: tuple[str, ...], options: dict[str, list[str]], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        checked(*flows, **values_from_arguments(CheckOptions, options))
    assert message in str(caught.value)


def test_an_engine_that_promises_int8_and_runs_float_is_shown() -> None:
    """OpenVINO runs the convolutions of a dynamically quantized model in float32: the answers are right."""
    run = checked("openvino-f32+int8-dynamic", require=("precision.int8 >= 0.2",))
    (result,) = run.results
    assert result.outcome is Outcome.OTHER_PRECISION
    assert metrics(result)["precision.int8"] < 0.2
    assert run.judgement.exit_code == 1
    assert "precision.int8" in run.judgement.verdicts[0].reason


def test_what_is_lost_by_quantizing_fails_only_by_a_goal() -> None:
    skip_where_sums_saturate()
    flow = "onnxruntime-int8-qdq-per-tensor"
    run = checked(flow, require=("vs_float.sqnr_db >= 60", "undelegated == 0"))
    (result,) = run.results
    assert result.outcome is Outcome.OK
    assert math.isinf(metrics(result)["sqnr_db"]) or metrics(result)["sqnr_db"] > 60
    assert run.judgement.exit_code == 1
    assert "vs_float.sqnr_db is 3" in run.judgement.verdicts[0].reason
    planned = [result.job_key]
    kept = Policy(goals=(Goal("vs_float.sqnr_db", min=20.0),))
    assert judge([result], kept, planned=planned, today=date(2026, 11, 22)).exit_code == 0


def test_a_transform_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: Int8Nncf) -> Availability:
        return requirements("no-such-quantizer", extra="nncf")

    monkeypatch.setattr(Int8Nncf, "availability", missing)
    (result,) = checked("openvino-int8").results
    assert result.outcome is Outcome.UNAVAILABLE
    assert result.detail == "no-such-quantizer is not installed; to install it: pip install 'assay[nncf]'"
