"""Processes that make cases: one that imports what they need, and others that are forked from it."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from typing import IO

import msgspec

from assay.suites.subprocess_run import IMPORT_LIMIT_S, START
from assay.suites.torch_case import MakeAnswer, MakeRequest


class Maker:
    """One process of the module that makes cases. `child` is the process where it was started, None where it was forked."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes], child: subprocess.Popen[bytes] | None = None) -> None:
        self.served = 0
        self._requests, self._answers, self._child = requests, answers, child

    @property
    def forked(self) -> bool:
        return self._child is None

    def make(self, request: MakeRequest) -> MakeAnswer | None:
        """None where the process died, or was ended because it took too long."""
        try:
            self._requests.write(msgspec.json.encode(request) + b"\n")
            self._requests.flush()
            line = self._answers.readline()
        except OSError:
            return None
        if not line:
            return None
        self.served += 1
        return msgspec.json.decode(line, type=MakeAnswer)

    def end(self) -> str:
        """How it ended, in words, where that is known."""
        for stream in (self._requests, self._answers) if self.forked else (self._requests,):
            with contextlib.suppress(OSError):
                stream.close()
        if self._child is None:
            return ""
        code = self._child.wait()
        self._answers.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def start_makers(module: str, count: int) -> list[Maker]:
    """The first is started, the others are forked from it as soon as it has imported what it needs."""
    pairs = [socket.socketpair() for _ in range(count - 1)]
    theirs = [pair.fileno() for _, pair in pairs]
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", START, str(IMPORT_LIMIT_S), "0", module, *map(str, theirs)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=theirs,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    makers = [Maker(child.stdin, child.stdout, child)]
    for ours, other in pairs:
        other.close()
        with ours:  # its files keep it open
            makers.append(Maker(ours.makefile("wb"), ours.makefile("rb")))
    return makers
