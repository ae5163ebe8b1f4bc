"""What crosses the wall between driver and worker: length-prefixed msgpack, no pickle.

The driver sends a `Job`; the worker answers with a `Hello` once, then for each job a `Crumb` per stage and one `Done`.
"""

from __future__ import annotations

import struct

import msgspec

from assay.core.job import Job
from assay.core.result import Result, Stage

_LENGTH = struct.Struct(">I")
MAXIMUM_BYTES = 64 * 1024 * 1024
"""A longer message is a broken worker, not a result."""


class Hello(msgspec.Struct, frozen=True, tag=True):
    """The worker is up; `version` is its assay's."""

    version: str


class Crumb(msgspec.Struct, frozen=True, tag=True):
    """The stage that the worker enters now."""

    stage: Stage


class Done(msgspec.Struct, frozen=True, tag=True):
    """The job's result."""

    result: Result


Answer = Hello | Crumb | Done

_encoder = msgspec.msgpack.Encoder()
_answers: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)
_jobs = msgspec.msgpack.Decoder(Job)


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


def decode_answer(body: bytes) -> Answer:
    """Raises msgspec.DecodeError on anything that is no answer."""
    return _answers.decode(body)


def decode_job(body: bytes) -> Job:
    """Raises msgspec.DecodeError on anything that is no job."""
    return _jobs.decode(body)
