"""Workers whose evaluator is wrong: what a witness has to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from warm_worker import BEFORE_WORKERS

BROKEN = """
import numpy as np
from assay.numerics.oracle.evaluator import KERNELS

KERNELS["{operator}"] = lambda call: ({answer},)
"""
"""An evaluator that is wrong in one operator: loaded by every worker before anything else."""


def start_workers_with(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker runs the code first, also one that is forked (`warm_worker.py`); the test works in `folder` from now on."""
    place = folder / BEFORE_WORKERS
    place.mkdir()
    (place / "sitecustomize.py").write_text(code)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(place))
