"""`python -m assay.environments.from_lock NAME`: on a machine that does not see the driver's disk, the environment of the lock on standard
input, built where it is not there yet. Standard output is its interpreter; what keeps it from being built is the text of standard error."""

from __future__ import annotations

import sys

import msgspec

from assay.core.environment import Interpreter
from assay.environments.cache import Cache, default_cache
from assay.environments.interpreters import interpreter_of
from assay.environments.lock import parse_lock
from assay.environments.pythons import find_python
from assay.environments.uv import find_installer
from assay.errors import EnvironmentFailed


def built(name: str, text: str) -> Interpreter:
    """A path to a Python that the user named is one of the driver's machine: here it is the same version. Raises EnvironmentFailed."""
    lock, cache = parse_lock(text, name), Cache(default_cache())
    python, _ = find_python(lock.python, name)
    cache.build(lock, find_installer(), python, lambda line: print(line, file=sys.stderr))
    return interpreter_of(cache, lock)


if __name__ == "__main__":
    try:
        sys.stdout.buffer.write(msgspec.json.encode(built(sys.argv[1], sys.stdin.read())))
    except EnvironmentFailed as error:
        sys.exit(str(error))
