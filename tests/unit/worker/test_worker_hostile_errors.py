"""What a backend raises, or warns of, may fail at whatever is asked of it: it is recorded all the same."""

from __future__ import annotations

import warnings

import pytest

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.testing.acts import ACTS
from assay.worker.dispatch import _failure
from assay.worker.native_warnings import is_native, note_of
from assay.worker.stages import Stages


class WarningWithoutClass(UserWarning):
    """It does not say what it is."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise ValueError("no class")


@pytest.mark.parametrize("act", ["class_fails", "name_fails"])
def test_an_error_that_does_not_say_what_it_is(act: str) -> None:
    job = VerifyJob(Case("c", Model("m", "m.onnx", "0")), Flow("f", "f"))
    try:
        ACTS[act].commit()
    except Exception as error:
        failed = _failure(job, error, Stages(lambda stage: None))
    assert failed.outcome is Outcome.ERROR
    assert failed.ended is not None
    assert (failed.ended.code, failed.ended.facts["error"]) == (NoteCode.RAISED, "words")


def test_a_warning_that_does_not_say_what_it_is() -> None:
    said = warnings.WarningMessage(WarningWithoutClass("words"), WarningWithoutClass, "library.py", 1)
    assert is_native(said)
    assert note_of(said).facts == {"text": "words"}
