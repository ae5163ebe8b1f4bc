"""Inputs and answers as a user finds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.errors import UsageError
from assay.models.goldens import Golden, read_golden
from assay.worker.verify.saving import save
from sentences import says
from small_models import golden_for, linear_model


def _job(tmp_path: Path, inputs: str = "", outputs: str = "") -> tuple[Job, Golden]:
    model = golden_for(linear_model(tmp_path / "linear.onnx"), tmp_path / "golden", samples=2)
    job = VerifyJob(Case("linear", model), Flow("mine", "reference"), save_inputs=inputs, save_outputs=outputs)
    return job, read_golden(tmp_path / "golden")


def test_an_npz_has_each_tensor_by_its_name_and_samples_in_front(tmp_path: Path) -> None:
    job, golden = _job(tmp_path, str(tmp_path / "new" / "in.npz"), str(tmp_path / "out.npz"))
    actual = [{"y": output["y"] + np.float32(1)} for output in golden.outputs]
    save(job, golden, actual, "1")
    with np.load(tmp_path / "new" / "in.npz") as inputs, np.load(tmp_path / "out.npz") as outputs:
        assert list(inputs) == ["x"]
        np.testing.assert_array_equal(inputs["x"], np.stack([sample["x"] for sample in golden.inputs]))
        np.testing.assert_array_equal(outputs["y"], np.stack([sample["y"] for sample in actual]))
    save(job, golden.first(1), actual[:1], "1")
    with np.load(tmp_path / "new" / "in.npz") as inputs:
        assert inputs["x"].shape == (1, 4)


def test_a_folder_is_a_golden_of_the_reference_or_of_the_engine(tmp_path: Path) -> None:
    job, golden = _job(tmp_path, str(tmp_path / "fed"), str(tmp_path / "answers"))
    actual = [{"y": output["y"] + np.float32(1)} for output in golden.outputs]
    save(job, golden, actual, "9.9")
    assert read_golden(tmp_path / "fed").lock.producer == "numpy"
    kept = read_golden(tmp_path / "answers", model_digest=job.case.model.digest)
    assert (kept.lock.producer, kept.lock.producer_version) == ("mine", "9.9")
    np.testing.assert_array_equal(kept.outputs[1]["y"], actual[1]["y"])


def test_samples_of_several_shapes_are_no_npz(tmp_path: Path) -> None:
    job, golden = _job(tmp_path, outputs=str(tmp_path / "out.npz"))
    with pytest.raises(
        UsageError, check=says("the samples of 'y' differ in shape, and an .npz holds one: give a folder instead")
    ):
        save(job, golden, [{"y": np.zeros(2)}, {"y": np.zeros(3)}], "1")
