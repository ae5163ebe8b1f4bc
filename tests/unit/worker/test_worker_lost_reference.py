"""Answers of the reference that are gone, or altered, while a run uses them: no fault of the engine that is compared with them."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from msgspec.structs import replace
from onnx import parser

from assay.core.case import Case, Inputs, Original
from assay.core.data import Data
from assay.core.job import ChangeJob, DeriveToleranceJob, InspectJob
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.judge.words.note_text import note_text
from assay.models.goldens import read_lock
from assay.testing.builders import make_job
from assay.worker import dispatch
from assay.worker.dispatch import execute
from assay.worker.stages import Stages


@pytest.mark.parametrize(("golden", "outcome"), [("", Outcome.INFRASTRUCTURE), ("golden", Outcome.ERROR)])
def test_a_reference_of_our_own_that_is_gone_blames_nobody(tmp_path: Path, golden: str, outcome: Outcome) -> None:
    job = make_job(scratch=str(tmp_path), reference_dir=str(tmp_path / "gone"))
    job = replace(job, case=replace(job.case, inputs=Inputs(golden=golden and str(tmp_path / golden))))
    result = execute(job, Stages(lambda stage: None))
    assert result.outcome is outcome
    assert "is no folder" in note_text(result.ended)


@pytest.mark.parametrize("lost", ["reference_dir", "original_dir"])
@pytest.mark.parametrize("golden", ["", "golden"])
@pytest.mark.parametrize("kind", ["change", "derive_tolerance"])
def test_so_do_jobs_without_an_engine_and_answers_of_an_original(
    tmp_path: Path, kind: str, golden: str, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, gone = tmp_path / "whole", str(tmp_path / "gone")
    given = golden and str(tmp_path / golden)
    model = Model("m", "m.onnx", "")
    case = Case("m", model, Inputs(golden=given), original=Original(model, golden=given))
    folders = {"reference_dir": str(whole), "original_dir": str(whole), lost: gone}
    job = {
        "change": lambda: ChangeJob(case, scratch=str(tmp_path), **folders),
        "derive_tolerance": lambda: DeriveToleranceJob(
            case, scratch=str(tmp_path), tolerance_dir=str(tmp_path / "t"), precision="float32", **folders
        ),
    }[kind]()
    monkeypatch.setattr(dispatch, "_handler_of", lambda kind: lambda job, stages: read_lock(Path(gone)))
    result = execute(job, Stages(lambda stage: None))
    assert result.outcome is (Outcome.ERROR if golden else Outcome.INFRASTRUCTURE)


def test_data_of_the_user_that_cannot_be_read_are_wrong_and_no_fault_of_the_machine(tmp_path: Path) -> None:
    data = tmp_path / "x.npz"
    data.write_bytes(b"no archive")
    model = tmp_path / "m.onnx"
    onnx.save(
        parser.parse_model('<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }'),
        model,
    )
    case = Case("m", Model("m", str(model), ""), Inputs(data=Data(str(data))))
    result = execute(InspectJob(case, data_dir=str(tmp_path / "data")), Stages(lambda stage: None))
    assert result.outcome is Outcome.ERROR
    assert "is no file of numpy" in note_text(result.ended)
