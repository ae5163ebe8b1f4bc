"""A node where a library was half removed: the job is unavailable there, and no engine is blamed."""

from __future__ import annotations

import types

import pytest

from assay import plugins
from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.outcome import Cause, Outcome
from assay.errors import Lowering
from assay.ports import Availability
from assay.worker.dispatch import _failure
from assay.worker.stages import Stages

JOB = VerifyJob(Case("c", Model("m", "m.onnx", "0")), Flow("onnxruntime", "onnxruntime"))
EMPTY = types.ModuleType("onnxruntime")


@pytest.mark.parametrize(
    ("here", "outcome", "cause"),
    [
        (Availability(False, reason="gone.", install="pip install it"), Outcome.UNAVAILABLE, Cause.NOT_INSTALLED),
        (Availability(True, "1.2"), Outcome.ERROR, Cause.OTHER),
    ],
)
def test_a_name_is_missing_where_the_library_is(
    monkeypatch: pytest.MonkeyPatch, here: Availability, outcome: Outcome, cause: Cause
) -> None:
    monkeypatch.setattr(plugins, "availability", lambda name: here)
    try:
        EMPTY.SessionOptions()
    except AttributeError as error:
        failed = _failure(JOB, error, Stages(lambda stage: None))
    assert (failed.outcome, failed.cause) == (outcome, cause)


def test_a_backend_that_takes_a_missing_name_for_a_refusal_is_unavailable_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "availability", lambda name: Availability(False, reason="gone."))
    try:
        try:
            EMPTY.SessionOptions()
        except AttributeError as error:
            raise Lowering("refused") from error
    except Lowering as error:
        failed = _failure(JOB, error, Stages(lambda stage: None))
    assert failed.outcome is Outcome.UNAVAILABLE
