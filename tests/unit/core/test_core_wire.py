"""Frames survive any cut, and nonsense is refused."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.job import JobKind
from assay.core.outcome import Stage
from assay.core.step import UNKNOWN, Step
from assay.core.wire import (
    SHARED_BYTES,
    Done,
    Hello,
    crumb,
    decode_answer,
    decode_job,
    frame,
    split_frames,
    stage_of,
    step_bytes,
    step_of,
)
from assay.testing.builders import make_job, make_result

MESSAGES = [Hello("1"), Done(make_result()), Done(make_result(detail="x" * 300))]


@given(st.lists(st.integers(1, 400), min_size=1))
def test_messages_arrive_whole_however_the_stream_is_cut(steps: list[int]) -> None:
    stream = b"".join(frame(message) for message in MESSAGES)
    buffer, seen, at = bytearray(), [], 0
    for step in [*steps, len(stream)]:
        buffer += stream[at : at + step]
        at += step
        seen += [decode_answer(body) for body in split_frames(buffer)]
    assert seen == MESSAGES
    assert not buffer


@pytest.mark.parametrize("kind", list(JobKind))
def test_a_job_of_every_kind_comes_back_equal(kind: JobKind) -> None:
    job = make_job(kind=kind)
    (body,) = split_frames(bytearray(frame(job)))
    assert (decode_job(body), job.kind) == (job, kind)


@pytest.mark.parametrize("kind", list(JobKind))
def test_a_result_of_every_kind_comes_back_equal(kind: JobKind) -> None:
    result = make_result(kind=kind)
    (body,) = split_frames(bytearray(frame(Done(result))))
    assert (decode_answer(body), result.kind) == (Done(result), kind)


def test_a_field_of_another_kind_is_no_field_of_a_job() -> None:
    with pytest.raises(TypeError):
        make_job(kind="inspect", tolerance_dir="t")


def test_a_crumb_is_one_byte_and_tells_its_stage() -> None:
    assert {stage_of(crumb(stage)) for stage in Stage} == set(Stage)
    assert {len(crumb(stage)) for stage in Stage} == {1}
    assert stage_of(b"") is stage_of(b"\xff") is Stage.START


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="limit"):
        split_frames(bytearray(b"\xff\xff\xff\xff rest"))
    with pytest.raises(msgspec.DecodeError):
        decode_answer(b"\xc1")


def test_a_step_crosses_behind_the_crumb_and_what_no_worker_wrote_is_unknown() -> None:
    step = Step(2, 4, 3, 8)
    assert step_of(step_bytes(step)) == step
    assert len(step_bytes(step)) == SHARED_BYTES - 1
    assert step_of(step_bytes(Step(sample=2**40))).sample == 2**32 - 1
    assert step_of(b"") is UNKNOWN
