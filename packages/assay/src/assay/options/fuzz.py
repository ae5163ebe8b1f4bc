"""The options of `assay fuzz`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.options.declaration import option
from assay.options.groups import AlertOptions, ConfiguredHistoryOptions, FlowOptions, WorkerOptions


@dataclass(frozen=True, kw_only=True)
class FuzzOptions(FlowOptions, WorkerOptions, ConfiguredHistoryOptions, AlertOptions):
    """What a user may say."""

    seconds: float = option(600.0, "How long: 90s, 30m, 8h [10m].", flag="--for", metavar="TIME", kind="time")
    cases: int = option(0, "End after so many cases of each generator on each flow. 0: when the time is over.", least=0)
    seed: int | None = option(None, "Seed of all cases [that of the corpus, else 0].")
    generators: tuple[str, ...] = option(
        (), "Only cases of this generator. Repeatable [all].", flag="--generator", metavar="NAME"
    )
    corpus: Path | None = option(
        None, "Folder of the session, which a later call goes on with [fuzz, in the history].", metavar="FOLDER"
    )
    near: Path | None = option(
        None, "Folder of ONNX models whose subgraphs are taken, and changed a step at a time.", metavar="FOLDER"
    )
    learn: float = option(
        0.0,
        "First find out, for this long on each flow, which operators it compiles together, and draw from these: 2m.",
        metavar="TIME",
        kind="time",
    )
    command: str = "assay fuzz"
