"""Environments on a node that does not see the driver's disk: each is built there once, and serves later commands too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from assay.core.environment import Interpreter
from assay.errors import EnvironmentFailed

BUILD_S = 3600.0
PROGRAM = "assay.environments.from_lock"
"""Run as a program: a launcher knows no installer."""


def on_this_node(name: str, interpreter: Interpreter) -> Interpreter:
    """The same environment as the driver's `interpreter`. Raises EnvironmentFailed."""
    if not interpreter.lock:
        if Path(interpreter.program).exists():
            return interpreter
        raise EnvironmentFailed(f"this node does not have {interpreter.program}, the interpreter of {name}")
    command = [sys.executable, "-P", "-m", PROGRAM, name, str(os.getpid())]
    try:
        returncode, output, errors = _run(command, interpreter.lock.encode())
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFailed(f"this node cannot build the environment {name}: {error}") from None
    if returncode:
        lines = errors.decode(errors="replace").strip().splitlines() or ["no reason was given"]
        raise EnvironmentFailed(f"this node cannot build the environment {name}: {lines[-1]}")
    return msgspec.json.decode(output, type=Interpreter)


def _run(command: Sequence[str], lock: bytes) -> tuple[int, bytes, bytes]:
    """In a session of its own, all of which ends where it takes too long: the installer is a process of the builder. Raises OSError,
    subprocess.TimeoutExpired."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as builder:
        try:
            output, errors = builder.communicate(lock, BUILD_S)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(builder.pid, signal.SIGKILL)
            raise
    return builder.returncode, output, errors
