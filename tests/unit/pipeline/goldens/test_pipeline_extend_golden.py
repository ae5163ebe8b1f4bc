"""Golden sets of one model, put together."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.core.case import Contract
from assay.core.model import Model
from assay.models.goldens import read_golden, write_golden
from assay.pipeline.goldens.extend_golden import with_goldens
from assay.pipeline.request import ModelRequest
from assay.plugins import find_flow

MODEL = Model("net", "net.onnx", "0" * 64)


def _golden(folder: Path, value: float) -> Path:
    write_golden(
        folder, model=MODEL, inputs=[{"x": np.full(2, value)}], outputs=[{"y": np.full(2, 2 * value)}], seed=0, producer="by hand",
        producer_version="1", who="tests", reason="a test", created_at="2026-11-24T00:00:00+00:00", coarse=("int8",),
    )  # fmt: skip
    return folder


def test_two_sets_are_one_and_its_labels_are_nobodys(tmp_path: Path) -> None:
    asked = ModelRequest(
        path=Path("net.onnx"), flows=(find_flow("reference"),), contract=Contract(task_metric="classification")
    )
    both = with_goldens(asked, [_golden(tmp_path / "a", 1.0), _golden(tmp_path / "b", 2.0)], tmp_path)
    assert both.contract.task_metric is None
    golden = read_golden(Path(both.inputs.golden))
    assert [float(sample["x"][0]) for sample in golden.inputs] == [1.0, 2.0]
    assert golden.lock.coarse == ("int8",)
