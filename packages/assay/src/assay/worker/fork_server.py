"""A process that imports what workers need, once, and is forked into them: each is as if it had just imported it itself.

Only what imports alone leave behind is shared: it forks with one thread, and a backend whose imports take something that belongs
to one process (a lock, a folder, a device) is not imported here.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module

from assay import plugins
from assay.core.fork_protocol import FORK, MODULE, REFUSED, RUNNING, WAIT
from assay.models.import_without_gc import import_without_gc
from assay.ports import Backend, Forkable, prepare_to_load
from assay.worker.engine.artifact_cache import environment_key
from assay.worker.process_ties import die_with_parent

IDLE_S = 1.0
"""Without a request for a worker: then cases are being made, which nobody has lowered, and the rest is imported meanwhile."""


def serve_forks(control: socket.socket, flows: Sequence[str]) -> socket.socket | None:
    """In a worker that was forked: the socket to serve. In the server: None, when the driver has closed its end."""
    environment_key()  # before libraries set variables of their own
    modules = [name.removeprefix(MODULE) for name in flows if name.startswith(MODULE)]
    rest = _import([name for name in flows if not name.startswith(MODULE)], modules)
    if not select.select([control], [], [], IDLE_S)[0]:
        rest()
    server = os.getpid()
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 64, 3, socket.MSG_CMSG_CLOEXEC)
        if not request:
            return None
        kind, pid = struct.unpack("<ci", request)
        if kind == FORK:
            pid = _fork()
            if not pid:
                control.close()
                return _become_worker(server, *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
        control.send(struct.pack("<i", pid if kind == FORK else _status(pid) if kind == WAIT else REFUSED))


def _import(flows: Sequence[str], modules: Sequence[str]) -> Callable[[], None]:
    """The modules, and what loading needs, where all flows are of one backend that allows it; what is returned imports what lowering
    needs. A failure is not told: the workers will meet it, and tell it of their jobs."""
    for module in modules:
        _try(partial(import_module, module))
    try:
        known = [plugins.find_flow(name) for name in flows]
        (name,) = {flow.backend for flow in known}
        backend: Backend = plugins.load(plugins.BACKENDS, name)()
        if not (isinstance(backend, Forkable) and backend.forkable) or any(flow.device != "cpu" for flow in known):
            return lambda: None
    except Exception:  # noqa: BLE001  any of it is met again
        return lambda: None
    _try(lambda: prepare_to_load(backend))
    return lambda: _try(backend.prepare)


def _try(prepare: Callable[[], object]) -> None:
    try:
        with import_without_gc():
            prepare()
    except Exception:  # noqa: BLE001  any of it is met again
        return


def _fork() -> int:
    """0 in the child; REFUSED where this process has a thread that would be missing there."""
    gc.freeze()
    waits, opens = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(opens)
        os.read(waits, 1)  # the server kills it here, or lets it go on
        os.close(waits)
        return 0
    os.close(waits)
    os.setpgid(pid, pid)
    # Counted afterwards: OpenBLAS ends its threads for a fork, and begins them again in both.
    if alone := len(os.listdir("/proc/self/task")) == 1:
        os.write(opens, b"\0")
    else:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(opens)
    return pid if alone else REFUSED


def _become_worker(server: int, connection: int, log: int, folder: int) -> socket.socket:
    die_with_parent(server)
    os.fchdir(folder)
    os.close(folder)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(log, stream.fileno())
    os.close(log)
    return socket.socket(fileno=connection)


def _status(pid: int) -> int:
    """The exit code as subprocess tells it; the process is reaped then, and its number is free, which the driver knows."""
    try:
        changed_pid, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return REFUSED
    if not changed_pid or os.WIFSTOPPED(status):  # a worker that is traced by its parent
        return RUNNING
    return os.waitstatus_to_exitcode(status)
