"""Where the time of one call goes, where the engine profiles its operators."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from assay.core.measurement import OperatorTime
from assay.core.note import NoteCode, NoteWarning, noted
from assay.ports import Engine, ProfilesOperators, Tensor
from assay.worker.describe_exception import reason_of


def operator_times(engine: Engine, feed: Mapping[str, Tensor]) -> tuple[OperatorTime, ...]:
    """From the backend's own profile; () where it has none. What a profile fails in is no failure of the engine."""
    if not isinstance(engine, ProfilesOperators):
        return ()
    try:
        return tuple(engine.operator_times(feed))
    except Exception as error:  # noqa: BLE001  the profile explains a verdict; it must not change it
        failed = noted(NoteCode.OPERATORS_NOT_TIMED, exception=type(error).__name__, error=reason_of(error))
        warnings.warn(NoteWarning(failed), stacklevel=2)
        return ()
