"""A language model on prompts: right in every schedule, and each fault of its graph named by the schedule that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from language_model import FAULTS, write

PROMPTS = "[1, 2, 3, 4, 5, 6, 7]\n[3, 1, 4, 1, 5]\n[2, 7, 1]\n"
SHOWS = {
    "sees the next token": "in one call that ends earlier",
    "counts positions from each call's first": "in pieces, on the cache",
    "loses the newest of the cache": "in pieces, on the cache",
    "reads a batch mate": "beside other prompts in a batch",
    "counts positions back from the end of a row": "before padding, beside longer prompts",
    "sees padding": "behind padding, beside longer prompts",
}


def _check(folder: Path, fault: str) -> VerifyResult:
    prompts = folder / "prompts.jsonl"
    prompts.write_text(PROMPTS, "utf-8")
    model = write(folder / "lm.onnx", fault)
    checked = assay.check(model, inputs=prompts, measure=False, history=folder / ".assay")
    (result,) = checked.results
    assert isinstance(result, VerifyResult)
    return result


def test_a_right_one_gives_one_answer_however_it_is_fed(tmp_path: Path) -> None:
    result = _check(tmp_path, "")
    assert result.outcome is Outcome.OK, result.detail
    schedules = {name: size for name, size in result.task_metrics.items() if name.startswith("schedule_kl_")}
    assert len(schedules) == 6
    assert max(schedules.values()) < 1e-9
    assert result.task_metrics["kl_max"] < 1e-9


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault_name, marks=[] if fault_name == "sees padding" else pytest.mark.slow)
        for fault_name in FAULTS
        if fault_name
    ],
)
def test_a_wrong_graph_is_blamed_whatever_runs_it(tmp_path: Path, fault: str) -> None:
    result = _check(tmp_path, fault)
    assert result.outcome is Outcome.MISMATCH
    assert f"otherwise when it is fed {SHOWS[fault]}: " in result.detail
    assert [finding.kind for finding in result.findings] == ["schedule"]
