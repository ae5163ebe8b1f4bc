"""Who ran what, where, when and with which versions."""

from __future__ import annotations

import os
import platform
import secrets
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TypedDict

from assay.core.machine import Machine

PACKAGES = ("assay", "numpy", "onnx", "onnxruntime", "openvino", "torch")
"""Those whose versions every run keeps."""


class Provenance(TypedDict):
    """The fields of `Run` that say when, where and with what it was made."""

    started_at: str
    machine: Machine
    versions: dict[str, str]
    commit: str
    branch: str


def provenance(now: datetime, machine: Machine, packages: Iterable[str] = PACKAGES) -> Provenance:
    """Of the checkout that the command was called in."""
    return Provenance(
        started_at=now.isoformat(timespec="seconds"),
        machine=machine,
        versions=versions(packages),
        commit=git_commit(Path.cwd()),
        branch=git_branch(Path.cwd()),
    )


def new_run_id(now: datetime) -> str:
    """Sorts by time, to a quarter of a millisecond: three digits are the part of the second. Three random ones keep runs of that time
    apart."""
    part = now.microsecond * 4096 // 1_000_000
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S}-{part:03x}{secrets.randbelow(4096):03x}"


def this_machine(gpus: tuple[str, ...] = ()) -> Machine:
    """Of the driver. `gpus` are described by who can see them."""
    return Machine(
        cpu=_cpu_name(),
        cores=usable_cores(),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        load_average=os.getloadavg()[0],
        gpus=gpus,
    )


def usable_cores() -> int:
    """Those that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of those that are installed."""
    versions_here = {}
    for name in packages:
        try:
            versions_here[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions_here


def git_commit(folder: Path) -> str:
    """The commit of the checkout that `folder` lies in, with `-dirty` where it differs; "" outside of one."""
    return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *words: str) -> str:
    try:
        answer = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip()


_BRANCH_IN_CI = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
"""GitHub and GitLab check out a commit, not a branch, and say here which one it is of."""


def git_branch(folder: Path) -> str:
    """The branch of the checkout that `folder` lies in; "" outside of one, and on a detached commit of which no CI says a branch."""
    if on := _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD"):
        return on
    tagged = os.environ.get("GITHUB_REF_TYPE") == "tag" or os.environ.get("CI_COMMIT_TAG")
    if tagged or not git_commit(folder):
        return ""
    return next((os.environ[name] for name in _BRANCH_IN_CI if os.environ.get(name)), "")


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
