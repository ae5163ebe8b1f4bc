"""Authored cases: the program for those who read programs, the ONNX file for others, and how inputs lie in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from assay.core.case import Case, Inputs
from assay.core.job import DeriveToleranceJob, VerifyJob
from assay.core.outcome import Outcome, Stage
from assay.judge.words.note_text import note_text
from assay.models.conversion import program_to_onnx
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.plugins import find_flow
from assay.ports import Suite
from assay.suites.build_cases import SIZES
from assay.suites.models import Models
from assay.suites.operators import Operators
from assay.worker.engine.calibration import calibration_split
from assay.worker.engine.model_format import model_path
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.stages import Stages
from installed import needs
from int8_sums import skip_where_sums_saturate
from judged_job import execute_judged as execute

pytestmark = needs("torch", "onnxscript")


def _made(suite: Suite, name: str) -> Case:
    ((made, why),) = suite.make([case for case in suite.cases(seed=0) if case.name == name], workers=1)
    assert not why
    return made


@pytest.mark.slow
def test_programs_go_to_those_who_read_them_and_an_open_batch_is_tried_at_three_sizes() -> None:
    made = _made(Models(), "models/mlp-dynamic")
    assert Path(made.model.source).name == "model.onnx"
    assert list(made.inputs.dims.values()) == [SIZES]
    jobs = {name: VerifyJob(made, find_flow(name)) for name in ("onnxruntime", "torch-eager")}
    assert model_path(jobs["torch-eager"], "torch").name == "model.pt2"
    assert model_path(jobs["onnxruntime"], "onnx").name == "model.onnx"
    for name in ("onnxruntime", "torch-eager"):
        result = execute(jobs[name], Stages(lambda stage: None))
        assert result.outcome is Outcome.OK, result.detail
        assert result.facts.transforms == ()
        assert sorted(comparison.at for comparison in result.comparisons) == [
            "",
            *(f"{next(iter(made.inputs.dims))}={n}" for n in (2, 5, 8)),
        ]


def test_what_the_exporter_lacks_is_a_program_alone_and_a_flow_of_onnx_says_so(tmp_path: Path) -> None:
    from assay.errors import Unsupported

    made = _made(Operators(), "operators/cdist-float32-smoke-5x3_7x3")
    assert (Path(made.model.source).name, made.program) == ("model.pt2", None)
    assert execute(VerifyJob(made, find_flow("torch-eager")), Stages(lambda stage: None)).outcome is Outcome.OK
    with pytest.raises(Unsupported, match="No ONNX function found"):
        program_to_onnx(Path(made.model.source), tmp_path / "model.onnx")


def test_a_tolerance_that_the_exporter_refuses_leaves_its_process_to_the_next_job(tmp_path: Path) -> None:
    """What a converter imports is accepted behind its stage alone: behind a refusal, too, or each such case needs a new process."""
    made = _made(Operators(), "operators/cdist-float32-smoke-5x3_7x3")
    job = DeriveToleranceJob(made, tolerance_dir=str(tmp_path / "tolerance"), precision="float32")
    accepted = list[Stage]()
    assert execute(job, Stages(lambda stage: None, accepted.append)).outcome is Outcome.OK
    assert accepted == [Stage.TRANSFORM, Stage.RUN, Stage.SAVE]


def test_each_flow_owes_the_types_that_its_own_form_of_the_model_declares() -> None:
    """The exporter makes float of the absolute value of float16; torch gives float16, and was red."""
    made = _made(Operators(), "operators/abs-float16-smoke-20")
    assert made.program is not None
    assert [form.outputs[0].dtype for form in (made.program, made.model)] == ["float16", "float32"]
    for name in ("torch-eager", "onnxruntime"):
        result = execute(VerifyJob(made, find_flow(name)), Stages(lambda stage: None))
        assert result.outcome is Outcome.OK, result.detail


@pytest.mark.parametrize(
    ("layout", "flags"), [("", (True, False)), ("strided", (False, False)), ("channels-last", (False, False))]
)
def test_an_engine_is_fed_as_the_case_says(
    layout: str, flags: tuple[bool, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.backends.onnx_reference import Reference

    seen: list[Any] = []

    class Seeing(Reference):
        def load(self, folder: Path, flow: Any) -> Any:
            engine = super().load(folder, flow)
            run = engine.run
            engine.run = lambda tensors: (seen.extend(tensors.values()), run(tensors))[1]
            return engine

    monkeypatch.setattr("assay.worker.engine.lower.backend_class", lambda name: Seeing)
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)
    model = open_model(_relu(tmp_path))
    write_golden(
        tmp_path / "golden", model=model, inputs=[{"x": x}], outputs=[{"out0": np.maximum(x, 0)}], seed=0, producer="t",
        producer_version="", who="t", reason="t", created_at="",
    )  # fmt: skip
    case = Case("c", model, Inputs(golden=str(tmp_path / "golden"), layout=layout))
    result = execute(VerifyJob(case, find_flow("reference")), Stages(lambda stage: None))
    assert result.outcome is Outcome.OK, result.detail
    assert all((array.flags.c_contiguous, array.flags.f_contiguous) == flags for array in seen)
    given = [np.array_equal(array, x) for array in seen]
    assert given[:2] == [True, False], "the sample, and other inputs to see whether they matter"
    assert given[2:], "the sample again, and again"
    assert all(given[2:])


def _relu(folder: Path) -> Path:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3, 4, 5]) for name in ("x", "out0")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["out0"])], "g", values[:1], values[1:])
    path = folder / "relu.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


def test_a_case_of_a_suite_is_calibrated_on_resamplings_of_its_one_sample() -> None:
    skip_where_sums_saturate()
    from assay.pipeline.progress import SILENT
    from assay.pipeline.run_suites import make

    suite = Operators()
    asked = [
        case for case in suite.cases(seed=0) if case.name == "operators/linear-float32-smoke-5x16-size=8,bias=True"
    ]
    ((made,), _) = make((suite,), asked, 1, SILENT)
    result = execute(VerifyJob(made, find_flow("onnxruntime-int8-qdq-per-channel")), Stages(lambda stage: None))
    assert result.outcome is Outcome.OK, result.detail
    assert {comparison.output: comparison.at for comparison in result.against_float} == {"out0": ""}, (
        "the loss of quantizing is measured, too"
    )
    job = VerifyJob(made, find_flow("onnxruntime-int8-qdq-per-channel"))
    (own,), calibration = load_golden(job).inputs, calibration_split(job)
    assert len(calibration.samples) == len(calibration.indices) == 32
    assert 0 not in calibration.indices
    for sample in calibration.samples:
        for name, array in own.items():
            assert (sample[name].shape, sample[name].dtype) == (array.shape, array.dtype)
            assert not np.array_equal(sample[name], array), "what is judged does not calibrate"
            assert np.isin(sample[name], array).all(), "its values lie where the operator is defined"
    (given,) = asked
    ((kept, _),) = suite.make([given], workers=1)
    refused = execute(VerifyJob(kept, find_flow("onnxruntime-int8-qdq-per-channel")), Stages(lambda stage: None))
    assert refused.ended is not None
    assert "leaves none to judge" in note_text(refused.ended), (
        "a golden of a user's own is not judged by what calibrated"
    )
