"""`--trace`: the backend's own profile beside the result, named by the report, and not for ever."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.core.result_parts import traces_of
from assay.errors import UsageError
from assay.pipeline.kept_files.run_folders import RUNS_KEPT
from assay.reports.html_detail import detail
from assay.reports.rows import rows
from assay.reports.terminal import Terminal


def test_a_trace_lies_below_the_history_and_old_ones_go(linear: Path, tmp_path: Path) -> None:
    history = tmp_path / "history"
    old = [history / "traces" / f"20250101T0000{number:02}-abcdef" / "m" / "f" for number in range(RUNS_KEPT)]
    for folder in old:
        folder.mkdir(parents=True)
    checked = assay.check(linear, flows=["onnxruntime"], trace=True, measure_seconds=0.05, history=history)
    (path,) = [path for result in checked.results for path in traces_of(result)]
    assert Path(path).parent.parent.parent == history.absolute() / "traces" / checked.run.id
    events = json.loads(Path(path).read_text())
    assert any(event["ph"] == "X" and event["name"].endswith("_kernel_time") for event in events)
    (row,) = rows(checked.run, checked.results, checked.judgement)
    assert [path, Path(path).as_uri()] in [
        link for entry in detail(checked.run, row)["entries"] for link in entry["traces"]
    ]  # type: ignore[attr-defined]
    assert f"\n  {path}\n" in Terminal(width=80).render(checked.run, checked.results, checked.judgement)
    assert [folder.exists() for folder in old] == [False] + [True] * (RUNS_KEPT - 1)


def test_a_flow_that_has_none_says_why_beside_the_files(linear: Path, tmp_path: Path) -> None:
    flows = ["onnxruntime", "reference"]
    checked = assay.check(linear, flows=flows, trace=True, measure_seconds=0.05, history=tmp_path / "history")
    shown = Terminal(width=200).render(checked.run, checked.results, checked.judgement)
    _, _, traces = shown.partition("\nTraces (open those in .json with ui.perfetto.dev):\n")
    first, second = traces.splitlines()[:2]
    assert first.endswith("/onnxruntime.json")
    assert second == "  reference: no trace: not available: backend reference writes no profile"


def test_nothing_is_measured(linear: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--trace keeps a profile of what is measured, and nothing is"):
        assay.check(linear, trace=True, only_kind="verify", history=tmp_path)
