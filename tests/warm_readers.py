"""What opens a stranger's file is a process of its own (`assay_zoo.limited_process`). Here it is forked from one that has imported what
such processes need, which takes most of their time: how they start, and what limits them, is tested in
`tests/end_to_end/test_zoo_limited.py` without this."""

from __future__ import annotations

import atexit
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from types import SimpleNamespace, TracebackType
from typing import IO, Any
from unittest.mock import patch

import pytest

from assay_zoo import limited_process

_CODE = """
import gc, os, socket, struct, sys
from contextlib import suppress
sys.argv[:] = ["-m"]
from assay_zoo import limited_process_main
for name in %r:
    with suppress(ImportError):
        __import__(name)
gc.collect()
gc.freeze()
requests = socket.socket(fileno=int(%r))
number = struct.Struct("<i")
while True:
    asked, files, *_ = socket.recv_fds(requests, number.size, 2)
    if not asked:
        break
    (process,) = number.unpack(asked)
    if process:
        requests.send(number.pack(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])))
        continue
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        os.dup2(files[0], 0)
        os.dup2(files[1], 1)
        requests.close()
        os.closerange(3, 100)
        limited_process_main.main()
    with suppress(OSError):
        os.setpgid(child, child)
    for file in files:
        os.close(file)
    requests.send(number.pack(child))
"""
_IMPORTED = (
    "numpy", "onnx", "onnx.numpy_helper", "nbformat", "assay_zoo.files.inspect_file", "assay_zoo.artifacts.inspect_source",
    "assay_zoo.compliance.child", "assay_zoo.facts",
)  # fmt: skip
_NUMBER = struct.Struct("<i")


class _Server:
    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        code = _CODE % (_IMPORTED, theirs.fileno())
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=limited_process._ENVIRONMENT, cwd="/", start_new_session=True, pass_fds=[theirs.fileno()],
        )  # fmt: skip
        theirs.close()
        atexit.register(self.end, os.getpid())

    def ask(self, number: int, files: tuple[int, ...] = ()) -> int:
        with self._lock:
            socket.send_fds(self._socket, [_NUMBER.pack(number)], files)
            answer: int = _NUMBER.unpack(self._socket.recv(_NUMBER.size))[0]
            return answer

    def end(self, owner: int) -> None:
        if os.getpid() == owner:
            self._socket.close()
            self._process.wait()


@cache
def _server() -> _Server:
    return _Server()


class _Forked:
    """As much of `subprocess.Popen` as `limited_process` asks for."""

    def __init__(self, command: list[str], **_: Any) -> None:
        assert command[1:] == ["-I", "-m", "assay_zoo.limited_process_main"]
        its_input, stdin = os.pipe()
        stdout, its_output = os.pipe()
        self.stdin: IO[bytes] = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] = os.fdopen(stdout, "rb")
        try:
            self.pid = _server().ask(0, (its_input, its_output))
        finally:
            os.close(its_input)
            os.close(its_output)
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self._code is None:
            self._code = _server().ask(self.pid)
        return self._code

    def __enter__(self) -> _Forked:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(BrokenPipeError):
            self.stdin.close()
        self.stdout.close()
        self.wait()


_SUBPROCESS = SimpleNamespace(
    Popen=_Forked,
    PIPE=subprocess.PIPE,
    DEVNULL=subprocess.DEVNULL,
    TimeoutExpired=subprocess.TimeoutExpired,
)


@pytest.fixture(scope="module")
def warm_readers() -> Iterator[None]:
    """For tests of what is said of files, not of the processes that open them."""
    with patch.object(limited_process, "subprocess", _SUBPROCESS):
        yield


@pytest.fixture
def new_readers() -> Iterator[None]:
    """For those of them that are about how much memory such a process has."""
    with patch.object(limited_process, "subprocess", subprocess):
        yield
