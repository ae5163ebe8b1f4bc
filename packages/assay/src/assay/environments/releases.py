"""Releases of a package, and a script run with one of them: an environment of uv for each, kept in its cache."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence

import msgspec

from assay.environments.installer import INSTALL_UV, find_uv
from assay.environments.pip_config import client_variables, pip_settings, uv_arguments
from assay.errors import EnvironmentFailed

LIST_S = 60.0
_PLAIN = re.compile(r"\d+(\.\d+)*(\.post\d+)?")
COMPANIONS: tuple[tuple[str, ...], ...] = (("numpy", "onnx"), ("numpy<2", "onnx<1.17"))
"""What is installed beside a release, in the order tried: old ones say that they take any numpy, and take none of today."""


class ScriptRun(msgspec.Struct, frozen=True):
    """How a script ended. `exit_code` None: the release cannot be installed here, or it did not end in time."""

    exit_code: int | None
    output: str = ""


def list_releases(package: str) -> list[str]:
    """Those with a wheel for this Python and machine, oldest first. Raises EnvironmentFailed where the registry cannot be asked."""
    command = [sys.executable, "-m", "pip", "index", "versions", package, "--only-binary=:all:"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIST_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        raise EnvironmentFailed(f"the releases of {package} cannot be listed: the registry does not answer") from None
    found = re.search(r"Available versions: (.*)", done.stdout)
    if done.returncode != 0 or found is None:
        last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise EnvironmentFailed(f"the releases of {package} cannot be listed: {last}")
    plain = [one.strip() for one in found[1].split(",") if _PLAIN.fullmatch(one.strip())]
    return sorted(plain, key=release_key)


def release_key(version: str) -> tuple[int, ...]:
    """By which releases are sorted."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def run_with_release(script: str, packages: Sequence[str], version: str, limit_s: float, works: str) -> ScriptRun:
    """The script with all `packages` at that version. `works` is text that its output has where it came to its end: without it the
    next of `COMPANIONS` is tried. Raises EnvironmentFailed without uv."""
    program = find_uv()
    if not program:
        raise EnvironmentFailed(f"releases are installed by uv, which is not here; run `{INSTALL_UV}`")
    settings = pip_settings()
    last = ScriptRun(None)
    for companions in COMPANIONS:
        wanted = [*(f"{package}=={version}" for package in packages), *companions]
        command = [program, "run", "--quiet", "--no-project", "--isolated", "--no-python-downloads"]
        command += ["--python", sys.executable, "--no-config", *uv_arguments(settings, resolving=False)]
        command += [word for one in wanted for word in ("--with", one)]
        last = _run([*command, "python", "-I", script], limit_s, client_variables(settings))
        if works in last.output or (last.exit_code or 0) < 0:
            return last
    return last


def _run(command: Sequence[str], limit_s: float, variables: dict[str, str]) -> ScriptRun:
    clean = {name: value for name, value in variables.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False, env=clean)
    except (OSError, subprocess.TimeoutExpired):
        return ScriptRun(None)
    return ScriptRun(done.returncode, done.stdout + done.stderr)
