"""The limited processes of a zoo's checks, forked from one that has imported what they need: half the time of a decision is imports.

For benchmarks alone. Each look at a file is still a process of its own with the same limits, and the one that forks opens no file
of a submission; but all of them share its layout in memory, which a zoo's own processes do not.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import subprocess
from typing import Any

from assay_zoo import limited_process, limited_process_main

TARGETS = (
    "assay_zoo.files.inspect_file",
    "assay_zoo.artifacts.inspect_source",
    "assay_zoo.artifacts.public",
    "assay_zoo.compliance.child",
    "assay_zoo.functionality.data",
    "assay_zoo.functionality.golden",
    "assay_zoo.functionality.inputs",
    "assay_zoo.facts",
    "detect_secrets",
    "nbformat",
    "nh3",
    "markdown_it",
    "onnx",
    "onnx.shape_inference",
    "onnx.checker",
)
"""What a limited process imports before, or while, it looks at the first file."""


class WarmReaders:
    """Starts limited processes instead of `subprocess.Popen`: make it before any thread."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if not self.pid:
            self._ours.close()
            os.environ.clear()
            os.environ.update(limited_process._ENVIRONMENT)
            os.chdir("/")
            for target in TARGETS:
                importlib.import_module(target)
            _serve(theirs)
        theirs.close()

    def start(self, arguments: Any, **options: Any) -> Any:
        """As `Popen` of a limited process, any other command is started as ever."""
        if "assay_zoo.limited_process_main" not in arguments:
            return subprocess.Popen(arguments, **options)
        read_input, write_input = os.pipe()
        read_output, write_output = os.pipe()
        socket.send_fds(self._ours, [b"start"], [read_input, write_output])
        os.close(read_input)
        os.close(write_output)
        return _Forked(self, int(self._ours.recv(64)), write_input, read_output)

    def ended(self, pid: int) -> int:
        """The exit code as `Popen.returncode` has it, after it was waited for."""
        self._ours.send(str(pid).encode())
        return int(self._ours.recv(64))

    def __enter__(self) -> WarmReaders:
        self._popen = limited_process.subprocess
        limited_process.subprocess = _Instead(self.start)  # type: ignore[assignment]
        return self

    def __exit__(self, *_: object) -> None:
        limited_process.subprocess = self._popen
        self._ours.close()
        os.waitpid(self.pid, 0)


class _Instead:
    """The module `subprocess` with another `Popen`."""

    def __init__(self, start: Any) -> None:
        self.Popen = start

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)


class _Forked:
    """What `limited_process` asks of a `Popen`."""

    def __init__(self, readers: WarmReaders, pid: int, stdin: int, stdout: int) -> None:
        self.pid, self.stdin, self.stdout = pid, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        self._readers, self._code = readers, None

    def wait(self, timeout: float | None = None) -> int:
        del timeout  # it has closed its end, or was killed
        if self._code is None:
            self._code = self._readers.ended(self.pid)
        return self._code

    def __enter__(self) -> _Forked:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        self.stdin.close()
        self.stdout.close()


def _serve(line: socket.socket) -> None:
    """One child for each message with two descriptors; an exit code for each number of a child."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, 64, 2)
        if not message:
            os._exit(0)
        if not descriptors:
            line.send(str(os.waitstatus_to_exitcode(os.waitpid(int(message), 0)[1])).encode())
            continue
        pid = os.fork()
        if not pid:
            line.close()
            _look(*descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        line.send(str(pid).encode())


def _look(read_input: int, write_output: int) -> None:
    os.setsid()
    os.dup2(read_input, 0)
    os.dup2(write_output, 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.closerange(3, 256)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        limited_process_main.main()
    finally:
        os._exit(1)
