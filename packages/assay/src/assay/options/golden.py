"""The options of `assay golden record`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.core.golden import FORMS
from assay.options.declaration import option
from assay.options.groups import HistoryOptions
from assay.options.model_groups import DataOptions, RandomOptions, StatedOptions

REFERENCE = "reference"


@dataclass(frozen=True, kw_only=True)
class RecordOptions(DataOptions, StatedOptions, RandomOptions, HistoryOptions):
    """What is recorded, from what, and why."""

    model: Path = option(Path(), "ONNX file.", metavar="MODEL", argument=True, needed=True)
    folder: Path = option(Path(), "Golden folder.", metavar="GOLDEN", argument=True, needed=True)
    reason: str = option("", "Why the golden is right; stored in golden.lock.", needed=True)
    flow: str = option(REFERENCE, "Flow that computes the outputs.")
    inputs: str = option(
        "", "Your own inputs: another golden, .npy, .npz, a folder, images, prompts, module:function...", metavar="DATA"
    )
    keep_outputs: bool = option(False, "Store the outputs that the data contain, not those of the flow.")
    form: str = option(
        "",
        "How answers to prompts are kept: their tokens alone, which the reference answers again; a sketch of each, of at most 4 kB; or "
        "whole [ids by the reference, sketch by another flow; all else whole].",
        choices=FORMS,
    )
    seed: int = option(0, "Random seed of the inputs (ignored with --inputs).")
    samples: int | None = option(16, "Number of random samples (ignored with --inputs).", least=1)
    batch: int | None = option(1, "Batch size of random samples (ignored with --inputs).", least=1)
