"""One job at a time from the socket; one result back, and where it is meanwhile in memory that the driver reads."""

from __future__ import annotations

import faulthandler
import gc
import mmap
import os
import socket
import sys
from contextlib import suppress
from os import getpid

import msgspec

from assay.core.empty_result import empty_result
from assay.core.job import NoopJob
from assay.core.job_base import Job
from assay.core.note import LONGEST, Note, NoteCode, noted
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.packets import TOKEN_BYTES
from assay.core.result import AnyResult, NoopResult
from assay.core.step import UNKNOWN, Step
from assay.core.wire import SHARED_BYTES, Changed, Done, Hello, crumb, decode_job, step_bytes
from assay.errors import AssayError
from assay.numerics.steps import listening
from assay.worker.describe_exception import describe_exception
from assay.worker.dispatch import execute
from assay.worker.driver_connection import DriverConnection
from assay.worker.process_state import ProcessState
from assay.worker.stages import Stages

VERSION = "3"
"""Of the protocol: a worker of another environment must speak the same."""


LARGE_BYTES = 1 << 28
"""Resident memory from which on it is worth looking for what is free."""


def serve(connection: socket.socket) -> None:
    """Until the driver closes its end."""
    shared, token = _greeted(connection)
    driver = DriverConnection(connection, token)
    state = ProcessState()
    driver.send(Hello(VERSION))
    first, imported = True, 0
    while (body := driver.receive()) is not None:
        job = decode_job(body)
        if isinstance(job, NoopJob):
            driver.send(Done(NoopResult(job.key, job.case.name, job.subject, "", Outcome.OK, Stage.START)))
            continue
        result = _execute(job, shared, driver, state)
        faulthandler.cancel_dump_traceback_later()  # a timer of its own, which nothing shows, and which may end this process
        with suppress(BaseException):  # whatever a backend has made of the streams and of the collector
            imported = _tidy(imported)
            sys.stdout.flush()
            sys.stderr.flush()
        if first:
            state.accept_first_use()
        first = False
        _answer(driver, job, result, state.changed())


def _greeted(connection: socket.socket) -> tuple[mmap.mmap, bytes]:
    """The bytes for the crumb and the step, and the token of the greeting; the driver sends them first."""
    token, (descriptor, *_), _, _ = socket.recv_fds(connection, TOKEN_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
    try:
        return mmap.mmap(descriptor, SHARED_BYTES), token
    finally:
        os.close(descriptor)


def _answer(driver: DriverConnection, job: Job, result: AnyResult, changed: tuple[Changed, ...]) -> None:
    try:
        driver.send(Done(result, changed))
    except Exception as error:  # noqa: BLE001  a backend's facts and figures may be anything
        ended = noted(NoteCode.RESULT_NOT_WRITTEN, error=_not_written(error))
        failed = empty_result(job, Outcome.ERROR)
        not_written = msgspec.structs.replace(failed, stage=result.stage, cause=Cause.OTHER, ended=ended)
        driver.send(Done(not_written, changed))


def _not_written(error: Exception) -> Note | str:
    note = error.note if isinstance(error, AssayError) else None
    return note or describe_exception(error)[:LONGEST]


def _execute(job: Job, shared: mmap.mmap, driver: DriverConnection, state: ProcessState) -> AnyResult:
    owner = getpid()

    def enter(stage: Stage) -> None:
        if getpid() == owner:  # a copy does not say where the worker is
            shared[:] = crumb(stage) + step_bytes(UNKNOWN)

    def step(stage_step: Step) -> None:
        if getpid() == owner:
            shared[1:] = step_bytes(stage_step)

    def check(stage: Stage) -> None:
        driver.check()
        if stage in (Stage.IMPORT, Stage.TRANSFORM):  # a converter imports libraries, too
            state.accept_imports()

    with listening(step):
        return execute(job, Stages(enter, check))


def _tidy(imported: int) -> int:
    """`imported` are how many modules there were when it was called before. Returns how many there are."""
    gc.collect()
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") and _resident_bytes() > LARGE_BYTES:
        _give_memory_back()
    if len(sys.modules) > imported:
        # Looking through the objects of libraries after each job costs more than a small case. Not all are imported for the first: one
        # whose artifact is there needs few of them. (gc.get_freeze_count is no way to ask: it counts, 3 ms for what they leave.)
        gc.freeze()
    return len(sys.modules)


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
