"""A conversion is a stage of the job, in the environment of the flow."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.core.outcome import Stage
from assay.core.refusals.model_codes import ModelCode
from assay.errors import Unavailable
from assay.testing.builders import make_job
from assay.worker.engine.model_format import convert
from assay.worker.stages import Stages


def test_what_torch_would_convert_is_unavailable_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    stages = Stages(lambda stage: None)
    with pytest.raises(Unavailable) as raised:
        convert(tmp_path / "net.pt2", "onnx", make_job("net", "onnxruntime", "verify"), stages)
    assert raised.value.note is not None
    assert raised.value.note.code == ModelCode.CONVERSION_WITHOUT_TORCH
    assert stages.reached is Stage.IMPORT
