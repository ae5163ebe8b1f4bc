"""`assay store` as functions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from assay.commands.blob_store import open_blobs
from assay.commands.composition import open_services
from assay.core.golden import GoldenFile, GoldenLock, GoldenTensor
from assay.core.kept_folder import KeptFolder
from assay.errors import BadGolden, BlobLost, NotWritable, UsageError
from assay.models.golden_checks import LOCK
from assay.models.goldens import read_lock
from assay.models.tensor_part import read_part
from assay.models.tensors import Array, read_tensors, write_tensors
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


def read_tensor(history: str, folder: str, name: str) -> Array:
    """One tensor of a reference or golden that lies in the store, `input:NAME` or `output:NAME` where both have it. Of its file the
    header and these bytes alone are read, where the lock has their digest. Raises UsageError, BadGolden, BlobLost."""
    known = kept(history).get(folder.rstrip("/"))
    if known is None:
        raise UsageError(f"{history} shares no folder {folder}: `assay store list` names them")
    files = {golden_file.path: golden_file for golden_file in known.files}
    with closing(_blobs()) as blobs, tempfile.TemporaryDirectory() as place:
        if LOCK not in files:
            raise UsageError(f"{folder} is no golden and no reference: it has no {LOCK}")
        blobs.fetch(files[LOCK].sha256, Path(place) / LOCK)
        file, tensor = _named(read_lock(Path(place)), folder, name)
        if file.path not in files:
            raise BadGolden(f"{folder} has no file {file.path}, which its lock names: record it again")
        kept_file = files[file.path]
        if not tensor.sha256:  # of an earlier version: the whole is what can be verified
            blobs.fetch(kept_file.sha256, Path(place) / "whole")
            return read_tensors(Path(place) / "whole")[tensor.name]
        part = read_part(partial(blobs.read, kept_file.sha256), kept_file.size_bytes, tensor.name)
        if part.sha256 != tensor.sha256:
            raise BlobLost(
                f"the tensor {name!r} of {folder} has other bytes in the store than its lock says: `assay store push --verify` on the "
                "machine that has it repairs that"
            )
        return part.array


def save_tensor(history: str, folder: str, name: str, output: Path) -> Array:
    """The same, in a file of safetensors. Raises NotWritable, too."""
    array = read_tensor(history, folder, name)
    try:
        write_tensors(output, {name.partition(":")[2] or name: array})
    except OSError as error:
        raise NotWritable(f"{output} cannot be written ({error.strerror}): name another --output") from None
    return array


def _named(lock: GoldenLock, folder: str, name: str) -> tuple[GoldenFile, GoldenTensor]:
    every = [(file, tensor) for file in lock.files for tensor in file.tensors]
    matching = [pair for pair in every if name in (pair[1].name, f"{pair[1].role}:{pair[1].name}")]
    if len(matching) == 1:
        return matching[0]
    if matching:
        roles = " or ".join(f"{tensor.role}:{tensor.name}" for _, tensor in matching)
        raise UsageError(f"{folder} has {len(matching)} tensors {name!r}: write {roles}")
    there = ", ".join(f"{tensor.role}:{tensor.name}" for _, tensor in every[:10])
    raise UsageError(f"{folder} has no tensor {name!r}; it has {there}")


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
    used = {file.sha256 for folder in folders.values() for file in folder.files}
    blob_infos = [
        blob_info for blob_info in blobs.every() if blob_info.digest not in used and blob_info.changed_s <= before
    ]
    return Unused(
        tuple(blob_info.digest for blob_info in blob_infos), sum(blob_info.size_bytes for blob_info in blob_infos)
    )


def _blobs() -> Blobs:
    blobs = open_blobs()
    if blobs is None:
        raise UsageError(_NO_STORE)
    return blobs


_NO_STORE = 'no store is named: write store = "s3://bucket/prefix" in assay.toml, or set ASSAY_STORE'
