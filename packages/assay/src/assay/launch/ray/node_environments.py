"""Environments on a node that does not see the driver's disk: each is built there once, and serves later commands too."""

from __future__ import annotations

import subprocess
import sys
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
    command = [sys.executable, "-P", "-m", PROGRAM, name]
    try:
        done = subprocess.run(
            command, input=interpreter.lock.encode(), capture_output=True, timeout=BUILD_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFailed(f"this node cannot build the environment {name}: {error}") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason was given"]
        raise EnvironmentFailed(f"this node cannot build the environment {name}: {lines[-1]}")
    return msgspec.json.decode(done.stdout, type=Interpreter)
