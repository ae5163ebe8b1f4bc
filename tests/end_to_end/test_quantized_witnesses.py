"""A quantized engine is judged by what the quantized model answers in the evaluator: a witness is asked that model, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from assay.commands.check import run_check
from assay.core.outcome import Outcome
from assay.core.reference import ReferenceKind
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.options.check import CheckOptions
from command_line import run_assay
from mutating import F, save
from witnessing import BROKEN, start_workers_with

QDQ = "onnxruntime-int8-qdq-per-tensor"
WRONG = BROKEN.format(
    operator="DequantizeLinear",
    answer="np.asarray((call.inputs[0].astype(np.float32) - call.inputs[2]) * call.inputs[1] * 1.05, call.inputs[1].dtype)",
)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    weight = np.random.default_rng(3).normal(size=(16, 8)).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="product")
    return save(tmp_path / "m.onnx", [node], {"x": (F, [4, 16])}, {"y": (F, [4, 8])}, {"w": weight})


def check(model: Path, flow: str, golden: Path | None = None) -> tuple[Result, Verdict]:
    options = CheckOptions(
        models=(model,), flows=(flow,), golden=golden, only_kind="verify", history=str(model.parent / "h")
    )
    checked = run_check(options)
    return checked.results[0], checked.judgement.verdicts[0]


@pytest.mark.parametrize("given", [False, True], ids=["random", "golden"])
def test_an_oracle_that_is_wrong_about_the_quantized_model_alone_blames_no_engine(
    given: bool, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = tmp_path / "golden" if given else None
    if golden:
        record = ("golden", "record", "m.onnx", str(golden), "--samples", "8", "--reason", "a test")
        assert run_assay(*record, cwd=tmp_path).returncode == 0
    start_workers_with(WRONG, tmp_path, monkeypatch)
    result, verdict = check(model, QDQ, golden)
    assert result.outcome is Outcome.MISMATCH
    assert verdict.word is VerdictStatus.INCONCLUSIVE, verdict.reason
    assert (result.reference.kind, result.reference.producer) == (ReferenceKind.ORACLE, "reference")
    assert verdict.reason.startswith("the reference is disputed: openvino-f32 answers otherwise than reference, too")
    assert "(DequantizeLinear)'; to decide it, " in verdict.reason


def test_a_quantized_engine_that_is_wrong_is_blamed_by_two(model: Path) -> None:
    result, verdict = check(model, "faulty-lie+int8-qdq:per-tensor")
    assert (result.outcome, verdict.word) == (Outcome.MISMATCH, VerdictStatus.FAIL)
    assert "; reference and onnxruntime-disable agree" in verdict.reason
    assert [witness.flow for witness in result.witnesses] == ["onnxruntime-disable"]


def test_a_node_of_a_quantized_model_is_asked_of_the_same_node(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_workers_with(WRONG, tmp_path, monkeypatch)
    options = CheckOptions(models=(model,), flows=(QDQ,), only_kind="per_node", history=str(tmp_path / "h"))
    (verdict,) = run_check(options).judgement.verdicts
    assert verdict.word is VerdictStatus.INCONCLUSIVE, verdict.reason
    assert verdict.reason.startswith(f"the reference is disputed: {QDQ} and ")
