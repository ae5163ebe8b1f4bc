"""Flows that promise a type and compute in another, on real backends: never a pass, whatever the numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.commands.check import run_check
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.verdict import VerdictStatus
from assay.options.check import CheckOptions

PLAIN = "g (float[1, 8] x) => (float[1, 8] y) { a = Exp(x)  b = Neg(a)  y = Sin(b) }"
CONV = """g (float[1, 3, 8, 8] x) => (float[1, 8, 8, 8] y) { c = Conv <pads = [1, 1, 1, 1]> (x, w)  y = Relu(c) }"""


def write(body: str, path: Path) -> Path:
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> {body}')
    if "(x, w)" in body:
        weights = np.random.default_rng(0).normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    onnx.save(model, path)
    return path


def judged(
    model: Path, tables: str, flow: str, task: str = "verify", tolerance: str = ""
) -> tuple[Result, VerdictStatus, str]:
    config = model.parent / "flows.toml"
    config.write_text(tables)
    options = CheckOptions(
        models=(model,),
        flows=(flow,),
        config=config,
        only_kind=task,
        history=str(model.parent / "h"),
        tolerance=tolerance,
    )
    run = run_check(options)
    (result,), (verdict,) = run.results, run.judgement.verdicts
    return result, verdict.word, verdict.reason


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ("onnxruntime-fp16", "nothing of this float16 flow computes or is stored in float16: Exp, Neg, Sin in float32"),
        ("openvino-bf16", "nothing of this bfloat16 flow computes or is stored in bfloat16"),
        ("mnn-int8-weights", "nothing of this int8 flow computes or is stored in int8: UnaryOp in float32"),
        ("mnn-fp16", "nothing of this float16 flow computes or is stored in float16: UnaryOp in float32"),
        ("ncnn-fp16-storage", "closer than float16 can be: this float16 flow computed in a finer type"),
    ],
)
def test_nothing_runs_in_the_promised_type(tmp_path: Path, flow: str, message: str) -> None:
    result, word, reason = judged(write(PLAIN, tmp_path / "plain.onnx"), "", flow)
    assert (result.outcome, word) == (Outcome.OTHER_PRECISION, VerdictStatus.INCONCLUSIVE), result.detail
    assert message in reason
    assert "call the flow what it is" in reason


@pytest.mark.parametrize("flow", ["mnn-int8-weights", "mnn-fp16", "ncnn-fp16-storage", "openvino-int8"])
def test_what_is_stored_or_computed_in_the_promised_type_passes(tmp_path: Path, flow: str) -> None:
    result, word, reason = judged(write(CONV, tmp_path / "conv.onnx"), "", flow)
    assert (result.outcome, word) == (Outcome.OK, VerdictStatus.PASS), reason


def test_a_quantized_model_that_is_computed_in_float_is_told(tmp_path: Path) -> None:
    """Without optimizations ONNX Runtime dequantizes, convolves in float32 and quantizes again."""
    table = '[flow.slow]\nbackend = "onnxruntime"\noptions = { optimization = "disable" }\ntransforms = ["int8-qdq"]\nprecision = "int8"\n'
    result, word, reason = judged(write(CONV, tmp_path / "conv.onnx"), table, "slow")
    assert (result.outcome, word) == (Outcome.OTHER_PRECISION, VerdictStatus.INCONCLUSIVE)
    assert "Conv" in reason
    assert "in float32" in reason


def test_a_measurement_of_another_type_is_told(tmp_path: Path) -> None:
    result, _, _ = judged(write(PLAIN, tmp_path / "plain.onnx"), "", "onnxruntime-fp16", task="measure")
    assert result.outcome is Outcome.OTHER_PRECISION
    assert result.measurements


def test_a_coarser_type_than_promised_is_excused_by_no_tolerance(tmp_path: Path) -> None:
    table = '[flow.lying]\nbackend = "openvino"\noptions = { precision = "bfloat16" }\nprecision = "float32"\n'
    model = write(CONV, tmp_path / "conv.onnx")
    result, word, reason = judged(model, table, "lying", tolerance="fixed:10,10")
    if result.facts.precision == "float32":
        pytest.skip("this processor has no bfloat16")
    assert (result.outcome, word) == (Outcome.MISMATCH, VerdictStatus.FAIL)
    assert "computes in a coarser type than it promises" in reason
    assert [finding.kind for finding in result.findings] == ["precision"]


def test_types_of_the_model_itself_are_no_breach(tmp_path: Path) -> None:
    """A model that declares its convolution in half precision, in a flow that says float32."""
    body = CONV.replace("(x, w)", "(h, k)").replace("{", "{ h = Cast <to = 10> (x)  k = Cast <to = 10> (w)")
    body = body.replace("y = Relu(c)", "d = Cast <to = 1> (c)  y = Relu(d)")
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> {body}')
    weights = np.random.default_rng(0).normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    path = tmp_path / "mixed.onnx"
    onnx.save(model, path)
    for flow in ("onnxruntime", "openvino-f32"):
        result, _, reason = judged(path, "", flow)
        assert not [finding for finding in result.findings if finding.kind == "precision"], reason


IMAGE = """g (uint8[1, 3, 8, 8] x) => (float[1, 8, 8, 8] y) { f = Cast <to = 1> (x)  c = Conv <pads = [1, 1, 1, 1]> (f, w)
    y = Relu(c) }"""


def test_bytes_that_go_in_excuse_no_layer_in_bytes(tmp_path: Path) -> None:
    """An image of uint8 is cast before anything is computed: weights in int8 are MNN's own."""
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> {IMAGE}')
    weights = np.random.default_rng(0).normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    onnx.save(model, tmp_path / "image.onnx")
    table = '[flow.lying]\nbackend = "mnn"\noptions = { weights = "int8" }\nprecision = "float32"\n'
    result, word, reason = judged(tmp_path / "image.onnx", table, "lying", tolerance="fixed:1000,1000")
    assert (result.outcome, word) == (Outcome.MISMATCH, VerdictStatus.FAIL), reason
    assert "weights in int8 (the model has none)" in reason


INT8_BY_ITS_OWN_WORD = (
    '[flow.told]\nbackend = "faulty"\noptions = { claims = "int8", fault = "FAULT" }\nprecision = "int8"\n'
)


def test_int8_that_only_the_backend_tells_of_shows_in_how_near_its_answers_come(tmp_path: Path) -> None:
    model = write(CONV, tmp_path / "conv.onnx")
    table = INT8_BY_ITS_OWN_WORD.replace("FAULT", "none")
    result, word, reason = judged(model, table, "told")
    assert (result.outcome, word) == (Outcome.OTHER_PRECISION, VerdictStatus.INCONCLUSIVE), reason
    assert "below the answers, where int8 leaves at most some 50" in reason
    result, _, reason = judged(model, f'{table}transforms = ["int8-qdq"]\n', "told")
    assert result.outcome is Outcome.OK, reason


def test_an_engine_that_writes_into_its_inputs_does_not_reach_what_it_is_judged_by(tmp_path: Path) -> None:
    table = INT8_BY_ITS_OWN_WORD.replace("FAULT", "wipe_inputs") + 'transforms = ["int8-qdq"]\n'
    result, word, reason = judged(write(CONV, tmp_path / "conv.onnx"), table, "told")
    assert (result.outcome, word) == (Outcome.NONDETERMINISTIC, VerdictStatus.FAIL), reason
    assert "the engine writes into its input 'x'" in result.detail
    assert result.findings, "what it answers is wrong, too"
