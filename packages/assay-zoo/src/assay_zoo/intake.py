"""A submission is copied into a folder of our own before anything looks at it; what is not taken is told, file by file."""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import msgspec

from assay_zoo.policy import FileLimits

DEEPEST = 12
"""Folders within folders."""
LISTED_MOST = 20_000
"""Entries that are looked at; a submission with more is not read to its end."""
LEFT_OUT = (".git", "__pycache__", ".ipynb_checkpoints", ".DS_Store")
"""What tools leave beside one's work: no part of a submission, never copied, never an error."""
_CHUNK_BYTES = 1 << 20


class Problem(StrEnum):
    """Why a file of a submission was not taken."""

    LINK = "link"
    HARD_LINK = "hard link"
    SPECIAL = "special file"
    TOO_LARGE = "too large"
    TOTAL = "past the total size"
    TOO_MANY = "past the number of files"
    TOO_DEEP = "too deep"
    NAME = "hostile name"
    UNREADABLE = "unreadable"
    CHANGED = "changed while it was read"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One file as it was found. `path` is relative, with `/`, and shows what is no text as escapes; `size` is the apparent
    size in bytes; `sha256` is "" and `detail` says more where there is a `problem`."""

    path: str
    size: int = 0
    sha256: str = ""
    problem: Problem | None = None
    detail: str = ""


class Intake(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` holds the copies: regular files with one link each, owned by us. `entries` are sorted by path."""

    folder: Path
    entries: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Identity of the submission: every path with its content, or with the reason why it was not taken."""
        lines = (f"{entry.sha256 or entry.problem} {entry.path}" for entry in self.entries)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def taken(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.problem is None)


def take_in(folder: Path, into: Path, limits: FileLimits = FileLimits()) -> Intake:
    """Copy the regular files of `folder` into `into` (made here, must not exist), following no link.

    Files past a limit, links, special files and names that cannot be trusted are not copied and stand in the entries
    with their problem. Raises OSError where `folder` cannot be listed or `into` cannot be written.
    """
    into.mkdir(parents=True)
    if folder.is_symlink():
        link = Entry(path=shown(folder.name), problem=Problem.LINK, detail=f"points to {shown(os.readlink(folder))}")
        return Intake(folder=into, entries=(link,))
    copier = _Copier(into, limits)
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        copier.walk(top, ())
    finally:
        os.close(top)
    entries = sorted(copier.entries, key=lambda entry: entry.path)
    return Intake(folder=into, entries=tuple(entries), left_out=tuple(sorted(copier.left_out)))


def shown(name: str) -> str:
    """A file's name as text: bytes that are no UTF-8 and characters that no screen should see become escapes."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if _harmless(c) else c.encode("unicode_escape").decode() for c in text)


def _harmless(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


class _Copier:
    def __init__(self, into: Path, limits: FileLimits) -> None:
        self.entries: list[Entry] = []
        self.left_out: list[str] = []
        self._into, self._limits = into, limits
        self._files = self._bytes = self._listed = 0

    def walk(self, descriptor: int, above: tuple[str, ...]) -> None:
        """Everything below one open folder, in the order of the names."""
        for name in self._names(descriptor):
            where = (*above, name)
            path = "/".join(map(shown, where))
            if name in LEFT_OUT:
                self.left_out.append(path)
            elif reason := _hostile(name):
                self._refuse(path, Problem.NAME, reason)
            else:
                self._one(descriptor, name, where, path)

    def _names(self, descriptor: int) -> list[str]:
        names = []
        with os.scandir(descriptor) as entries:
            for dir_entry in entries:
                self._listed += 1
                if self._listed > LISTED_MOST:
                    break
                names.append(dir_entry.name)
        return sorted(names)

    def _one(self, parent: int, name: str, where: tuple[str, ...], path: str) -> None:
        try:
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                self._folder(parent, name, where, path)
            elif stat.S_ISLNK(status.st_mode):
                target = shown(os.readlink(name, dir_fd=parent))
                self._refuse(path, Problem.LINK, f"points to {target}")
            elif not stat.S_ISREG(status.st_mode):
                self._refuse(path, Problem.SPECIAL, f"is a {_kind(status.st_mode)}")
            else:
                self._file(parent, name, where, path, status)
        except OSError as error:
            self._refuse(path, Problem.UNREADABLE, f"cannot be read ({error.strerror})")

    def _folder(self, parent: int, name: str, where: tuple[str, ...], path: str) -> None:
        if len(where) >= DEEPEST:
            self._refuse(path, Problem.TOO_DEEP, f"lies in more than {DEEPEST} folders")
            return
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        try:
            self.walk(descriptor, where)
        finally:
            os.close(descriptor)

    def _file(self, parent: int, name: str, where: tuple[str, ...], path: str, status: os.stat_result) -> None:
        self._files += 1
        if status.st_nlink != 1:
            self._refuse(path, Problem.HARD_LINK, f"shares its content with {status.st_nlink - 1} other paths")
        elif self._files > self._limits.files:
            self._refuse(path, Problem.TOO_MANY, f"is file {self._files}", status.st_size)
        elif status.st_size > self._limits.file_bytes:
            self._refuse(path, Problem.TOO_LARGE, f"has {status.st_size} bytes", status.st_size)
        elif self._bytes + status.st_size > self._limits.total_bytes:
            self._refuse(path, Problem.TOTAL, f"has {status.st_size} bytes", status.st_size)
        else:
            self._bytes += status.st_size
            digest = self._copy(parent, name, self._into.joinpath(*where), status)
            if digest:
                self.entries.append(Entry(path=path, size=status.st_size, sha256=digest))
            else:
                self._refuse(path, Problem.CHANGED, "changed while it was read", status.st_size)

    def _copy(self, parent: int, name: str, target: Path, expected: os.stat_result) -> str:
        """The digest of what was copied, "" where the file is no longer the one that was looked at."""
        target.parent.mkdir(parents=True, exist_ok=True)
        digest, left = hashlib.sha256(), expected.st_size
        with _opened(parent, name) as source, target.open("xb") as copy:
            now = os.fstat(source)
            if (now.st_ino, now.st_dev, now.st_nlink) != (expected.st_ino, expected.st_dev, 1):
                left = -1
            while left > 0 and (chunk := os.read(source, min(_CHUNK_BYTES, left))):
                left -= len(chunk)
                digest.update(chunk)
                copy.write(chunk)
            if left == 0 and not os.read(source, 1):
                return digest.hexdigest()
        target.unlink()
        return ""

    def _refuse(self, path: str, problem: Problem, detail: str, size: int = 0) -> None:
        self.entries.append(Entry(path=path, size=size, problem=problem, detail=detail))


@contextmanager
def _opened(parent: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _hostile(name: str) -> str:
    """Why a name is not taken, "" where it is harmless."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "has a name that is no UTF-8"
    if not all(map(_harmless, name)):
        return "has a control character in its name"
    if "\\" in name or ":" in name:
        return "has a backslash or a colon in its name, which other systems read as a path"
    if name != name.strip() or name.endswith("."):
        return "has a name that begins or ends in a blank, or ends in a dot"
    return ""


def _kind(mode: int) -> str:
    kinds = {stat.S_IFIFO: "named pipe", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
    return kinds.get(stat.S_IFMT(mode), "file of an unknown kind")
