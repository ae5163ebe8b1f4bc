"""One worker process, seen from the driver: its socket, its log, its memory, its death."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

from assay.core.job import Job
from assay.core.outcome import Stage
from assay.core.step import UNKNOWN, Step
from assay.core.wire import (
    SHARED_BYTES,
    Answer,
    crumb,
    decode_answer,
    frame,
    split_frames,
    stage_of,
    step_bytes,
    step_of,
)
from assay.errors import WorkerFailed
from assay.launch.fork_server import ForkServer

LOG_BYTES = 64 * 1024
"""Kept of one job's native output: the first half and the last half."""
LOG_LIMIT_BYTES = 8 * 1024 * 1024
"""A worker's log file is cut when it grows past this, so that a flood cannot fill the disk."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class WorkerProcess:
    """`python -m assay.worker`, started or forked, in a process group of its own. Mutable on purpose: it is the supervisor's view of a
    process."""

    def __init__(
        self,
        interpreter: str = sys.executable,
        variables: Mapping[str, str] | None = None,
        server: ForkServer | None = None,
    ) -> None:
        self.jobs_done = 0
        self._buffer = bytearray()
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  closed in `end`
        os.set_inheritable(self._log.fileno(), True)
        # O_APPEND: after a cut the child's next write lands at the new end, not after a hole.
        self._append = os.open(f"/proc/self/fd/{self._log.fileno()}", os.O_WRONLY | os.O_APPEND)
        self._cut_bytes = 0
        ours, theirs = socket.socketpair()
        forked = server.fork(theirs.fileno(), self._append) if server else None
        self.forked = forked is not None
        try:
            self._child = forked or subprocess.Popen(
                [interpreter, "-m", "assay.worker", str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._append,
                stderr=self._append,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                env={**(os.environ if variables is None else variables), "PYTHONUNBUFFERED": "1"},
            )
        except OSError as error:
            ours.close()
            raise WorkerFailed(f"cannot start a worker with {interpreter}: {error}") from error
        finally:
            theirs.close()
        self.socket = ours
        self._crumb = os.memfd_create("assay-crumb")
        os.pwrite(self._crumb, crumb(Stage.START) + step_bytes(UNKNOWN), 0)
        with contextlib.suppress(OSError):  # gone already: its end of file is read next
            socket.send_fds(ours, [b"\0"], [self._crumb])

    def send(self, job: Job) -> None:
        """Raises OSError where the process is gone already: its end of file is read next."""
        # The job before is done and its log read: nothing is lost by starting again, and the file stays small.
        if os.fstat(self._append).st_size:
            os.ftruncate(self._append, 0)
        self._cut_bytes = 0
        os.pwrite(self._crumb, crumb(Stage.START) + step_bytes(UNKNOWN), 0)
        self.socket.sendall(frame(job))

    def stage(self) -> Stage:
        """Of the job in hand, as the worker says; still there when the worker is gone. Read, not mapped: a worker that
        takes the memory away must not take the driver with it."""
        return stage_of(os.pread(self._crumb, 1, 0))

    def step(self) -> Step:
        """How far the stage is."""
        return step_of(os.pread(self._crumb, SHARED_BYTES - 1, 1))

    def receive(self) -> list[Answer] | None:
        """The complete answers that have arrived; None at end of file (the process died or closed its socket)."""
        try:
            data = self.socket.recv(1 << 18)
        except OSError:
            return None
        if not data:
            return None
        self._buffer += data
        return [decode_answer(body) for body in split_frames(self._buffer)]

    def is_silent(self) -> bool:
        """Whether it lives and has said nothing that was not read: what is read next then answers the next job."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return not self._buffer and not poll.poll(0)

    def resident_bytes(self) -> int:
        """Of this process; 0 when it is gone."""
        try:
            with open(f"/proc/{self._child.pid}/statm", "rb", buffering=0) as file:
                return int(file.read().split()[1]) * _PAGE_BYTES
        except (OSError, IndexError, ValueError):
            return 0

    def cut_log(self) -> None:
        """Empty a log that has grown past its limit; what is kept are its first bytes."""
        size = os.fstat(self._append).st_size
        if size > LOG_LIMIT_BYTES:
            kept = LOG_BYTES // 2
            os.ftruncate(self._append, kept)
            self._cut_bytes += size - kept

    def log(self) -> str:
        """Native stdout and stderr of the job in hand, bounded; the middle is left out."""
        size = os.fstat(self._append).st_size
        descriptor = self._log.fileno()
        if size + self._cut_bytes <= LOG_BYTES:
            return os.pread(descriptor, size, 0).decode(errors="replace") if size else ""
        half = LOG_BYTES // 2
        head = os.pread(descriptor, half, 0).decode(errors="replace")
        tail = os.pread(descriptor, half, max(size - half, half)).decode(errors="replace")
        return f"{head}\n[... {max(size - LOG_BYTES, 0) + self._cut_bytes} bytes left out ...]\n{tail}"

    def end(self, grace_s: float = 0.0) -> int:
        """Close, wait for at most `grace_s`, kill the whole group, reap. Returns the exit code (negative: the signal)."""
        with contextlib.suppress(OSError):
            self.socket.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(grace_s)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._child.pid > 0:  # 0 would be our own group
                os.killpg(self._child.pid, signal.SIGKILL)
        code = self._child.wait()
        self._log.close()
        os.close(self._append)
        os.close(self._crumb)
        return code

    def exit_code(self, wait_s: float = 10.0) -> int | None:
        """After end of file: how it ended; None if it closed its socket and lives on."""
        deadline = time.monotonic() + wait_s
        while (code := self._child.poll()) is None and time.monotonic() < deadline:
            time.sleep(0.002)
        return code
