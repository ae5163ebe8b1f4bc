"""A case as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.core.screening import CaseId
from assay.ports.generator import GeneratedCase


def keep_case(case: GeneratedCase, folder: Path, name: CaseId) -> Path:
    """`NAME.onnx`, and `NAME.npz` beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / f"{name}.onnx"
    model.write_bytes(case.model)
    np.savez(folder / f"{name}.npz", allow_pickle=False, **dict(case.inputs))
    return model
