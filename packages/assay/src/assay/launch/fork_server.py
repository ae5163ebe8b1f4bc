"""The driver's side of `assay.worker.fork_server`: workers that are forked from a process which has imported what they need."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

from assay.core.fork_protocol import FORK, REFUSED, RUNNING, WAIT
from assay.launch import process_tree
from assay.launch.temp_folder import remove_folder, temp_folder

_NUMBER = struct.Struct("<i")
PATIENCE_S = 60.0
"""For an answer, imports included: what takes longer is not waited for, but ended."""


class ForkServer:
    """Begins to import at once, for workers of these flows. Requests are answered in their order, once that is done."""

    def __init__(self, flows: Sequence[str], variables: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(PATIENCE_S)
        self._waiting: deque[Forked] = deque()
        command = [
            sys.executable,
            "-m",
            "assay.worker",
            str(theirs.fileno()),
            str(os.getpid()),
            "--fork-server",
            *flows,
        ]
        self._folder = temp_folder()
        own = {"PYTHONUNBUFFERED": "1", "TMPDIR": self._folder}
        try:
            with process_tree.starting() as known:
                self._child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                    env=process_tree.marked({**variables, **own}),
                )
                known(self._child.pid)
        finally:
            theirs.close()

    def fork(self, connection: int, log: int) -> Forked | None:
        """A worker that will serve that socket; None where the server is gone. The socket is closed where none comes."""
        worker = Forked(self)
        try:
            socket.send_fds(self._socket, [struct.pack("<ci", FORK, 0)], [connection, log])
        except OSError:
            return None
        self._waiting.append(worker)
        return worker

    def ask(self, worker: Forked) -> int:
        """Its exit code, or RUNNING. Where the server is gone, its workers are killed by the kernel."""
        try:
            self.hear()
            if worker.pid <= 0:
                return -signal.SIGKILL
            self._socket.send(struct.pack("<ci", WAIT, worker.pid))
            return int(_NUMBER.unpack(self._socket.recv(_NUMBER.size))[0])
        except (OSError, struct.error):
            return -signal.SIGKILL

    def hear(self) -> None:
        """Wait for the numbers of all workers that were asked for. One that hangs is ended: then none of them comes."""
        while self._waiting:
            try:
                answer = self._socket.recv(_NUMBER.size)
            except OSError:
                self.end()
                answer = b""
            self._waiting.popleft().pid = _NUMBER.unpack(answer)[0] if answer else REFUSED

    def end(self) -> None:
        """Its workers end with it."""
        self._socket.close()
        if self._child.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                process_tree.kill_below(self._child.pid)
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
        process_tree.ended(self._child.pid)
        process_tree.kill_orphans()
        remove_folder(self._folder)


class Forked:
    """As much of `subprocess.Popen` as is needed, of a process that is the server's child. It is not reaped, and its number
    not used again, before it was seen to have ended here."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self._code: int | None = None
        self._number = 0

    @property
    def pid(self) -> int:
        """Known when it says hello; negative where there is no such process."""
        if not self._number:
            self._server.hear()
        return self._number

    @pid.setter
    def pid(self, number: int) -> None:
        self._number = number

    def poll(self) -> int | None:
        if self._code is None:
            code = self._server.ask(self)
            self._code = None if code == RUNNING else code
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("a forked worker", timeout or 0.0)
            time.sleep(0.001)
        return code
