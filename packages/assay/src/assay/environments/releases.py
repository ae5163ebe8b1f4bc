"""Releases of a package, and a script run with one of them: an environment of uv for each, kept in its cache."""

from __future__ import annotations

import bisect
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from assay.environments.installer import INSTALL_UV, find_uv
from assay.environments.pip_config import client_variables, pip_settings, uv_arguments
from assay.errors import EnvironmentFailed, UsageError
from assay.models.telemetry import RUN_SCRIPT

LIST_S = 60.0
INSTALL_S = 120.0
SHELL_SIGNAL = 128
OLDEST_PYTHON = 8
"""Minor version of the oldest whose wheels are looked for."""
NEWER_PYTHONS = 3
"""So many after this one may have releases that are no longer made for it."""
NEAR = 2
"""Releases that are named on each side of one that there is not."""
_UNREACHED = re.compile(r"Retrying \(|Could not fetch URL")
"""What pip says of a registry that does not answer; in the end it says that there is no such package."""
_PLAIN = re.compile(r"\d+(\.\d+)*(\.post\d+)?")
COMPANIONS: tuple[tuple[str, ...], ...] = (("numpy", "onnx"), ("numpy<2", "onnx<1.17"))
"""What is installed beside a release, in the order tried: old ones say that they take any numpy, and take none of today."""


class ScriptRun(msgspec.Struct, frozen=True):
    """How a script ended. `exit_code` None: the release cannot be installed here, or it did not end in time."""

    exit_code: int | None
    output: str = ""


def list_releases(package: str, python: str = "") -> list[str]:
    """Those with a wheel for this Python, or that minor version (`3.9`), and this machine, oldest first. Raises EnvironmentFailed where
    the registry cannot be asked."""
    command = [sys.executable, "-P", "-m", "pip", "index", "versions", package, "--only-binary=:all:", "--retries", "1"]
    command += ["--python-version", python] if python else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIST_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        raise EnvironmentFailed(f"the releases of {package} cannot be listed: the registry does not answer") from None
    match = re.search(r"Available versions: (.*)", done.stdout)
    if match is None and _UNREACHED.search(done.stderr):
        raise EnvironmentFailed(f"the releases of {package} cannot be listed: the registry cannot be reached")
    if done.returncode != 0 or match is None:
        last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise EnvironmentFailed(f"the releases of {package} cannot be listed: {last}")
    plain = [part.strip() for part in match[1].split(",") if _PLAIN.fullmatch(part.strip())]
    return sorted(plain, key=release_key)


def pinned(package: str, version: str) -> str:
    """As an installer reads it. A package that says how its version is a part of the other, `pnnx=={2}`, is given that part."""
    if "==" not in package:
        return f"{package}=={version}"
    try:
        return package.format(*version.split("."))
    except IndexError:
        raise UsageError(
            f"the release '{version}' has too few parts: {package.partition('==')[0]} goes by a later one; "
            "give it in full, such as 1.0.20260526"
        ) from None


def require_releases(package: str, versions: Sequence[str]) -> None:
    """Raises UsageError for a version that the registry does not have for this Python, with those beside it. Nothing is said where the
    registry cannot be asked, and of a version that is more than numbers."""
    try:
        listed = list_releases(package)
    except EnvironmentFailed:
        return
    known = {_plain_key(release) for release in listed}
    for version in versions:
        if _PLAIN.fullmatch(version) and _plain_key(version) not in known:
            place = bisect.bisect(listed, release_key(version), key=release_key)
            near = ", ".join(listed[max(0, place - NEAR) : place + NEAR])
            others = {0: older_releases, len(listed): newer_releases}.get(place)
            other = others(package, listed).get(version, "") if others else ""
            elsewhere = f" (it has one for Python {other})" if other else ""
            raise UsageError(
                f"{package} has no release {version} for Python {sys.version_info.major}.{sys.version_info.minor} and this machine"
                f"{elsewhere}; near: {near}"
            )


def _plain_key(version: str) -> tuple[int, ...]:
    """1.30 and 1.30.0 are one release."""
    key = release_key(version)
    while key and not key[-1]:
        key = key[:-1]
    return key


def releases_at_hand(package: str) -> list[str]:
    """Those that uv keeps from an earlier installation for this Python, oldest first: what can be tried without the registry."""
    folder = _uv_cache()
    tag, own = python_tag(), re.sub(r"[-_.]+", "-", package).lower()
    kept = [path.name for path in folder.glob(f"wheels-v*/**/{own}/*")] if folder is not None else []
    versions = {name.split("-")[0] for name in kept if tag in name or "-abi3-" in name or "-py3-" in name}
    return sorted((version for version in versions if _PLAIN.fullmatch(version)), key=release_key)


