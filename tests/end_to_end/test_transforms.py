"""Whole runs with transforms, on real backends and a real model: what is calibrated, judged, gated and refused."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import TensorProto, helper, numpy_helper, parser

from assay.commands.check import run_check
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import ReferenceJob, VerifyJob
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Goal, Policy
from assay.core.result import Result
from assay.core.verdict import VerdictStatus
from assay.errors import UnknownName, UsageError
from assay.judge import judge
from assay.judge.metrics import metrics
from assay.judge.note_text import note_text
from assay.models.onnx_file import open_model
from assay.numerics.operators.index import onnx_operators
from assay.numerics.operators.record import MICROSOFT
from assay.options.arguments import values_from_arguments
from assay.options.check import CheckOptions
from assay.options.sizes import Sizes
from assay.options.task_metric import MetricChoice
from assay.pipeline.open_run import Checked
from assay.plugins import find_flow
from assay.ports import Availability
from assay.transforms.int8_nncf import Int8Nncf
from assay.transforms.requirements import requirements
from assay.worker.stages import Stages
from command_line import run_assay
from int8_sums import skip_where_sums_saturate
from judged_job import execute_judged as execute

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
MODEL, GOLDEN = DIGITS / "models" / "classifier.onnx", DIGITS / "goldens" / "classifier"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(*flows: str, golden: Path | None = GOLDEN, **options: object) -> Checked:
    given = {"models": (MODEL,), "only_kind": "verify", "task_metric": MetricChoice("classification"), **options}
    return run_check(CheckOptions(flows=flows, golden=golden, **given))  # type: ignore[arg-type]


def by_flow(run: Checked) -> dict[str, Result]:
    return {result.flow: result for result in run.results}


def here(path: Path, inputs: Inputs, flow: Flow, reference: Path | None = None) -> Result:
    """One job in this process."""
    model = replace(open_model(path), source=str(path))
    return execute(
        VerifyJob(Case("c", model, inputs), flow, reference_dir=str(reference or "")), Stages(lambda stage: None)
    )


def recorded(path: Path, inputs: Inputs) -> Path:
    """The oracle's answers, as a run records them before it verifies."""
    folder = path.parent / "oracle"
    model = replace(open_model(path), source=str(path))
    job = ReferenceJob(Case("c", model, inputs), find_flow("reference-f64"), reference_dir=str(folder))
    assert execute(job, Stages(lambda stage: None)).outcome is Outcome.OK
    return folder


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
    told = str(caught.value)
    assert told.startswith(
        f"flow 'onnxruntime-int8-qdq-per-tensor': {GOLDEN} has 256 samples, calibration takes 256 and leaves none"
    )
    assert told.endswith(", or ask for fewer with --calibration")


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
        "transform int8-qdq is per-tensor, per-channel, per-tensor-symmetric or per-channel-symmetric, not 'per-row'"
    )


def test_transforms_that_do_not_go_together_are_told_and_the_others_go_on() -> None:
    flows = ("openvino-bf16+int8-nncf", "onnxruntime-fp16+int8-dynamic", "onnxruntime+xnnpack-int8", "onnxruntime")
    checks = checked(*flows)
    run = by_flow(checks)
    assert run.pop("onnxruntime").outcome is Outcome.OK
    assert {(one.outcome, one.cause, one.stage) for one in run.values()} == {
        (Outcome.ERROR, Cause.WRONG_USAGE, Stage.TRANSFORM)
    }
    assert [run[name].detail.removeprefix(f"flow {name!r}: ") for name in flows[:-1]] == [
        "option precision=bfloat16 and transform int8-nncf contradict each other; keep one of them",
        "transforms fp16 and int8-dynamic both decide the precision; keep one of them",
        "transform xnnpack-int8 rewrites torch models and backend onnxruntime reads onnx models; choose a transform of that form",
    ]
    assert checks.judgement.exit_code == 1


@pytest.mark.parametrize(
    ("flows", "options", "kind", "told"),
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
    flows: tuple[str, ...], options: dict[str, list[str]], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind) as caught:
        checked(*flows, **values_from_arguments(CheckOptions, options))
    assert told in str(caught.value)


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


def test_every_size_is_verified_where_it_is_claimed() -> None:
    (result,) = checked("onnxruntime", dims={"batch": Sizes(1, 4, 16)}).results
    assert [(one.at, one.shape) for one in result.comparisons] == [
        ("", (1, 10)),
        ("batch=1", (1, 10)),
        ("batch=4", (4, 10)),
        ("batch=16", (16, 10)),
    ]


def test_inputs_are_drawn_at_the_usual_size_that_an_engine_of_fixed_sizes_is_built_for(tmp_path: Path) -> None:
    path = tmp_path / "wide.onnx"
    text = "g (float[1, 3, 8, w] x) => (float[1, 3, 8, w] y) { y = Relu(x) }"
    onnx.save(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}'), path)
    inputs = Inputs(seed=1, samples=2, dims={"w": (4, 6, 32)})
    reference = recorded(path, inputs)
    for flow in ("onnxruntime", "ncnn-f32"):
        result = here(path, inputs, find_flow(flow), reference)
        assert (result.outcome, result.comparisons[0].shape) == (Outcome.OK, (1, 3, 8, 6)), result.detail


def test_a_wrong_answer_at_one_size_only_is_a_mismatch() -> None:
    run = checked("faulty-wrong_above_8", dims={"batch": Sizes(1, 1, 16, (1, 9, 16))})
    (result,) = run.results
    assert result.outcome is Outcome.MISMATCH
    assert result.detail.startswith("at batch=9: ")
    assert run.judgement.exit_code == 1


def test_a_size_that_neither_the_engine_nor_the_reference_takes_is_no_fault_of_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "eights.onnx"
    text = "g (float[n, 4] x) => (float[m, 8] y) { s = Constant<value_ints=[-1, 8]>() y = Reshape(x, s) }"
    onnx.save(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}'), path)
    inputs = Inputs(seed=1, samples=2, batch=2, dims={"n": (2, 2, 9)}, sizes={"n": (2, 9)})
    result = here(path, inputs, find_flow("onnxruntime"), recorded(path, inputs))
    assert (result.outcome, result.cause) == (Outcome.ERROR, Cause.WRONG_USAGE)
    assert note_text(result.ended).startswith("at n=9 neither the engine nor the reference takes the inputs: ")
    assert note_text(result.ended).endswith("give other sizes with --dim")


def test_a_transform_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: Int8Nncf) -> Availability:
        return requirements("no-such-quantizer", extra="nncf")

    monkeypatch.setattr(Int8Nncf, "availability", missing)
    (result,) = checked("openvino-int8").results
    assert result.outcome is Outcome.UNAVAILABLE
    assert result.detail == "no-such-quantizer is not installed; to install it: pip install 'assay[nncf]'"
