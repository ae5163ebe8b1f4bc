"""A folder by content: what a history knows of files that lie in a store of blobs."""

from __future__ import annotations

import msgspec


class KeptFile(msgspec.Struct, frozen=True):
    """One file. `path` is below the folder, with slashes."""

    path: str
    sha256: str
    size_bytes: int


class KeptFolder(msgspec.Struct, frozen=True):
    """All files of a folder, sorted by path. Empty folders and modes are not kept."""

    files: tuple[KeptFile, ...]
