"""Whether what a backend does unasked is why its answers are wrong: the engine once more, with that turned off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from assay.core.engine_info import EngineInfo, NumericDefault
from assay.core.job import VerifyJob
from assay.errors import AssayError
from assay.ports import Engine
from assay.worker.engine.lower import load, lower
from assay.worker.stages import Stages

MOST = 2
"""Defaults that are looked at one by one, each at the price of an engine."""


def tried(job: VerifyJob, facts: EngineInfo, is_right: Callable[[Engine], bool]) -> EngineInfo:
    """The same facts, each default that an option of the flow turns off with what came of it: first all of them together, then, where
    that cures, one by one. Where none does it alone, they do it together. `is_right` runs an engine and holds its answers."""
    defaults = [default for default in facts.numeric_defaults if default.option]
    if not defaults:
        return facts
    together = _cures(job, defaults, is_right)
    cures_by_name = dict.fromkeys((numeric_default.name for numeric_default in defaults), together)
    if together and len(defaults) > 1:
        alone = [
            numeric_default.name for numeric_default in defaults[:MOST] if _cures(job, [numeric_default], is_right)
        ]
        cures_by_name.update(
            (numeric_default.name, not alone or numeric_default.name in alone) for numeric_default in defaults
        )
    with_cures = (
        msgspec.structs.replace(default, cures=cures_by_name.get(default.name)) for default in facts.numeric_defaults
    )
    return msgspec.structs.replace(facts, numeric_defaults=tuple(with_cures))


def _cures(job: VerifyJob, defaults: Sequence[NumericDefault], is_right: Callable[[Engine], bool]) -> bool | None:
    """None where the engine cannot be built or run so."""
    options = {**job.flow.options, **{default.option: default.off for default in defaults}}
    # Another engine than the one that an earlier job may have left.
    other = msgspec.structs.replace(job, artifact_dir="", flow=msgspec.structs.replace(job.flow, options=options))
    apart = Stages(lambda stage: None)  # no time of the engine that is judged
    try:
        return is_right(load(lower(other, apart), other, apart))
    except (AssayError, RuntimeError, ValueError):
        return None
