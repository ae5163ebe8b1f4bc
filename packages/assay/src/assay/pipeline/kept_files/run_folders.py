"""Folders that a run leaves below the history, one for each case and flow, and for how long."""

from __future__ import annotations

import shutil
from pathlib import Path

from assay.pipeline.adapters import Services
from assay.pipeline.baselines.find_baseline import ARTIFACT, safe_name

RUNS_KEPT = 10
CANDIDATES, TRACES = "candidates", "traces"


def candidate_dir(services: Services, run_id: str, case: str, flow: str) -> Path:
    """Where that run leaves the artifact of this cell; `ARTIFACT` is its last part, the types of its inputs lie beside it. What is
    approved later is the engine that passed, not one built again."""
    return _folder(services, CANDIDATES, run_id, case, flow) / ARTIFACT


def trace_dir(services: Services, run_id: str, case: str, flow: str) -> Path:
    """Where that run leaves the backend's profile of this cell."""
    return _folder(services, TRACES, run_id, case, flow)


def prune(services: Services, kind: str) -> None:
    """Those of all but the last `RUNS_KEPT - 1` runs go: another is about to begin."""
    paths = sorted(path for path in (services.folder / kind).glob("*") if path.is_dir())
    gone = paths[: max(0, len(paths) - RUNS_KEPT + 1)]
    for path in gone:
        shutil.rmtree(path, ignore_errors=True)
    services.files.forget([services.files.name_of(path) for path in gone])


def _folder(services: Services, kind: str, run_id: str, case: str, flow: str) -> Path:
    return (services.folder / kind / run_id / safe_name(case) / safe_name(flow)).absolute()
