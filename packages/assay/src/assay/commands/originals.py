"""What a user says of the model that another is to be still: the options of the command line, or the keys of assay.toml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.models.named_sources import is_named
from assay.options.check import CheckOptions
from assay.pipeline.originals import OriginalRequest

if TYPE_CHECKING:
    from assay.config.model_entries import ModelEntry


def original_asked(options: CheckOptions) -> OriginalRequest | None:
    """Of the command line; None where nobody asks. Raises UsageError for options that say nothing alone."""
    if options.golden_of_another_model and options.reference:
        raise UsageError(
            "--golden-of-another-model cannot go with --reference, whose golden --golden is already: leave one of them out"
        )
    if options.golden_of_another_model and not options.golden:
        raise UsageError("--golden-of-another-model says whose golden it is, and there is none: give it with --golden")
    maps = {"--map-input": options.map_inputs, "--map-output": options.map_outputs}
    if options.reference is None and not options.golden_of_another_model:
        if named := " and ".join(name for name, given in maps.items() if given):
            raise UsageError(f"{named} maps names of a model to those of its reference: give that with --reference")
        return None
    return OriginalRequest(path=options.reference, inputs=dict(options.map_inputs), outputs=dict(options.map_outputs))


def original_listed(entry: ModelEntry) -> OriginalRequest | None:
    """Of one [[model]]. Raises UsageError as above."""
    if entry.golden_of_another_model and not entry.inputs.golden:
        raise UsageError(f"model '{entry.name}': golden-of-another-model says whose golden it is: give it, too")
    if entry.golden_of_another_model and entry.reference:
        raise UsageError(
            f"model '{entry.name}': golden-of-another-model cannot go with reference: leave one of them out"
        )
    if not entry.reference and not entry.golden_of_another_model:
        if entry.map_inputs or entry.map_outputs:
            raise UsageError(f"model '{entry.name}': map-inputs and map-outputs need a reference: give it, too")
        return None
    path = _near(entry.reference) if entry.reference else None
    return OriginalRequest(path=path, inputs=entry.map_inputs, outputs=entry.map_outputs)


def _near(path: str) -> Path:
    if is_named(path):
        return Path(path)
    absolute = Path(os.path.abspath(path))
    return Path(os.path.relpath(absolute)) if absolute.is_relative_to(Path.cwd()) else absolute
