"""Whether given samples are enough to calibrate the flows that need it: before anything runs."""

from __future__ import annotations

from pathlib import Path

from assay import plugins
from assay.core.case import Case
from assay.errors import UsageError
from assay.models.goldens import read_lock
from assay.pipeline.request import ModelRequest


def check_calibration(wanted: ModelRequest, case: Case) -> None:
    """Raises UsageError where calibration would leave no sample to judge."""
    flow = next((one.name for one in wanted.flows if any(map(plugins.is_calibrated, one.transforms))), "")
    original = case.original.golden if case.original is not None else ""
    stored = original or case.inputs.golden or case.inputs.given
    if not flow or not stored:
        return
    from assay.models.calibration_samples import samples_taken

    given = wanted.inputs.data.source if wanted.inputs.data is not None else stored
    try:
        samples_taken(read_lock(Path(stored)).samples, case.inputs.calibration, given)
    except UsageError as error:
        raise UsageError(f"flow {flow!r}: {error}") from None
