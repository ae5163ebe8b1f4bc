"""One worker process, seen from the driver: its socket, its log, its memory, its death."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

from assay.core.job_base import Job
from assay.core.outcome import Stage
from assay.core.step import UNKNOWN, Step
from assay.core.wire import SHARED_BYTES, Answer, crumb, stage_of, step_bytes, step_of
from assay.errors import WorkerFailed
from assay.launch import process_tree, shared_memory, tree_memory
from assay.launch.forked_workers import Forked, ForkServer
from assay.launch.left_behind import look_once
from assay.launch.temp_folder import remove_folder, temp_folder
from assay.launch.worker_connection import WorkerConnection
from assay.launch.worker_group import WorkerGroup

LOG_BYTES = 64 * 1024
"""Kept of one job's native output: the first half and the last half."""
LOG_LIMIT_BYTES = 8 * 1024 * 1024
"""A worker's log file is cut when it grows past this, so that a flood cannot fill the disk."""

CODE_S = 0.05
"""For the process that has forked a worker to say how it ended."""
END_S = 10.0
"""For a process that was killed to be gone."""
_AT_START = crumb(Stage.START) + step_bytes(UNKNOWN)
"""Where a worker is that has just been given a job."""


class WorkerProcess:
    """`python -m assay.worker`, started or forked, in a process group of its own. Mutable on purpose: it is the supervisor's view of a
    process."""

    def __init__(
        self,
        interpreter: str = sys.executable,
        variables: Mapping[str, str] | None = None,
        server: ForkServer | None = None,
    ) -> None:
        look_once()
        self.jobs_done = 0
        self._begun_s = time.time()
        self._before = shared_memory.file_numbers()
        self._shared, self._makers = set[str](), set[int]()
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  closed in `finish`
        os.set_inheritable(self._log.fileno(), True)
        # O_APPEND: after a cut the child's next write lands at the new end, not after a hole.
        self._append = os.open(f"/proc/self/fd/{self._log.fileno()}", os.O_WRONLY | os.O_APPEND)
        self._cut_bytes = 0
        self._connection = WorkerConnection()
        self.socket = self._connection.socket
        theirs = self._connection.theirs
        self._crumb = os.memfd_create("assay-crumb")
        os.pwrite(self._crumb, _AT_START, 0)
        forked = server.fork(theirs.fileno(), self._append) if server else None
        self.forked = forked is not None
        self._folder = ""
        self._group: WorkerGroup | None = None
        self.death = -1
        try:
            self._child: Forked | subprocess.Popen[bytes] = forked or self._start(interpreter, variables)
        except OSError as error:
            self._close()
            raise WorkerFailed(f"cannot start a worker with {interpreter}: {error}") from error
        finally:
            theirs.close()
        self._connection.greet(self._crumb)

    def _start(self, interpreter: str, variables: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
        self._folder = temp_folder()
        theirs = self._connection.theirs
        own = {"PYTHONUNBUFFERED": "1", "TMPDIR": self._folder}
        with process_tree.starting() as known:
            child = subprocess.Popen(
                [interpreter, "-P", "-m", "assay.worker", str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._append,
                stderr=self._append,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                env=process_tree.marked({**(os.environ if variables is None else variables), **own}),
            )
            known(child.pid)
        self._watch(child.pid)
        return child

    def _watch(self, pid: int) -> None:
        """Before its first job. `death` can be read when the process has ended, whoever still holds its socket; -1 where the system has no
        such thing."""
        self._group = WorkerGroup(pid)
        with contextlib.suppress(OSError, AttributeError):
            self.death = os.pidfd_open(pid)

    def send(self, job: Job) -> None:
        """Raises OSError where the process is gone already: its end of file is read next."""
        # The job before is done and its log read: nothing is lost by starting again, and the file stays small.
        if os.fstat(self._append).st_size:
            os.ftruncate(self._append, 0)
        self._cut_bytes = 0
        os.pwrite(self._crumb, _AT_START, 0)
        self._connection.ask(job)

    def flush(self) -> None:
        """What the process has not taken of the job yet. Raises OSError where it is gone."""
        self._connection.flush()

    def stage(self) -> Stage:
        """Of the job in hand, as the worker says; still there when the worker is gone. Read, not mapped: a worker that
        takes the memory away must not take the driver with it."""
        return stage_of(os.pread(self._crumb, 1, 0))

    def step(self) -> Step:
        """How far the stage is."""
        return step_of(os.pread(self._crumb, SHARED_BYTES - 1, 1))

    def receive(self) -> list[Answer] | None:
        """The answers that have arrived to the question in hand; None at end of file (the process died or closed its socket). Raises
        msgspec.MsgspecError on what is none."""
        answers = self._connection.receive()
        if answers and self._group is None:
            self._watch(self._connection.pid)
        return answers

    @property
    def folder(self) -> str:
        """Of its temporary files; "" where it has none of its own."""
        return self._folder

    @property
    def noise(self) -> int:
        """How many packets were ignored since the last job was sent."""
        return self._connection.noise

    @property
    def answered_late(self) -> bool:
        """Whether it goes on with the job before: it has answered that once more."""
        return self._connection.answered_late

    @property
    def pid(self) -> int:
        """Of the process; 0 or less while one that is being forked has not said it."""
        return self._child.pid

    @property
    def forked_by(self) -> int:
        """The process from which it is being forked, or, once it is there, that process itself; 0 where it was started."""
        if not isinstance(self._child, Forked):
            return 0
        return self._child.pid if self._child.pid > 0 else self._child.server_pid

    def is_stopped(self) -> bool:
        """Whether somebody has stopped it (SIGSTOP)."""
        return process_tree.is_stopped(self._child.pid)

    def is_silent(self) -> bool:
        """Whether it lives and has said nothing that was not read: what is read next then answers the next job."""
        return self._connection.is_silent() and self._poll() is None

    def is_empty(self) -> bool:
        """Whether nothing that it has said waits to be read."""
        return self._connection.is_silent()

    def resident_bytes(self) -> int:
        """Of this process; 0 when it is gone."""
        return tree_memory.resident_bytes(self._child.pid)

    def tree_bytes(self, limit: int) -> int:
        """Of this process and all that descends from it, exact enough to say whether it is more than `limit`."""
        return tree_memory.tree_bytes(self._child.pid, self._below(), limit)

    def _below(self) -> list[int]:
        """All that it has started, and what that has started. Not itself."""
        members = self._group.members() if self._group else []
        return list({*process_tree.descendants(self._child.pid), *members} - {self._child.pid})

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

    def exit_code(self) -> int | None:
        """How it ended (negative: the signal); None while it lives."""
        if isinstance(self._child, Forked) and process_tree.is_dead(self._child.pid):
            return self._child.poll_until(CODE_S)
        return self._poll()

    def _poll(self) -> int | None:
        """As `exit_code`. It is asked only when it has ended: whom a tracer must be told of may merely have stopped."""
        if (
            isinstance(self._child, subprocess.Popen)
            and self._child.returncode is None
            and not process_tree.has_exited(self._child.pid)
        ):
            return None
        return self._child.poll()

    def kill(self) -> None:
        """It, and all that descends from it. Waits for nothing."""
        self._connection.close()
        pid = self._child.pid
        if pid <= 0 and isinstance(self._child, Forked):
            self._child.abandon()
        if pid > 0 and self._poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGSTOP)  # so that it makes no others meanwhile
                self._makers = {pid, *self._below()}
                self._shared = shared_memory.held_files(self._makers, self._before)
                process_tree.kill_below(pid)
                os.kill(pid, signal.SIGKILL)
        if self._group:
            for member in self._group.members():
                process_tree.kill(member)
            self._group.kill()
        process_tree.kill_orphans()

    def finish(self) -> bool:
        """After `kill`: whether it has ended. Then nothing of it is left."""
        if self._poll() is None or not (self._group is None or self._group.close()):
            return False
        process_tree.ended(self._child.pid)
        process_tree.kill_orphans()
        shared_memory.remove_files(self._shared)
        shared_memory.remove_segments({self._child.pid, *self._makers}, self._begun_s)
        self._close()
        return True

    def _close(self) -> None:
        self._connection.close()
        self._log.close()
        for descriptor in (self._append, self._crumb, self.death):
            if descriptor >= 0:
                os.close(descriptor)
        self._append = self._crumb = self.death = -1
        if self._folder:
            remove_folder(self._folder)

    def end(self, patience_s: float = END_S) -> None:
        """Kill, and wait until it has ended: the kernel takes its time where much memory is given back."""
        self.kill()
        deadline = time.monotonic() + patience_s
        while not self.finish() and time.monotonic() < deadline:
            time.sleep(0.001)
