"""On which machines a command runs its jobs: those that --on names, else those of [launch] in assay.toml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.options.groups import DEFAULT_CONFIG, HERE

if TYPE_CHECKING:
    from assay.config.assay_toml import Config
    from assay.options.run import RunOptions


def place_of(on: str, config: Config | None = None) -> str:
    """As `open_services` takes it, "" for this machine. Without a `config` ./assay.toml is asked, where there is one. Raises BadPolicy."""
    place = on or (config.on if config else _configured())
    return "" if place == HERE else place


def place_of_suites(options: RunOptions) -> str:
    """A part of a suite, as repro lines and shards are, is not shared out because assay.toml says so of the whole."""
    place = place_of(options.on)
    is_part = options.only or options.shares or options.shard != "1/1"
    return "" if is_part and is_slurm(place) and not options.on else place


def is_slurm(place: str) -> bool:
    return place.partition("://")[0] == "slurm"


def _configured() -> str:
    """Quick where there is nothing to read: `assay run` asks before it starts its workers."""
    path = Path(DEFAULT_CONFIG)
    try:
        if "launch" not in path.read_text(encoding="utf-8", errors="replace"):
            return ""
    except OSError:
        return ""
    from assay.config.toml_errors import read

    if not read(path).data.get("launch"):
        return ""
    from assay.config.assay_toml import load_place

    return load_place(path)
