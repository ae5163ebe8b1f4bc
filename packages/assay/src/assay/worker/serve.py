"""One job at a time from the socket; one result back, and where it is meanwhile in memory that the driver reads."""

from __future__ import annotations

import gc
import mmap
import os
import socket
import sys
from contextlib import suppress

from assay.core.job import Job, NoopJob
from assay.core.outcome import Outcome, Stage
from assay.core.result import AnyResult, NoopResult
from assay.core.step import UNKNOWN, Step
from assay.core.wire import SHARED_BYTES, Done, Hello, crumb, decode_job, frame, split_frames, step_bytes
from assay.numerics.steps import listening
from assay.worker.dispatch import execute
from assay.worker.stages import Stages

VERSION = "2"
"""Of the protocol: a worker of another environment must speak the same."""


LARGE_BYTES = 1 << 28
"""Resident memory from which on it is worth looking for what is free."""


def serve(connection: socket.socket) -> None:
    """Until the driver closes its end."""
    stages = _shared(connection)
    connection.sendall(frame(Hello(VERSION)))
    buffer = bytearray()
    first = True
    while data := connection.recv(1 << 16):
        buffer += data
        for body in split_frames(buffer):
            job = decode_job(body)
            result = _execute(job, stages)
            if not isinstance(job, NoopJob):
                _tidy(first)
                first = False
            sys.stdout.flush()
            sys.stderr.flush()
            connection.sendall(frame(Done(result)))


def _shared(connection: socket.socket) -> mmap.mmap:
    """The bytes for the crumb and the step; the driver sends them first."""
    _, (descriptor, *_), _, _ = socket.recv_fds(connection, 1, 1, socket.MSG_CMSG_CLOEXEC)
    try:
        return mmap.mmap(descriptor, SHARED_BYTES)
    finally:
        os.close(descriptor)


def _execute(job: Job, stages: mmap.mmap) -> AnyResult:
    if isinstance(job, NoopJob):
        return NoopResult(job.key, job.case.name, job.flow.name, "", Outcome.OK, Stage.START)

    def enter(stage: Stage) -> None:
        stages[:] = crumb(stage) + step_bytes(UNKNOWN)

    def step(found: Step) -> None:
        stages[1:] = step_bytes(found)

    with listening(step):
        return execute(job, Stages(enter))


def _tidy(first: bool) -> None:
    gc.collect()
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") and _resident_bytes() > LARGE_BYTES:
        _give_memory_back()
    if first:
        # The libraries are imported now: looking through their objects after each job costs more than a small case.
        # (gc.get_freeze_count is no way to ask whether that was done: it counts, 3 ms for what these libraries leave.)
        gc.freeze()


def _resident_bytes() -> int:
    """0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0


def _give_memory_back() -> None:
    """What glibc kept for the next array of the same job."""
    import ctypes

    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
