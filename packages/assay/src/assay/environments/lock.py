"""The lock of one environment: what was asked, for which Python, and the versions with their hashes."""

from __future__ import annotations

import hashlib
import platform
import re
from pathlib import Path

import msgspec

from assay.environments.worker_requirements import normal
from assay.errors import EnvironmentFailed

_HEADER = "# assay environment: "
_LINE = re.compile(r"\s*$|\s*#|[A-Za-z0-9]|\s+--hash=\w+:\w+")
"""Of the pins: an installer would follow an option such as `-r` to a file, and tell what stands there."""
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)")


class Lock(msgspec.Struct, frozen=True):
    """`python` is a minor version ("3.12"); `pins` the lines that an installer reads: no addresses of package indexes."""

    requires: tuple[str, ...]
    python: str
    pins: str
    asked_python: str = ""

    @property
    def digest(self) -> str:
        """Of what is installed, on which Python and kind of machine: environments of one digest are one folder."""
        platform_name = f"{platform.system()}-{platform.machine()}"
        return hashlib.sha256(f"{self.python}\n{platform_name}\n{self.pins}".encode()).hexdigest()[:16]

    @property
    def versions(self) -> dict[str, str]:
        """Version by normal name."""
        pins = (_PIN.match(line) for line in self.pins.splitlines())
        return {normal(match[1]): match[2] for match in pins if match}


def lock_text(lock: Lock) -> str:
    """As it stands in a file."""
    head = msgspec.json.encode({"requires": lock.requires, "python": lock.python, "asked": lock.asked_python}).decode()
    return f"{_HEADER}{head}\n{lock.pins}"


def write_lock(path: Path, lock: Lock) -> None:
    """Replaces the file at once: a reader sees the old or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(lock_text(lock), encoding="utf-8")
    new.replace(path)


def read_lock(path: Path) -> Lock | None:
    """None where there is no file. Raises EnvironmentFailed for one that assay did not write."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFailed(f"the lock {path} cannot be read ({error}); remove it, it is made again") from None
    return parse_lock(text, str(path))


def parse_lock(text: str, name: str) -> Lock:
    """`name` says whose text it is. Raises EnvironmentFailed for one that assay did not write."""
    first, _, pins = text.partition("\n")
    try:
        if not first.startswith(_HEADER):
            raise ValueError("its first line does not say what it is for")
        if stray := next((line for line in pins.splitlines() if not _LINE.match(line)), None):
            raise ValueError(f"{stray!r} is neither a version nor a hash")
        head = msgspec.json.decode(first.removeprefix(_HEADER), type=_Head)
    except ValueError as error:
        raise EnvironmentFailed(f"{name} is no lock of an environment ({error}); remove it, it is made again") from None
    return Lock(head.requires, head.python, pins, head.asked)


class _Head(msgspec.Struct):
    requires: tuple[str, ...]
    python: str
    asked: str = ""
