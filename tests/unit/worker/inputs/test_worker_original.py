"""What is said of a model beside the one that it is to be still, from the answers of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from assay.core.case import Case, Contract, Original
from assay.core.golden import REFERENCE
from assay.core.job import ChangeJob
from assay.core.model import Model, TensorSpec
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.errors import UsageError
from assay.judge.job_outcome import with_outcome
from assay.models.goldens import write_golden
from assay.worker.inputs.original import compare_change, inputs_of_original
from assay.worker.stages import Stages
from sentences import says

NEW = Model(
    "new", "new.onnx", "n" * 64, (TensorSpec("ids", "int32", (1, 2)),), (TensorSpec("probs", "float32", (1, 3)),)
)
OLD = Model("old", "old.onnx", "o" * 64, (TensorSpec("x", "int64", (1, 2)),), (TensorSpec("y", "float32", (1, 3)),))
ANSWER = np.array([[0.2, 0.3, 0.5]])


def _golden(folder: Path, model: Model, inputs: Any, outputs: Any, producer: str = "reference-f64") -> str:
    write_golden(
        folder, model=model, inputs=[inputs], outputs=[outputs], seed=0, producer=producer, producer_version="1", who="tests",
        reason=REFERENCE, kept=False, created_at="2026-11-24T00:00:00+00:00",
    )  # fmt: skip
    return str(folder)


def _job(
    tmp_path: Path, answers: dict[str, Any], precision: str = "float32", producer: str = "reference-f64"
) -> ChangeJob:
    original = Original(OLD, inputs={"ids": "x"}, outputs={"probs": "y"}, precision=precision)
    return ChangeJob(
        Case("new", NEW, contract=Contract(), original=original),
        reference_dir=_golden(tmp_path / "new", NEW, {"ids": np.zeros((1, 2), np.int32)}, answers, producer),
        original_dir=_golden(tmp_path / "old", OLD, {"x": np.array([[7, 9]])}, {"y": ANSWER}),
    )


def _judged(job: ChangeJob) -> Result:
    return with_outcome(compare_change(job, Stages(lambda stage: None)), job)


def test_the_same_answers_under_another_name_and_beside_a_new_output_are_the_same_model(tmp_path: Path) -> None:
    job = _job(tmp_path, {"more": np.zeros(2), "probs": ANSWER.copy()})
    result = _judged(job)
    assert result.outcome is Outcome.OK
    assert [comparison.output for comparison in result.comparisons] == ["y"]
    assert result.comparisons[0].metrics["budget_used"] == 0
    assert result.original == "old"


def test_other_answers_are_a_mismatch_of_the_file_and_name_the_output(tmp_path: Path) -> None:
    result = _judged(_job(tmp_path, {"probs": ANSWER + 1e-3}))
    assert result.outcome is Outcome.MISMATCH
    assert result.findings[0].output == "y"
    assert result.against_float[0].metrics["max_abs"] == pytest.approx(1e-3)


def test_a_quantized_model_loses_and_is_not_wrong_unless_an_output_has_another_shape(tmp_path: Path) -> None:
    lost = _judged(_job(tmp_path / "1", {"probs": ANSWER + 5.0}, "int8"))
    assert lost.outcome is Outcome.OK
    assert lost.comparisons == ()
    assert lost.against_float[0].metrics["max_abs"] == pytest.approx(5.0)
    other = _judged(_job(tmp_path / "2", {"probs": ANSWER[:, :2]}, "int8"))
    assert other.outcome is Outcome.MISMATCH
    assert [finding.kind for finding in other.findings] == ["shape"]


def test_an_output_that_is_gone_is_a_change(tmp_path: Path) -> None:
    result = _judged(_job(tmp_path, {"more": ANSWER}))
    assert result.outcome is Outcome.MISMATCH
    assert {finding.kind for finding in result.findings} == {"missing_output"}


def test_answers_of_two_engines_prove_no_change(tmp_path: Path) -> None:
    job = _job(tmp_path, {"probs": ANSWER + 1e-3}, producer="onnxruntime-disable")
    result = _judged(job)
    assert result.outcome is Outcome.MISTRUSTED
    assert "not the models alone may differ" in result.detail
    assert result.findings == ()


@pytest.mark.parametrize(
    ("producer", "outcome"),
    [("given", Outcome.MISMATCH), ("onnxruntime", Outcome.MISMATCH), ("openvino-bf16", Outcome.MISTRUSTED)],
)
def test_a_golden_of_the_original_is_the_users_word_unless_a_coarse_flow_recorded_it(
    tmp_path: Path, producer: str, outcome: Outcome
) -> None:
    job = _job(tmp_path, {"probs": ANSWER + 1e-3})
    golden = _golden(tmp_path / "old", OLD, {"x": np.array([[7, 9]])}, {"y": ANSWER}, producer)
    assert job.case.original is not None
    case = replace(job.case, original=replace(job.case.original, golden=golden))
    result = _judged(replace(job, case=case))
    assert result.outcome is outcome
    assert (result.reference.producer, result.reference.own_inputs) == ("reference-f64", True)


def test_the_new_model_is_fed_what_the_original_is_fed_in_its_own_type_and_refused_what_does_not_fit(
    tmp_path: Path,
) -> None:
    job = _job(tmp_path, {"probs": ANSWER})
    assert job.case.original is not None
    inputs, _ = inputs_of_original(job, job.case.original)
    assert inputs[0]["ids"].dtype == np.int32
    assert inputs[0]["ids"].tolist() == [[7, 9]]
    _golden(tmp_path / "old", OLD, {"x": np.array([[7, 2**40]])}, {"y": ANSWER})
    with pytest.raises(UsageError, check=says("input 'ids': int32 does not hold the values that the reference is fed")):
        inputs_of_original(job, job.case.original)
    _golden(tmp_path / "old", OLD, {"x": np.array([[7]])}, {"y": ANSWER})
    with pytest.raises(
        UsageError, check=says("input 'ids' of the new model has shape [1, 2], and the reference is fed [1, 1]")
    ):
        inputs_of_original(job, job.case.original)
