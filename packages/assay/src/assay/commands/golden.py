"""`assay golden record` as a function."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay import plugins
from assay.commands.composition import open_services
from assay.commands.data_locations import source_of
from assay.commands.sources import NamedModels
from assay.config.option_values import data_of, with_stated
from assay.core.case import Inputs
from assay.core.golden import IDS, SKETCH, WHOLE, GoldenLock
from assay.core.limits import Limits
from assay.errors import UsageError
from assay.models.golden_checks import nan_notes
from assay.models.goldens import read_golden
from assay.models.own_data.prompts.read_prompts import PROMPTS
from assay.options.golden import REFERENCE, RecordOptions
from assay.pipeline.goldens import golden
from assay.pipeline.progress import SILENT, Progress
from assay.reports.format import model_source


def record_golden(options: RecordOptions, progress: Progress = SILENT) -> tuple[GoldenLock, list[str]]:
    """What was recorded, and what a reader should know of it, a line each. Raises UsageError."""
    if options.keep_outputs and options.form not in ("", WHOLE):
        raise UsageError(
            f"--keep-outputs stores answers as they are, and --form {options.form} does not; leave one out"
        )
    own_data = data_of(
        "", source_of(options.inputs), state=options.state, image=options.image, tokenizer=str(options.tokenizer)
    )
    data = msgspec.structs.replace(own_data, expected=options.keep_outputs) if own_data else None
    plain = Inputs()
    recipe = Inputs(
        seed=options.seed, samples=options.samples or plain.samples, batch=options.batch or plain.batch, data=data
    )
    recipe = with_stated(recipe, options)
    named = NamedModels()
    model, folder, reason = named.local(options.model), options.folder, options.reason
    with open_services(options.history, progress=progress) as services:
        if options.keep_outputs:
            lock, note = golden.keep(model, folder, recipe, reason, services, limits=Limits()), ""
        else:
            flow, form = plugins.find_flow(options.flow), _form(options)
            lock, note = golden.record(model, folder, recipe, flow, reason, services, limits=Limits(), form=form)
    outputs = read_golden(folder).outputs if lock.form == WHOLE else []
    return lock, [*filter(None, [*nan_notes(outputs), note, *map(model_source, named.found)])]


def _form(options: RecordOptions) -> str:
    """What prompts are kept as, where nobody says it."""
    if options.form or Path(options.inputs).suffix.lower() not in PROMPTS:
        return options.form or WHOLE
    return IDS if options.flow == REFERENCE else SKETCH
