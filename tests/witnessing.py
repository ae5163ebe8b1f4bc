"""Workers whose evaluator is wrong: what a witness has to find."""

from __future__ import annotations

from pathlib import Path

import pytest

BROKEN = """
import numpy as np
from assay.numerics.oracle.evaluator import KERNELS

KERNELS["{operator}"] = lambda call: ({answer},)
"""
"""An evaluator that is wrong in one operator: loaded by every worker before anything else."""


def start_workers_with(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "first").mkdir()
    (folder / "first" / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(folder / "first"))
