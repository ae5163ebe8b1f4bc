"""What triage finds of a model with a planted fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import ModelProto

from assay.commands.triage import run_triage
from assay.options.triage import TriageOptions
from assay.triage.cause import Cause

NODES = 36


def causes_of(model: ModelProto, tmp_path: Path, flow: str, name: str = "net", **options: Any) -> tuple[Cause, ...]:
    """Of a model on a flow."""
    path = tmp_path / f"{name}.onnx"
    onnx.save(model, path)
    asked = TriageOptions(
        target=str(path),
        flows=(flow,),
        options=options,
        history=str(tmp_path / "history"),
        output=tmp_path / "triage",
    )
    return run_triage(asked).causes
