"""What crosses the wall between driver and worker: length-prefixed msgpack, no pickle.

The driver sends a `Job`; the worker answers with a `Hello` once, then for each job with one `Done`. Which stage it is in it
says in one byte of memory that both share, the crumb: a message would wake the driver six times a job, and the kernel keeps
the byte whatever becomes of the worker. The numbers behind it say how far the stage is.
"""

from __future__ import annotations

import struct

import msgspec

from assay.core.job import AnyJob, Job
from assay.core.outcome import Stage
from assay.core.result import AnyResult
from assay.core.step import UNKNOWN, Step

_LENGTH = struct.Struct(">I")
MAXIMUM_BYTES = 64 * 1024 * 1024
"""A longer message is a broken worker, not a result."""


class Hello(msgspec.Struct, frozen=True, tag=True):
    """The worker is up; `version` is its assay's."""

    version: str


class Done(msgspec.Struct, frozen=True, tag=True):
    """The job's result."""

    result: AnyResult


Answer = Hello | Done

_CRUMBS = {stage: bytes((number,)) for number, stage in enumerate(Stage)}
_STAGES = {byte: stage for stage, byte in _CRUMBS.items()}
_STEP = struct.Struct("<4I")
SHARED_BYTES = 1 + _STEP.size
"""Of the memory that driver and worker share: the crumb, and the step behind it."""
_LARGEST = 2**32 - 1
_encoder = msgspec.msgpack.Encoder()
_answers: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)
_jobs: msgspec.msgpack.Decoder[AnyJob] = msgspec.msgpack.Decoder(AnyJob)


def frame(message: Job | Answer) -> bytes:
    """The bytes of one message, its length first."""
    body = _encoder.encode(message)
    return _LENGTH.pack(len(body)) + body


def split_frames(buffer: bytearray) -> list[bytes]:
    """Take the complete messages off the front of `buffer`; the rest stays. Raises ValueError past `MAXIMUM_BYTES`."""
    bodies = []
    start = 0
    while len(buffer) - start >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(buffer, start)
        if length > MAXIMUM_BYTES:
            raise ValueError(f"a message of {length} bytes: the limit is {MAXIMUM_BYTES}")
        end = start + _LENGTH.size + length
        if len(buffer) < end:
            break
        bodies.append(bytes(buffer[start + _LENGTH.size : end]))
        start = end
    del buffer[:start]
    return bodies


def crumb(stage: Stage) -> bytes:
    """The byte that stands for `stage`."""
    return _CRUMBS[stage]


def stage_of(byte: bytes) -> Stage:
    """`START` for what no worker of ours writes."""
    return _STAGES.get(byte, Stage.START)


def step_bytes(step: Step) -> bytes:
    """What stands behind the crumb."""
    return _STEP.pack(*(min(one, _LARGEST) for one in (step.sample, step.samples, step.draw, step.draws)))


def step_of(data: bytes) -> Step:
    """Nothing known for what no worker of ours writes. The worker may be writing: a metric may be older than the next."""
    return Step(*_STEP.unpack(data)) if len(data) == _STEP.size else UNKNOWN


def decode_answer(body: bytes) -> Answer:
    """Raises msgspec.DecodeError on anything that is no answer."""
    return _answers.decode(body)


def decode_job(body: bytes) -> AnyJob:
    """Raises msgspec.DecodeError on anything that is no job."""
    return _jobs.decode(body)
