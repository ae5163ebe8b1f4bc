"""A sandbox seen from outside: what it writes, what it uses, when it ends, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import time
from pathlib import Path

from assay.core.sandbox import SandboxLimits
from assay.launch.core_wait import CoreWait
from assay.launch.machine_speed import times_slower
from assay.launch.sandbox.cgroup import PidsGroup
from assay.launch.sandbox.usage import Usage, folder_of, usage
from assay.launch.time_limit import TimeLimit

POLL_S = 0.02
START_S = 60.0
NICENESS = 10
OUTPUT_BYTES = 64 * 1024 * 1024
"""Of standard output, and of standard error: more is a flood, and ends it."""
TAIL_BYTES = 256 * 1024
FILES = 50_000
"""Files, folders and links in /work or /tmp: an empty one costs memory, too."""
THREADS_PER_PROCESS = 16
OPEN_FILES = 1024
DISK_EDGE_BYTES = 16 * 1024
MANY = 1000
_NO_LIMIT = resource.RLIM_INFINITY


class SandboxProcess:
    """One sandbox from its start to its death. Mutable on purpose: it is the harness's view of a process."""

    def __init__(self, process: subprocess.Popen[bytes], door: socket.socket, status: int) -> None:
        self.process, self.door, self.status = process, door, status
        self.tails = {"stdout": bytearray(), "stderr": bytearray()}
        self.written = {"stdout": 0, "stderr": 0}
        self.received = {"door": b"", "status": b""}
        self.begun = time.monotonic()
        self.seconds = 0.0
        self.time = TimeLimit(START_S, self.begun)
        self.stopped = ""
        """Why the harness ended it: time, memory, processes, disk, output; "" where it ended by itself."""
        self.exit_code: int | None = None
        self.started = False
        self.left_behind: tuple[str, ...] = ()
        self.lowered: dict[str, int] = {}
        """Hard limits of the machine that are lower than what the sandbox promises (setrlimit(2), RLIMIT_ left out): they hold instead."""
        self.outlived = False
        """Whether some of its processes live on, although they were killed."""
        self.peak = Usage()
        self.disk_was_full = False
        self.work: int | None = None
        self._folders: dict[str, int] = {}
        self._init: int | None = None
        self._init_pid = 0
        self._group: PidsGroup | None = None

    def open_folders(self) -> None:
        """Hold /work, /tmp and /proc of the sandbox: they outlive its processes as long as they are held."""
        pid = self._first_process()
        for name in ("proc", "work", "tmp"):
            self._folders[name] = os.open(f"/proc/{pid}/root/{name}", os.O_RDONLY | os.O_DIRECTORY)
        self.work = self._folders["work"]

    def limit(self, limits: SandboxLimits) -> None:
        """What the kernel counts itself; the rest is watched. Inherited by all that the first process starts."""
        pid = self._first_process()
        most_tasks = limits.processes * THREADS_PER_PROCESS
        for name, most in (
            ("CORE", 0),
            ("MSGQUEUE", 0),
            ("NOFILE", OPEN_FILES),
            ("NPROC", most_tasks),
            ("DATA", 2 * limits.memory_bytes),
            ("FSIZE", limits.disk_bytes + DISK_EDGE_BYTES),
            ("AS", _NO_LIMIT),
            ("CPU", _NO_LIMIT),
        ):
            what = getattr(resource, f"RLIMIT_{name}")
            hard = resource.prlimit(pid, what)[1]
            most_allowed = min((limit for limit in (most, hard) if limit != _NO_LIMIT), default=_NO_LIMIT)
            resource.prlimit(pid, what, (most_allowed, most_allowed))
            if most_allowed != most and most:
                self.lowered[name] = most_allowed
        self._group = PidsGroup(pid, most_tasks)
        os.setpriority(os.PRIO_PROCESS, pid, min(os.getpriority(os.PRIO_PROCESS, 0) + NICENESS, 19))

    def look(self, limits: SandboxLimits) -> None:
        """One look at what it uses; `stopped` is set where that is too much."""
        if "proc" not in self._folders:
            return
        now = usage(self._folders["proc"], limits.memory_bytes, limits.processes)
        self.peak = self.peak.most(now)
        many = now.processes > limits.processes or now.threads > limits.processes * THREADS_PER_PROCESS
        if many or (self._group is not None and self._group.refused()):
            self.stopped = self.stopped or "processes"
        elif now.memory_bytes > limits.memory_bytes:
            self.stopped = self.stopped or "memory"
        for name in ("work", "tmp"):
            room = folder_of(self._folders[name])
            self.disk_was_full |= room.free_bytes <= DISK_EDGE_BYTES
            if room.files > FILES:
                self.stopped = self.stopped or "files"

    def begin(self, seconds: float) -> None:
        """Its time counts from now on, without that in which others had the cores; on a slower machine it is longer."""
        self.started, self.begun = True, time.monotonic()
        self.time = TimeLimit(seconds, self.begun, CoreWait(self._init_pid, self._used_s), times_slower)

    def _used_s(self) -> float | None:
        return self._group.used_s() if self._group is not None else None

    def kill(self) -> None:
        """All of it: the first process of the namespace takes every other with it."""
        if self._group is not None:
            self._group.kill()
        if self._init is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        if self._init is not None:
            ended = selectors.DefaultSelector()
            ended.register(self._init, selectors.EVENT_READ)
            self.outlived = not ended.select(30.0)
            ended.close()
            # Where this process adopts what its children leave (a launch of workers does), nobody else waits for it.
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PIDFD, self._init, os.WEXITED | os.WNOHANG)

    def close(self) -> None:
        self.kill()
        if self._group is not None:
            self._group.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.door.close()
        os.close(self.status)
        for descriptor in (*self._folders.values(), *([self._init] if self._init is not None else [])):
            os.close(descriptor)

    def hear(self, name: str, data: bytes) -> None:
        """What came through a stream."""
        if name in self.received:
            self.received[name] = (self.received[name] + data)[-TAIL_BYTES:]
            if name == "status" and self._init is None and b"\n" in self.received[name]:
                with contextlib.suppress(ValueError, KeyError, OSError):
                    pid = json.loads(self.received[name].splitlines()[0])["child-pid"]
                    self._init_pid, self._init = pid, os.pidfd_open(pid)
            return
        self.tails[name] = (self.tails[name] + data)[-TAIL_BYTES:]
        self.written[name] += len(data)
        if self.written[name] > OUTPUT_BYTES:
            self.stopped = self.stopped or "output"

    def ready(self) -> bool:
        """The first process waits for its limits."""
        return self._init is not None and self.received["door"].startswith(b"ready\n")

    def done(self) -> bool:
        """The command has ended, and the first process waits to be looked at."""
        return self.received["door"].count(b"\n") >= 2

    def conclude(self) -> None:
        """The exit code, and which processes the command left behind."""
        with contextlib.suppress(ValueError):
            self.exit_code = int(self.received["door"].splitlines()[1])
        self.left_behind = usage(self._folders["proc"], 0, MANY, names=True).names if "proc" in self._folders else ()

    def _first_process(self) -> int:
        """The child of the namespace's init: bubblewrap itself cannot be looked into by another user than root."""
        for entry in os.listdir("/proc"):
            if entry.isdecimal():
                with contextlib.suppress(OSError, IndexError):
                    text = Path("/proc", entry, "stat").read_text()
                    if int(text.rpartition(")")[2].split()[1]) == self._init_pid:
                        return int(entry)
        raise ProcessLookupError(3, "its first process is gone")


