"""`python -m assay.environments.from_lock NAME AGENT`: on a machine that does not see the driver's disk, the environment of the lock on
standard input, built where it is not there yet. AGENT is the id of the process that asks. Standard output is its interpreter;
what keeps it from being built is the text of standard error."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import msgspec

from assay.core.environment import Interpreter
from assay.environments.cache import Cache, default_cache
from assay.environments.interpreters import interpreter_of
from assay.environments.lock import parse_lock
from assay.environments.pythons import find_python
from assay.environments.uv import find_installer
from assay.errors import EnvironmentFailed

LOOK_S = 1.0
"""Between two looks at whether the agent that asked for it is there."""


def built(name: str, text: str) -> Interpreter:
    """A path to a Python that the user named is one of the driver's machine: here it is the same version. Raises EnvironmentFailed."""
    lock, cache = parse_lock(text, name), Cache(default_cache())
    python, _ = find_python(lock.python, name)
    cache.build(lock, find_installer(), python, lambda line: print(line, file=sys.stderr))
    return interpreter_of(cache, lock)


def end_with_agent(agent: int) -> None:
    """An agent that is killed ends nobody, and what it asked for is asked no more: the whole session, in which the installer is, ends
    too. It may have been killed before this is asked: then another process is the parent."""
    if os.getpgrp() == os.getpid():
        threading.Thread(target=_watch, args=(agent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    end_with_agent(int(sys.argv[2]))
    try:
        sys.stdout.buffer.write(msgspec.json.encode(built(sys.argv[1], sys.stdin.read())))
    except EnvironmentFailed as error:
        sys.exit(str(error))
