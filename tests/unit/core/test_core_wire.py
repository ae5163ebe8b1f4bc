"""What crosses the wall comes back equal, and nonsense is refused."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.job_base import JobKind
from assay.core.note import NoteCode, noted
from assay.core.outcome import Stage
from assay.core.step import UNKNOWN, Step
from assay.core.wire import (
    SHARED_BYTES,
    Changed,
    Done,
    crumb,
    decode_answer,
    decode_job,
    encode,
    stage_of,
    step_bytes,
    step_of,
)
from assay.testing.builders import make_job, make_result


@pytest.mark.parametrize("kind", list(JobKind))
def test_a_job_of_every_kind_comes_back_equal(kind: JobKind) -> None:
    job = make_job(kind=kind)
    assert (decode_job(encode(job)), job.kind) == (job, kind)


@pytest.mark.parametrize("kind", list(JobKind))
def test_a_result_of_every_kind_comes_back_equal(kind: JobKind) -> None:
    result = make_result(kind=kind)
    changed = (Changed.UMASK, Changed.TIMER)
    assert (decode_answer(encode(Done(result, changed))), result.kind) == (Done(result, changed), kind)


def test_a_field_of_another_kind_is_no_field_of_a_job() -> None:
    with pytest.raises(TypeError):
        make_job(kind="inspect", tolerance_dir="t")


def test_text_that_utf8_cannot_hold_is_escaped() -> None:
    result = make_result(detail="in \udcff", notes=(noted(NoteCode.LIBRARY_SAID, text="a \udcfe"),))
    answer = decode_answer(encode(Done(result)))
    assert isinstance(answer, Done)
    assert (answer.result.detail, answer.result.notes[0].facts) == ("in \\udcff", {"text": "a \\udcfe"})


def test_a_crumb_is_one_byte_and_tells_its_stage() -> None:
    assert {stage_of(crumb(stage)) for stage in Stage} == set(Stage)
    assert {len(crumb(stage)) for stage in Stage} == {1}
    assert stage_of(b"") is stage_of(b"\xff") is Stage.START


def test_nonsense_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_answer(b"\xc1")


def test_a_step_crosses_behind_the_crumb_and_what_no_worker_wrote_is_unknown() -> None:
    step = Step(2, 4, 3, 8)
    assert step_of(step_bytes(step)) == step
    assert len(step_bytes(step)) == SHARED_BYTES - 1
    assert step_of(step_bytes(Step(sample=2**40))).sample == 2**32 - 1
    assert step_of(b"") is UNKNOWN
