"""An artifact that was kept is not taken again once a file that an option names has changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.outcome import Outcome
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.worker.stages import Stages
from judged_job import execute_judged

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:tvm", "ignore::DeprecationWarning")


def test_other_records_lower_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 256]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "one", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    records = tmp_path / "records"
    shutil.copytree(Path(__file__).parent / "tvm_records", records)
    (tmp_path / "scratch").mkdir()
    flow = Flow("tuned", "tvm", options={"records": str(records)})
    model, x = open_model(tmp_path / "m.onnx"), np.linspace(-1, 1, 64 * 256, dtype=np.float32).reshape(64, 256)
    provenance = {
        "seed": 0,
        "producer": "numpy",
        "producer_version": "1",
        "who": "test",
        "reason": "relu",
        "created_at": "",
    }
    golden = tmp_path / "golden"
    write_golden(golden, model=model, inputs=[{"x": x}], outputs=[{"y": np.maximum(x, 0)}], **provenance)
    case = Case("own/relu", model, Inputs(golden=str(golden)))
    job = VerifyJob(case, flow, scratch=str(tmp_path / "scratch"), reuse=True)

    def reused() -> bool:
        result = execute_judged(job, Stages(lambda stage: None))
        assert result.outcome is Outcome.OK, result.detail
        return bool(result.facts.reused)

    assert [reused(), reused()] == [False, True]
    file = records / "database_tuning_record.json"
    # Vectors of 8 instead of 16.
    file.write_text(json.dumps(json.loads(file.read_text().replace('"None",16', '"None",8'))) + "\n")
    assert not reused()
