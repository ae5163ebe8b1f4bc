"""A changed model on its own cache, where that cannot be asked: the verdict is inconclusive, and never a pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.backends.onnx_reference import Reference
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.golden import GoldenLock
from assay.core.job import VerifyJob
from assay.core.note import NoteCode
from assay.core.schedules import NAMES
from assay.judge.words.note_text import note_text
from assay.models.goldens import Golden
from assay.models.onnx_file import open_model
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.own_cache import own_schedules
from small_models import linear_model

LOGITS = [{"logits": np.zeros((1, 1, 2))}] * 2


@pytest.mark.parametrize(
    ("schedule", "unasked"), [("steps", NoteCode.OWN_CACHE_NOT_ASKED), ("prefix", None)], ids=["cached", "uncached"]
)
def test_a_golden_that_does_not_say_which_calls_follow_one_another(
    schedule: str, unasked: NoteCode | None, tmp_path: Path
) -> None:
    path = linear_model(tmp_path / "m.onnx")
    job = VerifyJob(Case("m", open_model(path), Inputs()), Flow("reference", "reference"))
    labels = {"schedule": np.array([0, NAMES.index(schedule)]), "prefix": np.array([[[0]], [[0]]])}
    lock = GoldenLock("", "m", 2, 0, "", "", "", "", "", ())
    golden = Golden(lock, [{"x": np.zeros((2, 4), np.float32)}] * 2, LOGITS, labels)
    quantized = TransformedModel(path, standard=path)
    schedules = own_schedules(job, Reference().lower(path, job.flow), quantized, golden, LOGITS)
    note = schedules.unasked
    assert (schedules.disagree, note and note.code, schedules.figures) == ((), unasked, {} if unasked else None)
    assert note is None or note_text(note) == (
        "own cache not asked: the golden does not say which calls follow one another; a check of this model without --reference asks it"
    )
