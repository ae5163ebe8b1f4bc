"""The tables of a day with a GPU, where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.core.job_base import JobKind

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import gpu_table  # noqa: E402


@pytest.mark.parametrize(("reason", "differs"), [("same: 0.1 % CPU time", False), ("slower by 20 %", True)])
def test_a_row_of_a_comparison_is_that_of_its_comparing_job(
    reason: str, differs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [
        {"job": {"kind": str(kind)}, "word": "pass", "reason": why}
        for kind, why in ((JobKind.COMPARE_SPEED, reason), (JobKind.MEASURE, "median 0.2 ms"))
    ]
    monkeypatch.setattr(gpu_table, "_assay", lambda *_, **__: ({"jobs": jobs}, ""))
    row = gpu_table.compared(tmp_path, "an engine with itself", "", ("onnxruntime",), ("same",))
    assert row["reason"] == reason
    assert bool(row["differs"]) == differs


def test_a_day_that_is_cut_off_leaves_the_rows_that_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(_: Path) -> object:
        yield {"flow": "torch-eager-cuda", "model": "classifier", "verdict": "pass", "s": 1.0, "differs": ""}
        raise KeyboardInterrupt

    monkeypatch.setattr(gpu_table, "_rows", rows)
    with pytest.raises(KeyboardInterrupt):
        gpu_table.main(tmp_path)
    assert "| torch-eager-cuda | classifier | pass |" in (tmp_path / "gpu.md").read_text()
