"""`assay store` as functions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

from assay.commands.blobs import open_blobs
from assay.commands.composition import open_services
from assay.core.kept_folder import KeptFolder
from assay.errors import UsageError
from assay.ports import Blobs, KeepsFolders

GRACE_S = 24 * 3600.0
"""A blob that is younger may belong to a run that has not said so yet."""


class Unused(NamedTuple):
    """What nothing refers to."""

    digests: tuple[str, ...]
    size_bytes: int


def push(history: str, *, verify: bool) -> int:
    """How many files were sent. Raises UsageError where no store is named."""
    with open_services(history) as services:
        if not services.files:
            raise UsageError(_NO_STORE)
        return services.files.push(verify=verify)


def kept(history: str) -> dict[str, KeptFolder]:
    """What the history says of every shared folder, by name."""
    with open_services(history, recorded=True) as services:
        return services.store.folders() if isinstance(services.store, KeepsFolders) else {}


def collect(history: str, *, remove: bool, grace_s: float = GRACE_S) -> Unused:
    """Blobs that no folder of the history has, older than `grace_s`. Raises UsageError where the history shares nothing: then it is likely
    another one's store."""
    blobs = _blobs()
    with closing(blobs):
        folders = kept(history)
        if not folders:
            raise UsageError(
                f"{history} refers to nothing in the store, which may be that of another history: name it with --history"
            )
        unused = _unused(blobs, folders, time.time() - grace_s)
        if remove:
            blobs.remove(unused.digests)
        return unused


def _unused(blobs: Blobs, folders: Mapping[str, KeptFolder], before: float) -> Unused:
    used = {one.sha256 for folder in folders.values() for one in folder.files}
    found = [one for one in blobs.every() if one.digest not in used and one.changed_s <= before]
    return Unused(tuple(one.digest for one in found), sum(one.size_bytes for one in found))


def _blobs() -> Blobs:
    found = open_blobs()
    if found is None:
        raise UsageError(_NO_STORE)
    return found


_NO_STORE = 'no store is named: write store = "s3://bucket/prefix" in assay.toml, or set ASSAY_STORE'
