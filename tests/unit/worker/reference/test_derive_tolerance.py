"""What a user says of inputs holds for those that a derivation makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from assay.core.case import Case, Inputs
from assay.core.input_plan import InputRange
from assay.core.job import DeriveToleranceJob
from assay.core.model import Model
from assay.models.tolerance_file import read_tolerance
from assay.ports import Tensor
from assay.worker.reference import derive_tolerance
from assay.worker.stages import Stages

LOG = "<float low={1e-5}> { s = Mul(x, x) c = Clip(s, low) y = Log(c) }"
X = np.array([[1.5, 1.25]], np.float32)


class _Golden:
    inputs: Sequence[dict[str, Tensor]] = ({"x": X},)


@pytest.mark.parametrize(
    ("inputs", "asked"),
    [
        (Inputs(), True),
        (Inputs(ranges={"x": InputRange(0, 2)}), True),
        (Inputs(ranges={"x": InputRange(1, 2)}), False),
        (Inputs(golden="golden"), False),
        (Inputs(given="given"), False),
    ],
)
def test_guards_are_asked_within_what_is_stated(
    tmp_path: Path, inputs: Inputs, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m.onnx"
    graph = f'<ir_version: 8, opset_import: ["": 18]> g (float[1, 2] x) => (float[1, 2] y) {LOG}'
    onnx.save(parser.parse_model(graph), model)
    same: Any = lambda *given: given[-1]  # noqa: E731
    monkeypatch.setattr(derive_tolerance, "load_golden", lambda job: _Golden())
    monkeypatch.setattr(derive_tolerance, "evaluation_split", same)
    case = Case("m", Model("m", str(model), ""), inputs)
    job = DeriveToleranceJob(case, scratch=str(tmp_path), tolerance_dir=str(tmp_path / "t"), precision="float32")
    derive_tolerance.derive_tolerance(job, Stages(lambda stage: None))
    profile = read_tolerance(tmp_path / "t")
    assert profile is not None
    assert profile.header.reason is None
    assert bool(profile.guarded) == asked
