"""What crosses the wall between driver and worker: msgpack in packets (see `assay.core.packets`), no pickle.

The driver sends a `Job`; the worker answers with a `Hello` once, then for each job with one `Done`. Which stage it is in it
says in one byte of memory that both share, the crumb: a message would wake the driver six times a job, and the kernel keeps
the byte whatever becomes of the worker. The numbers behind it say how far the stage is.
"""

from __future__ import annotations

import enum
import struct
from functools import cache
from typing import Any

import msgspec

from assay.core.job import AnyJob
from assay.core.job_base import Job
from assay.core.outcome import Stage
from assay.core.result import AnyResult
from assay.core.step import UNKNOWN, Step

LOST_CONNECTION = 86
"""Exit code of a worker that finds its connection closed."""


class Hello(msgspec.Struct, frozen=True, tag=True):
    """The worker is up; `version` is its assay's."""

    version: str


class Changed(enum.StrEnum):
    """What of a process a job can leave otherwise than it found it."""

    DIRECTORY = "directory"
    ENVIRON = "environ"
    UMASK = "umask"
    TEMPORARY = "temporary"
    SIGNALS = "signals"
    TIMER = "timer"
    FLOATING_POINT = "floating_point"
    NUMPY = "numpy"
    LOCALE = "locale"
    LIMITS = "limits"
    AFFINITY = "affinity"
    PRIORITY = "priority"
    THREADS = "threads"
    PROCESSES = "processes"
    DESCRIPTORS = "descriptors"
    STREAMS = "streams"
    PATCHED = "patched"
    COLLECTOR = "collector"
    INTERPRETER = "interpreter"
    IMPORT_PATH = "import_path"
    TRACE = "trace"
    DEATH = "death"
    RESTRICTIONS = "restrictions"


class Done(msgspec.Struct, frozen=True, tag=True):
    """The job's result. `changed` is what its process was not left with as the job had found it."""

    result: AnyResult
    changed: tuple[Changed, ...] = ()


Answer = Hello | Done

_CRUMBS = {stage: bytes((number,)) for number, stage in enumerate(Stage)}
_STAGES = {byte: stage for stage, byte in _CRUMBS.items()}
_STEP = struct.Struct("<4I")
SHARED_BYTES = 1 + _STEP.size
"""Of the memory that driver and worker share: the crumb, and the step behind it."""
_LARGEST = 2**32 - 1
_encoder = msgspec.msgpack.Encoder()


def encode(message: Job | Answer) -> bytes:
    """The bytes of one message. Text that UTF-8 cannot hold, as of a file name that is no UTF-8, is escaped."""
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        return _encoder.encode(_encodable(msgspec.to_builtins(message)))


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return encodable(value)
        case dict():
            return {_encodable(name): _encodable(item) for name, item in value.items()}
        case list() | tuple():
            return [_encodable(item) for item in value]
    return value


def encodable(text: str) -> str:
    """What UTF-8 cannot hold, escaped."""
    return text.encode(errors="backslashreplace").decode()


def crumb(stage: Stage) -> bytes:
    """The byte that stands for `stage`."""
    return _CRUMBS[stage]


def stage_of(byte: bytes) -> Stage:
    """`START` for what no worker of ours writes."""
    return _STAGES.get(byte, Stage.START)


def step_bytes(step: Step) -> bytes:
    """What stands behind the crumb."""
    return _STEP.pack(*(min(count, _LARGEST) for count in (step.sample, step.samples, step.draw, step.draws)))


def step_of(data: bytes) -> Step:
    """Nothing known for what no worker of ours writes. The worker may be writing: a metric may be older than the next."""
    return Step(*_STEP.unpack(data)) if len(data) == _STEP.size else UNKNOWN


@cache
def _answers() -> msgspec.msgpack.Decoder[Answer]:
    """Made by the driver alone: it takes a fortieth of the start of a worker, as the one of jobs does."""
    return msgspec.msgpack.Decoder(Answer)


@cache
def _jobs() -> msgspec.msgpack.Decoder[AnyJob]:
    return msgspec.msgpack.Decoder(AnyJob)


def decode_answer(body: bytes) -> Answer:
    """Raises msgspec.DecodeError on anything that is no answer."""
    return _answers().decode(body)


def decode_job(body: bytes) -> AnyJob:
    """Raises msgspec.DecodeError on anything that is no job."""
    return _jobs().decode(body)
