"""What backends that fix sizes are given: the sizes of the golden's samples, or those that were planned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from assay.core.case import Case, Inputs
from assay.core.flow import Flow, sizes_to_build
from assay.core.job import MeasureJob
from assay.core.job_base import Job
from assay.core.limits import Measuring
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.worker.inputs.sample_sizes import sample_sizes

_FLOW = Flow("f", "ncnn")
# Two halvings, which must meet again: the sides are multiples of four.
_STRIDES = """g (float[n, 1, ?, w] x) => (float[n, 1, a, b] y) {
    half = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(x)
    quarter = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(half)
    scales = Constant<value = float[4] {1, 1, 2, 2}>()
    again = Resize(quarter, "", scales)
    y = Add(half, again)
}"""


def _job(tmp_path: Path, inputs: Inputs = Inputs(), **more: object) -> Job:
    path = tmp_path / "m.onnx"
    text = f'<ir_version: 9, opset_import: ["" : 17]>\n{_STRIDES.replace("?", "anything")}'
    proto = onnx.parser.parse_model(text)
    proto.graph.input[0].type.tensor_type.shape.dim[2].ClearField("dim_param")
    onnx.save(proto, path)
    return MeasureJob(Case("m", open_model(path), inputs), _FLOW, **more)  # type: ignore[arg-type]


def _golden(job: Job, folder: Path, *sides: int) -> Inputs:
    inputs = [{"x": np.ones((2, 1, side, side + 4), np.float32)} for side in sides]
    outputs = [{"y": np.ones((2, 1, side // 2, side // 2 + 2), np.float32)} for side in sides]
    write_golden(
        folder, model=job.case.model, inputs=inputs, outputs=outputs, labels={}, seed=0, producer="given",
        producer_version="", who="", reason="", created_at="",
    )  # fmt: skip
    return Inputs(golden=str(folder))


def test_planned_sizes_are_given_by_input_and_axis(tmp_path: Path) -> None:
    assert sample_sizes(_job(tmp_path)) == {"x[0]": (1, 1, 1), "x[2]": (16, 16, 16), "x[3]": (16, 16, 16)}


def test_a_golden_has_its_own_sizes_and_measured_batches_are_within(tmp_path: Path) -> None:
    job = _job(tmp_path)
    recipe = _golden(job, tmp_path / "golden", 12, 8, 20)
    sizes = sample_sizes(_job(tmp_path, recipe, measuring=Measuring(batches=(0, 4))))
    assert sizes == {"x[0]": (2, 2, 4), "x[2]": (8, 12, 20), "x[3]": (12, 16, 24)}


def test_stated_sizes_are_planned_and_stay_a_range(tmp_path: Path) -> None:
    stated = {"w": (8, 32, 64), "x[2]": (4, 12, 12)}
    job = _job(tmp_path, Inputs(dims=stated))
    flow = Flow("f", "ncnn", dims=stated, sample_sizes=sample_sizes(job))
    assert sizes_to_build(flow, job.case.model.inputs) == {"n": (1, 1, 1), "x[2]": (4, 12, 12), "w": (8, 32, 64)}


def test_a_golden_outside_of_what_is_stated_widens_it(tmp_path: Path) -> None:
    recipe = _golden(_job(tmp_path), tmp_path / "golden", 12)
    job = _job(tmp_path, recipe)
    flow = Flow("f", "ncnn", dims={"w": (64, 96, 128)}, sample_sizes=sample_sizes(job))
    assert sizes_to_build(flow, job.case.model.inputs)["w"] == (16, 16, 128)
