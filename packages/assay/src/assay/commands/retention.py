"""`assay history prune` as a function."""

from __future__ import annotations

from datetime import UTC, datetime

from assay.commands.composition import open_services
from assay.commands.known_environments import CONFIG
from assay.errors import UsageError
from assay.pipeline.kept_files.retention import Pruned, prune


def prune_history(history: str, *, samples_weeks: int | None, files_weeks: int | None) -> Pruned:
    """None: as [retention] of ./assay.toml says. Raises UsageError where nothing says how long anything is kept."""
    from assay.config.assay_toml import load_config

    config = load_config(CONFIG) if CONFIG.is_file() else None
    samples = samples_weeks if samples_weeks is not None else config.samples_weeks if config else 0
    files = files_weeks if files_weeks is not None else config.files_weeks if config else 0
    if not samples and not files:
        raise UsageError(
            "everything is kept for ever: give --samples-weeks or --files-weeks, or write samples-weeks and files-weeks in [retention] of "
            "assay.toml"
        )
    with open_services(history, recorded=True, config=config) as services:
        return prune(services, samples_weeks=samples, files_weeks=files, now=datetime.now(UTC))
