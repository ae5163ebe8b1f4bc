"""A loss against a float model has two witnesses, too: an oracle that is wrong about the float model blames no quantized engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from assay.commands.check import run_check
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.options.check import CheckOptions
from mutating import F, save
from witnessing import BROKEN, start_workers_with

DYNAMIC = "onnxruntime-int8-dynamic"
WRONG = BROKEN.format(operator="MatMul", answer="np.matmul(*call.inputs) * 1.3")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    weight = np.random.default_rng(3).normal(size=(16, 8)).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="product")
    return save(tmp_path / "m.onnx", [node], {"x": (F, [4, 16])}, {"y": (F, [4, 8])}, {"w": weight})


def check(model: Path, limit: float, *more: str, reference: Path | None = None) -> tuple[Result, Verdict]:
    options = CheckOptions(
        models=(model,),
        flows=(DYNAMIC, *more),
        require=(f"vs_float.sqnr_db >= {limit}",),
        reference=reference,
        only_kind="verify",
        history=str(model.parent / "h"),
    )
    checked = run_check(options)
    key = f"{model.stem}|{DYNAMIC}|verify"
    return next(result for result in checked.results if result.job_key == key), next(
        verdict for verdict in checked.judgement.verdicts if verdict.job_key == key
    )


def test_a_loss_beyond_a_goal_stands_where_another_engine_gives_the_float_answers(model: Path) -> None:
    result, verdict = check(model, 90.0)
    assert (result.outcome, verdict.word) == (Outcome.OK, VerdictStatus.FAIL), verdict.reason
    assert verdict.reason.endswith("--require; reference-f64 and onnxruntime-disable agree on the float model")
    assert [witness.flow for witness in result.float_witnesses] == ["onnxruntime-disable"]


def test_an_engine_of_the_run_on_the_float_model_is_asked_first(model: Path) -> None:
    result, verdict = check(model, 90.0, "onnxruntime")
    assert verdict.word is VerdictStatus.FAIL
    assert [witness.flow for witness in result.float_witnesses] == ["onnxruntime"]


def test_a_loss_within_its_goal_asks_nobody(model: Path) -> None:
    result, verdict = check(model, 20.0)
    assert verdict.word is VerdictStatus.PASS
    assert result.float_witnesses == ()


def test_a_float_reference_that_another_engine_disputes_blames_nobody(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_workers_with(WRONG, tmp_path, monkeypatch)
    result, verdict = check(model, 20.0)
    assert (result.outcome, verdict.word) == (Outcome.OK, VerdictStatus.INCONCLUSIVE), verdict.reason
    assert verdict.reason.startswith(
        "the loss is measured by answers that are disputed: onnxruntime-disable and reference-f64 differ on the float model; they part "
        "at node 'product (MatMul)'; to decide it, give the answers of the framework that the float model comes from"
    )
    assert (
        f"--flow {DYNAMIC} --golden ANSWERS.npz --require 'vs_float.sqnr_db >= 20'`; seen: vs_float.sqnr_db is "
        in verdict.reason
    )


def _pair(folder: Path) -> tuple[Path, Path]:
    """A model, and the same with weights in int8 and without an Elu that changes nothing: what it reads is positive."""
    weight = np.random.default_rng(3).normal(size=16).astype(np.float32) / 2
    scale = np.float32(np.abs(weight).max() / 127)
    product = helper.make_node("Mul", ["x", "w"], ["p"])
    inputs, outputs = {"x": (F, [4, 16])}, {"y": (F, [4, 16])}
    old = [product, helper.make_node("Exp", ["p"], ["e"]), helper.make_node("Elu", ["e"], ["y"], name="suspect")]
    new = [helper.make_node("DequantizeLinear", ["q", "s"], ["w"]), product, helper.make_node("Exp", ["p"], ["y"])]
    stored = {"q": np.rint(weight / scale).astype(np.int8), "s": np.array(scale)}
    return (
        save(folder / "old.onnx", old, inputs, outputs, {"w": weight}),
        save(folder / "new.onnx", new, inputs, outputs, stored),
    )


def _rows(folder: Path, limit: float) -> dict[str, Verdict]:
    old, new = _pair(folder)
    options = CheckOptions(
        models=(new,),
        flows=("onnxruntime",),
        require=(f"vs_float.sqnr_db >= {limit}",),
        reference=old,
        only_kind="verify",
        history=str(folder / "h"),
    )
    return {verdict.job_key.split("|")[1]: verdict for verdict in run_check(options).judgement.verdicts}


def test_what_a_quantized_file_costs_has_two_witnesses_too(model: Path, tmp_path: Path) -> None:
    rows = _rows(tmp_path, 90.0)
    assert {row.word for row in rows.values()} == {VerdictStatus.FAIL}
    assert all(
        "; reference-f64 and onnxruntime-disable agree on the float model" in row.reason for row in rows.values()
    )


def test_an_original_that_the_oracle_alone_answers_otherwise_blames_neither_the_file_nor_the_engine(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_workers_with(BROKEN.format(operator="Elu", answer="call.inputs[0] * 1.3"), tmp_path, monkeypatch)
    rows = _rows(tmp_path, 20.0)
    assert set(rows) == {"model-change", "onnxruntime"}
    for row in rows.values():
        assert row.word is VerdictStatus.INCONCLUSIVE, row.reason
        assert (
            "onnxruntime-disable and reference-f64 differ on the float model; they part at node 'suspect (Elu)'"
            in row.reason
        )
        assert "/new.onnx" in row.reason
        assert "/old.onnx --golden ANSWERS.npz --require" in row.reason
