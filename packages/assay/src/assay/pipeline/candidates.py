"""Engines of checks beside a baseline, kept for a while: what is approved is the engine that passed, not one built again."""

from __future__ import annotations

import shutil
from pathlib import Path

from assay.pipeline.find_baseline import ARTIFACT, safe_name
from assay.pipeline.services import Services

RUNS_KEPT = 10


def candidate_dir(services: Services, run_id: str, case: str, flow: str) -> Path:
    """Where that run leaves the artifact of this cell; `ARTIFACT` is its last part, the types of its inputs lie beside it."""
    return (services.folder / "candidates" / run_id / safe_name(case) / safe_name(flow) / ARTIFACT).absolute()


def prune_candidates(services: Services) -> None:
    """Those of all but the last `RUNS_KEPT - 1` runs go: another is about to begin."""
    found = sorted(path for path in (services.folder / "candidates").glob("*") if path.is_dir())
    for path in found[: max(0, len(found) - RUNS_KEPT + 1)]:
        shutil.rmtree(path, ignore_errors=True)
