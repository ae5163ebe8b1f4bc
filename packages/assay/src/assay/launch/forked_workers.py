"""The driver's side of `assay.worker.fork_server`: workers that are forked from a process which has imported what they need."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from assay.core.fork_protocol import FORK, MODULE, REFUSED, RUNNING, WAIT
from assay.launch import process_tree
from assay.launch.temp_folder import remove_folder, temp_folder

_NUMBER = struct.Struct("<i")


class ForkServer:
    """Begins to import at once, for workers of these flows, and these modules. Requests are answered in their order, once that is done."""

    def __init__(
        self,
        flows: Sequence[str],
        variables: Mapping[str, str],
        program: Sequence[str] = ("-m", "assay.worker"),
        modules: Sequence[str] = (),
    ) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        self._waiting: deque[Callable[[int], None]] = deque()
        self.is_gone = False
        command = [
            sys.executable,
            "-P",
            *program,
            str(theirs.fileno()),
            str(os.getpid()),
            "--fork-server",
            *(f"{MODULE}{name}" for name in modules),
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

    @property
    def pid(self) -> int:
        """Of the process that forks."""
        return self._child.pid

    def fork(self, connection: int, log: int) -> Forked | None:
        """A worker that will serve that socket, in the folder where this process is now; None where the server is gone. The socket
        is closed where none comes."""
        worker = Forked(self)
        here = -1
        try:
            here = os.open(".", os.O_PATH | os.O_DIRECTORY)
            socket.send_fds(self._socket, [struct.pack("<ci", FORK, 0)], [connection, log, here])
        except OSError:
            return None
        finally:
            if here >= 0:
                os.close(here)
        self._waiting.append(worker.take_number)
        return worker

    def ask_code(self, worker: Forked) -> None:
        """How it ended, or that it has not: told to `worker` once the server has answered."""
        try:
            self._socket.send(struct.pack("<ci", WAIT, worker.pid))
        except BlockingIOError:
            return
        except OSError:
            self._gone()
            return
        worker.asked = True
        self._waiting.append(worker.take_code)

    def hear(self) -> None:
        """What the server has answered meanwhile. Where it is gone, its workers are killed by the kernel."""
        while self._waiting:
            try:
                answer = self._socket.recv(_NUMBER.size)
            except BlockingIOError:
                return
            except OSError:
                answer = b""
            if len(answer) < _NUMBER.size:
                self._gone()
                return
            self._waiting.popleft()(_NUMBER.unpack(answer)[0])

    def _gone(self) -> None:
        self.is_gone = True
        while self._waiting:
            self._waiting.popleft()(REFUSED)

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
    not used again, before it was seen to have ended here. Nothing waits for the server."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self._code: int | None = None
        self._number = 0
        self.asked = False

    @property
    def pid(self) -> int:
        """Known when it says hello: 0 before; negative where there is no such process."""
        if not self._number:
            self._server.hear()
        return self._number

    @property
    def server_pid(self) -> int:
        """Of the process that it is forked from."""
        return self._server.pid

    def take_number(self, number: int) -> None:
        """Of the process that was forked, or REFUSED."""
        self._number = number
        if number <= 0:
            self._code = -signal.SIGKILL

    def take_code(self, code: int) -> None:
        """Its exit code, or RUNNING, or REFUSED where nobody knows it."""
        self.asked = False
        if code != RUNNING:
            self._code = -signal.SIGKILL if code == REFUSED else code

    def abandon(self) -> None:
        """It has no number yet, and is not waited for: it ends when it finds its socket closed, and else with the server."""
        if self._code is None:
            self._code = -signal.SIGKILL

    def poll(self) -> int | None:
        """What is known now: the server is asked, and its answer is found by the next call."""
        self._server.hear()
        if self._code is None and self._server.is_gone:
            self._code = -signal.SIGKILL
        if self._code is None and self._number > 0 and not self.asked:
            self._server.ask_code(self)
        return self._code

    def poll_until(self, patience_s: float) -> int | None:
        """The same; the server has so long to answer."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(patience_s)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("a forked worker", timeout or 0.0)
            time.sleep(0.0005)
        return code
