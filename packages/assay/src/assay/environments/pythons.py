"""Which Python an environment is built on: the driver's, a minor version found on this machine, or a path."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from assay.environments.worker_requirements import OLDEST_PYTHON
from assay.errors import EnvironmentFailed

_ASK = "import sys; print('%d.%d' % sys.version_info[:2])"


def find_python(version: str, environment: str) -> tuple[str, str]:
    """The path of an interpreter and its minor version. `version` is as in `EnvironmentSpec.python`.

    Raises EnvironmentFailed where there is none, or where it is too old for a worker.
    """
    if not version:
        return sys.executable, f"{sys.version_info.major}.{sys.version_info.minor}"
    if os.sep in version or version.startswith("~"):
        path = str(Path(version).expanduser())
        return path, _new_enough(minor_of(path), version, environment)
    _new_enough(version, version, environment)
    for candidate in _candidates(version):
        if minor_of(candidate) == version:
            return candidate, version
    raise EnvironmentFailed(
        f"environment {environment!r} wants Python {version}, which is not on this machine; install it (uv python install "
        f"{version}), or name another version or a path in [environments.{environment}] python"
    )


def minor_of(program: str) -> str:
    """`3.12`; "" for what is no Python or does not start."""
    try:
        done = subprocess.run([program, "-I", "-c", _ASK], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = done.stdout.strip()
    return text if done.returncode == 0 and re.fullmatch(r"\d+\.\d+", text) else ""


def _new_enough(minor: str, version: str, environment: str) -> str:
    if not minor:
        raise EnvironmentFailed(f"environment {environment!r}: {version} is no Python that starts; correct the path")
    if tuple(int(part) for part in minor.split(".")) < OLDEST_PYTHON:
        raise EnvironmentFailed(
            f"environment {environment!r} wants Python {minor}; a worker needs {'.'.join(map(str, OLDEST_PYTHON))} or newer"
        )
    return minor


def _candidates(minor: str) -> Iterator[str]:
    """The driver's own, those on the PATH, those of pyenv (a shim on the PATH may refuse to start), those of uv."""
    yield sys.executable
    if path := shutil.which(f"python{minor}"):
        yield path
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    yield from (str(path) for path in sorted(pyenv.glob(f"{minor}.*/bin/python"), reverse=True))
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", "~/.local/share/uv/python")).expanduser()
    yield from (str(path) for path in sorted(managed.glob(f"cpython-{minor}.*/bin/python3"), reverse=True))
