"""Files of a commit, written into an empty folder by our own hands: nothing of the commit decides where or how."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.robot.git import Git, GitTooLarge, Objects
from assay_zoo.robot.tree_size import count_entries

FOLDERS = 2
"""Entries that are counted for each file that is taken: folders are entries, too."""
_FILE, _LINK = ("100644", "100755", "100664"), "120000"


class _Entry(msgspec.Struct, frozen=True):
    mode: str
    blob: str
    size: int
    path: bytes


def export(git: Git, commit: str, paths: Sequence[str], into: Path, *, most_bytes: int, most_files: int) -> list[Check]:
    """Write `paths` of `commit` below `into`. Links become links that nothing here follows, as on the submitter's own
    machine; submodules stay away. Returns what was refused, as failed checks of files: then the export is not complete.

    Raises GitFailed, and OSError where the disk does not take it.
    """
    try:
        for path in paths:
            count_entries(git, commit, path, most_files * FOLDERS)
        entries = list(_entries(git, commit, paths))
    except GitTooLarge as error:
        return [_refused("files.count", f"{error}; at most {most_files} files are taken")]
    total = sum(entry.size for entry in entries)
    if len(entries) > most_files:
        return [_refused("files.count", f"the commit holds {len(entries)} files here; at most {most_files} are taken")]
    if total > most_bytes:
        return [_refused("files.size", f"the files are {total} bytes in all; at most {most_bytes} are taken")]
    refused = [
        _refused("files.names", f"{_shown(entry.path)} is no name that can be taken")
        for entry in entries
        if not _safe(entry)
    ]
    if refused:
        return refused
    with git.objects() as read:
        for entry in entries:
            if entry.mode in _FILE:
                refused += _write(into, entry, read)
        # Links come last: a crafted tree that has a link and a folder of one name could lead a file through it.
        for entry in entries:
            if entry.mode == _LINK:
                refused += _link(into, entry, read)
    return refused


def _entries(git: Git, commit: str, paths: Sequence[str]) -> Iterator[_Entry]:
    listed = git.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", *paths)
    for line in listed.split(b"\0"):
        if line:
            entry, _, path = line.partition(b"\t")
            mode, _, blob, size = entry.decode().split()
            yield _Entry(mode, blob, int(size) if size.isdigit() else 0, path)


def _safe(entry: _Entry) -> bool:
    parts = entry.path.split(b"/")
    return all(part not in (b"", b".", b"..") and part.lower() != b".git" for part in parts)


def _write(into: Path, entry: _Entry, read: Objects) -> list[Check]:
    path = os.path.join(os.fsencode(into), entry.path)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        return _or_raise(error, entry)
    with open(descriptor, "wb") as file:
        for chunk in read.chunks(entry.blob):
            file.write(chunk)
    return []


def _link(into: Path, entry: _Entry, read: Objects) -> list[Check]:
    path = os.path.join(os.fsencode(into), entry.path)
    target = b"".join(read.chunks(entry.blob))
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
    except ValueError:  # a NUL in the target
        return [_refused("files.names", f"{_shown(entry.path)} is a link to no name", entry)]
    except OSError as error:
        return _or_raise(error, entry)
    return []


def _or_raise(error: OSError, entry: _Entry) -> list[Check]:
    """Names that no file system takes are the submitter's fault; a full disk is ours."""
    theirs = (errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EILSEQ, errno.EINVAL, errno.ENOENT)
    if error.errno not in theirs:
        raise error
    return [_refused("files.names", f"{_shown(entry.path)} cannot be written as a file ({error.strerror})", entry)]


def _refused(name: str, sentence: str, entry: _Entry | None = None) -> Check:
    path = _shown(entry.path) if entry else ""
    return Check(name, CheckOutcome.FAILED, sentence, path)


def _shown(path: bytes) -> str:
    text = path.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else "?" for c in text)[:200]
