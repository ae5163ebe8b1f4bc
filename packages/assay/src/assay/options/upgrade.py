"""The options of `assay upgrade`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.options.declaration import option
from assay.options.groups import HistoryOptions, PolicyOptions, WorkerOptions


@dataclass(frozen=True, kw_only=True)
class UpgradeOptions(PolicyOptions, WorkerOptions, HistoryOptions):
    """What a user may say."""

    backend: str = option("", "Backend, or a flow of it.", metavar="BACKEND", argument=True, needed=True)
    old: str = option("", "Release that is deployed.", metavar="OLD", argument=True, needed=True)
    new: str = option("", "Release that may come.", metavar="NEW", argument=True, needed=True)
    models: Path = option(Path(), "Folder of ONNX files, or one file.", metavar="FOLDER", needed=True)
    golden: Path | None = option(
        None, "Folder with a golden folder for each model, by the name of its file.", metavar="FOLDER"
    )
    no_speed: bool = option(False, "Compare answers alone.")
    max_slowdown: float | None = option(
        None,
        "What the new release may cost in speed, in percent of each model's time [5; with --policy its min-slowdown-percent].",
        metavar="PERCENT",
        least=0.0,
    )
    launches: int = option(4, "Largest number of fresh pairs of engines for each model.", least=4)
    time_limit_s: float = option(
        120.0, "Seconds of triage for each model that is wrong.", flag="--time-limit", least=1.0
    )
    output: Path = option(Path("triage"), "Folder for the pages of causes.", metavar="FOLDER")
    command: str = "assay upgrade"
