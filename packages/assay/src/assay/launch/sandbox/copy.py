"""What a sandbox wrote, copied out: regular files by plain names, within limits, and nothing that points elsewhere."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DEPTH = 16
FILES = 10_000
SHOWN = 5


@dataclass
class _Budget:
    """What may still be copied, and what was not."""

    bytes_left: int
    files_left: int = FILES
    left_out: list[str] = field(default_factory=list)

    def refuse(self, name: str, why: str) -> None:
        self.left_out.append(f"{name!a} ({why})")


def copy_out(source: int, target: Path, limit_bytes: int, *, skip: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Copy the folder behind the descriptor `source`, but for the names in `skip`, into `target`, which is made where it is
    missing. Returns what was not copied and why. Nothing may write to `source` meanwhile: its processes are dead. Raises
    OSError where `target` cannot be written."""
    target.mkdir(parents=True, exist_ok=True)
    budget = _Budget(limit_bytes)
    _copy_folder(source, target, "", budget, DEPTH, skip)
    return tuple(budget.left_out)


def _copy_folder(
    source: int, target: Path, inside: str, budget: _Budget, depth: int, skip: frozenset[str] = frozenset()
) -> None:
    for name in sorted(set(os.listdir(source)) - skip):
        text = f"{inside}{name}"
        if not name.isprintable():
            budget.refuse(text, "its name is not printable")
            continue
        status = os.stat(name, dir_fd=source, follow_symlinks=False)
        kind = _strange(status)
        if kind:
            budget.refuse(text, kind)
        elif stat.S_ISDIR(status.st_mode):
            if depth == 0:
                budget.refuse(text, "too deep")
            else:
                _enter(source, name, target / name, text, budget, depth)
        elif status.st_size > budget.bytes_left or budget.files_left == 0:
            budget.refuse(text, "beyond the limit")
        else:
            budget.bytes_left -= status.st_size
            budget.files_left -= 1
            _copy_file(source, name, target / name, text, budget)


def _strange(stat_result: os.stat_result) -> str:
    """What makes it no file and no folder of its own."""
    if stat.S_ISLNK(stat_result.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(stat_result.st_mode):
        return "" if stat.S_ISDIR(stat_result.st_mode) else "a special file"
    return "a hard link" if stat_result.st_nlink != 1 else ""


def _enter(source: int, name: str, target: Path, shown_path: str, budget: _Budget, depth: int) -> None:
    for descriptor in _opened(source, name, os.O_DIRECTORY, shown_path, budget):
        target.mkdir()
        _copy_folder(descriptor, target, f"{shown_path}/", budget, depth - 1)


def _copy_file(source: int, name: str, target: Path, shown_path: str, budget: _Budget) -> None:
    for descriptor in _opened(source, name, os.O_NONBLOCK, shown_path, budget):
        with open(descriptor, "rb", 0, closefd=False) as reading, target.open("xb", 0) as writing:
            shutil.copyfileobj(reading, writing, 1 << 17)


def _opened(source: int, name: str, flags: int, shown_path: str, budget: _Budget) -> Iterator[int]:
    """One descriptor, or none and a note."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | flags, dir_fd=source)
    except OSError as error:
        budget.refuse(shown_path, error.strerror or "cannot be read")
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def describe_left_out(left_out: tuple[str, ...]) -> str:
    """One clause, "" for nothing."""
    if not left_out:
        return ""
    more = f" and {len(left_out) - SHOWN} more" if len(left_out) > SHOWN else ""
    return f"not copied out: {', '.join(left_out[:SHOWN])}{more}"