def python_tag() -> str:
    """Of this Python, as wheels have it."""
    return f"cp{sys.version_info.major}{sys.version_info.minor}"


def _uv_cache() -> Path | None:
    program = find_uv()
    if not program:
        return None
    done = _run([program, "cache", "dir", "--no-config"], LIST_S, dict(os.environ))
    path = Path(done.output.strip().splitlines()[0]) if done.exit_code == 0 and done.output.strip() else None
    return path if path is not None and path.is_dir() else None


def older_releases(package: str, known: Sequence[str]) -> dict[str, str]:
    """Releases older than all that are known, each with the newest Python that it has a wheel for; none where the registry does not
    tell."""
    pythons = range(sys.version_info.minor - 1, OLDEST_PYTHON - 1, -1)
    return _on_other_pythons(package, pythons, lambda key: not known or key < release_key(known[0]))


def newer_releases(package: str, known: Sequence[str]) -> dict[str, str]:
    """Releases newer than all that are known, each with the oldest Python that it has a wheel for."""
    pythons = range(sys.version_info.minor + 1, sys.version_info.minor + 1 + NEWER_PYTHONS)
    return _on_other_pythons(package, pythons, lambda key: not known or key > release_key(known[-1]))


def _on_other_pythons(
    package: str, minors: Iterable[int], is_right: Callable[[tuple[int, ...]], bool]
) -> dict[str, str]:
    pythons: dict[str, str] = {}
    for minor in minors:
        python = f"{sys.version_info.major}.{minor}"
        try:
            listed = list_releases(package, python)
        except EnvironmentFailed:
            continue
        pythons |= {version: python for version in listed if is_right(release_key(version)) and version not in pythons}
    return dict(sorted(pythons.items(), key=lambda item: release_key(item[0])))


def release_key(version: str) -> tuple[int, ...]:
    """By which releases are sorted."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def run_with_release(
    script: str,
    packages: Sequence[str],
    version: str,
    limit_s: float,
    works: str,
    *,
    python: str = "",
    offline: bool = False,
) -> ScriptRun:
    """The script with all `packages` at that version. `works` is text that its output has where it came to its end: without it the
    next of `COMPANIONS` is tried. `python` is a minor version, which uv finds or gets; "": this one. `offline`: from what uv keeps.
    Raises EnvironmentFailed without uv."""
    program = find_uv()
    if not program:
        raise EnvironmentFailed(f"releases are installed by uv, which is not here; run `{INSTALL_UV}`")
    settings = pip_settings()
    last = ScriptRun(None)
    if python and not has_python(python):
        return last
    for companions in COMPANIONS:
        requirements = [*(pinned(package, version) for package in packages), *companions]
        command = [
            program,
            "run",
            "--quiet",
            "--no-project",
            "--isolated",
            "--no-config",
            "--python",
            python or sys.executable,
        ]
        command += [] if python else ["--no-python-downloads"]
        command += ["--offline"] if offline else []
        command += uv_arguments(settings, resolving=False)
        command += [word for requirement in requirements for word in ("--with", requirement)]
        last = _with_signal(
            _run([*command, "python", "-I", "-c", RUN_SCRIPT, script], limit_s, client_variables(settings))
        )
        if works in last.output or (last.exit_code or 0) < 0:
            return last
    return last


@cache
def has_python(minor: str) -> bool:
    """Whether uv finds that Python on this machine, or can install it: asked once."""
    program, quiet = find_uv(), ["--quiet", "--no-config"]
    script_run = _run([program, "python", "find", *quiet, "--no-python-downloads", minor], LIST_S, dict(os.environ))
    if script_run.exit_code == 0:
        return True
    return _run([program, "python", "install", *quiet, minor], INSTALL_S, dict(os.environ)).exit_code == 0


def _with_signal(run: ScriptRun) -> ScriptRun:
    """uv ends as shells do where what it runs is killed: with 128 and the number of the signal."""
    killed = run.exit_code is not None and SHELL_SIGNAL < run.exit_code < SHELL_SIGNAL + signal.NSIG
    return msgspec.structs.replace(run, exit_code=SHELL_SIGNAL - (run.exit_code or 0)) if killed else run


def _run(command: Sequence[str], limit_s: float, variables: dict[str, str]) -> ScriptRun:
    clean = {name: value for name, value in variables.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False, env=clean)
    except (OSError, subprocess.TimeoutExpired):
        return ScriptRun(None)
    return ScriptRun(done.returncode, done.stdout + done.stderr)
