"""A language model with weights of four bits: the engine is judged against the quantized graph, and that against the float one."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import assay
from assay.backends.onnxruntime.genai import OnnxRuntimeGenai
from assay.core.finding import FindingCode
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from assay.worker.service.asking import alone
from assay.worker.service.places import difference, judge_all
from served_model import MODEL, PROMPTS, oracle


def _quantized(path: Path, *, qdq: bool) -> Path:
    from onnxruntime.quantization import QuantFormat
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    form = QuantFormat.QDQ if qdq else QuantFormat.QOperator
    logging.disable(logging.INFO)
    try:
        made = MatMulNBitsQuantizer(onnx.load(MODEL), block_size=32, is_symmetric=True, quant_format=form)
        made.process()
    finally:
        logging.disable(logging.NOTSET)
    made.model.save_model_to_file(str(path))
    return path


def _forgetting(model: Path, path: Path) -> Path:
    """The graph reads nine tenths of whatever cache it is fed."""
    proto = onnx.load(model)
    proto.graph.initializer.append(numpy_helper.from_array(np.float32(0.9), "share"))
    for past in [value.name for value in proto.graph.input if value.name.startswith("past_key_values.")]:
        for node in proto.graph.node:
            node.input[:] = [f"{past}.less" if input_name == past else input_name for input_name in node.input]
        proto.graph.node.insert(0, onnx.helper.make_node("Mul", [past, "share"], [f"{past}.less"]))
    onnx.save(proto, path)
    return path


def _outcome(model: Path, folder: Path, flow: str, reference: Path | None = None) -> VerifyResult:
    prompts = folder / "prompts.jsonl"
    prompts.write_text(PROMPTS, "utf-8")
    checked = assay.check(
        model, flows=[flow], inputs=prompts, reference=reference, measure=False, history=folder / ".assay", workers=1
    )
    (result,) = [answer for answer in checked.results if isinstance(answer, VerifyResult)]
    return result


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _quantized(tmp_path_factory.mktemp("int4") / "int4.onnx", qdq=False)


@pytest.fixture(scope="module")
def right_answer(quantized: Path) -> VerifyResult:
    """Of ONNX Runtime, judged against the quantized graph itself."""
    return _outcome(quantized, quantized.parent, "onnxruntime")


def test_the_engine_of_a_quantized_graph_is_right(right_answer: VerifyResult) -> None:
    assert right_answer.outcome is Outcome.OK, right_answer.detail
    assert right_answer.comparisons[0].metrics["budget_used"] < 1.0


def test_so_is_one_that_generates_by_itself(quantized: Path, tmp_path: Path) -> None:
    right = _outcome(quantized, tmp_path, "onnxruntime-genai")
    assert right.outcome is Outcome.OK, right.detail
    assert right.comparisons[0].metrics["budget_used"] < 1.0


def test_the_engine_keeps_its_quantized_graph_and_not_the_float_one_nor_another(
    quantized: Path, tmp_path: Path
) -> None:
    """What the quantization costs is no budget in which faults of the engine hide: one scale is off by a hundredth."""
    model = onnx.load(quantized)
    scales = next(tensor for tensor in model.graph.initializer if tensor.name.endswith("scales"))
    scales.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(scales) * np.float32(1.01), scales.name))
    onnx.save(model, tmp_path / "other.onnx")
    right = oracle(quantized)

    def shown(engine: Path) -> bool:
        service = OnnxRuntimeGenai().lower(engine, Flow("genai", "onnxruntime-genai")).service
        return difference(judge_all(alone(service, right), right)) is not None

    assert [shown(quantized), shown(MODEL), shown(tmp_path / "other.onnx")] == [False, True, True]


def test_a_quantized_model_that_is_fed_the_cache_of_the_float_one_is_not_called_inconsistent(
    quantized: Path, right_answer: VerifyResult, tmp_path: Path
) -> None:
    result = _outcome(quantized, tmp_path, "onnxruntime", MODEL)
    assert result.outcome is Outcome.OK, result.detail
    own = {name: size for name, size in right_answer.task_metrics.items() if name.startswith("schedule_kl_")}
    assert own.keys() >= {"schedule_kl_steps", "schedule_kl_chunks"}
    assert {name: result.task_metrics[name] for name in own} == pytest.approx(own, rel=1e-3, abs=1e-12)
    broken = _outcome(_forgetting(quantized, tmp_path / "broken.onnx"), tmp_path, "onnxruntime", MODEL)
    assert (broken.outcome, [finding.code for finding in broken.findings]) == (
        Outcome.MISMATCH,
        [FindingCode.SCHEDULES_DISAGREE],
    ), broken.detail


def test_an_engine_that_rounds_activations_to_eight_bits_unasked_is_seen(tmp_path: Path) -> None:
    """ONNX Runtime 1.31 fuses what is written as DequantizeLinear and MatMul into a kernel that does so; unfused, it does not."""
    model = _quantized(tmp_path / "qdq.onnx", qdq=True)
    assert _outcome(model, tmp_path, "onnxruntime").outcome is Outcome.MISMATCH
    assert _outcome(model, tmp_path, "onnxruntime-basic").outcome is Outcome.OK
