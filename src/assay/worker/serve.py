"""One job at a time from the socket; crumbs and one result back."""

from __future__ import annotations

import gc
import socket
import sys

from assay.core.job import Job
from assay.core.result import Outcome, Result, Stage
from assay.core.wire import Crumb, Done, Hello, decode_job, frame, split_frames
from assay.worker.stages import Stages
from assay.worker.tasks import execute

VERSION = "1"
"""Of the protocol: a worker of another environment must speak the same."""


def serve(connection: socket.socket) -> None:
    """Until the driver closes its end."""
    connection.sendall(frame(Hello(VERSION)))
    buffer = bytearray()
    while data := connection.recv(1 << 16):
        buffer += data
        for body in split_frames(buffer):
            result = _execute(decode_job(body), connection)
            sys.stdout.flush()
            sys.stderr.flush()
            connection.sendall(frame(Done(result)))


def _execute(job: Job, connection: socket.socket) -> Result:
    if job.task == "noop":
        return Result(job.key, job.case.name, job.flow.name, job.task.value, "", Outcome.OK, Stage.START)
    result = execute(job, Stages(lambda stage: connection.sendall(frame(Crumb(stage)))))
    gc.collect()
    if not gc.get_freeze_count():
        # The libraries are imported now: looking through their objects after each job costs more than a small case.
        gc.freeze()
    return result