def watch(sandboxed: SandboxProcess, limits: SandboxLimits) -> None:
    """Until it has ended or was stopped; then none of its processes is left."""
    streams = selectors.DefaultSelector()
    descriptors = {"door": sandboxed.door.fileno(), "status": sandboxed.status}
    for name, stream in (("stdout", sandboxed.process.stdout), ("stderr", sandboxed.process.stderr)):
        assert stream is not None
        descriptors[name] = stream.fileno()
    for name, descriptor in descriptors.items():
        os.set_blocking(descriptor, False)
        streams.register(descriptor, selectors.EVENT_READ, name)
    with contextlib.closing(streams):
        while not sandboxed.stopped and not sandboxed.done() and "door" in _names(streams):
            _receive(sandboxed, streams, POLL_S)
            sandboxed.seconds = time.monotonic() - sandboxed.begun
            if not sandboxed.started and sandboxed.ready():
                _let_go(sandboxed, limits)
            sandboxed.look(limits)
            if sandboxed.time.is_over(time.monotonic()):
                sandboxed.stopped = sandboxed.stopped or "time"
        if sandboxed.done():
            sandboxed.conclude()
        if not sandboxed.stopped:
            sandboxed.look(limits)
        sandboxed.kill()
        while {"stdout", "stderr"} & _names(streams) and _receive(sandboxed, streams, 1.0):
            pass


def _let_go(sandboxed: SandboxProcess, limits: SandboxLimits) -> None:
    try:
        sandboxed.open_folders()
        sandboxed.limit(limits)
        sandboxed.door.send(b"go\n")
    except OSError as error:
        sandboxed.stopped = f"start: {error.strerror}"
        return
    sandboxed.begin(limits.seconds)


def _names(streams: selectors.DefaultSelector) -> set[str]:
    return {key.data for key in streams.get_map().values()}


def _receive(sandboxed: SandboxProcess, streams: selectors.DefaultSelector, timeout_s: float) -> bool:
    """Whether anything was said within that time; a stream that has ended is not listened to any more."""
    events = streams.select(timeout_s)
    for key, _ in events:
        try:
            data = os.read(key.fd, 1 << 16)
        except BlockingIOError:
            continue
        except OSError:
            data = b""
        if data:
            sandboxed.hear(key.data, data)
        else:
            streams.unregister(key.fileobj)
    return bool(events)
