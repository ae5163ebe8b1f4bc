"""Lowered artifacts, and refusals to lower, that stand for lowering again: a folder each, named by the digest of what decided them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from assay.core.digest import sha256_bytes
from assay.core.engine_info import EngineInfo
from assay.core.native_warning import NativeWarning
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Stage
from assay.core.speed import BaselineEngine
from assay.models.cache_eviction import Entry, entry_of, size_bytes, used_now
from assay.models.files import folder_digest, user_cache

LAYOUT = "1"
"""Of an entry: another number, another folder."""
MOST_BYTES = 256 * 2**20
"""A larger artifact is not kept."""
_ENTRY = "entry.msgpack"
_FILES = "artifact"
_STANDARD = "standard"
_PART = ".part-"
_STALE_S = 24 * 3600.0
"""After which what a killed worker left half-written is thrown away."""
_DIGEST_BYTES = 64


class CachedFailure(msgspec.Struct, frozen=True):
    """Why there is no artifact: what `assay.errors.Unsupported` says, and in which stage it was raised. `kind` is the error's:
    Unsupported, Undelegated, or Lowering where a library said no without saying what it lacks. It came at `at` (ISO 8601, UTC),
    after `seconds`."""

    said: str | Note
    node: str
    cause: str
    stage: Stage
    kind: str = "Unsupported"
    at: str = ""
    seconds: float = 0.0


class CachedArtifact(msgspec.Struct, frozen=True):
    """What is known of an artifact without loading it. `facts` are those of its lowering, with its size and digest;
    `changed`, `takes`, `gives` and `standard` (a file name, "" for none) what transforms did to the model before, with
    the digest of the standard's folder; `notes` what was noted meanwhile,
    `native_warnings` what the library said. With a `refusal` there are no files."""

    key: str
    case: str
    flow: str
    facts: EngineInfo
    changed: bool = False
    takes: dict[str, str] = {}
    gives: dict[str, str] = {}
    standard: str = ""
    standard_digest: str = ""
    notes: tuple[Note, ...] = ()
    native_warnings: tuple[NativeWarning, ...] = ()
    refusal: CachedFailure | None = None


class Artifacts:
    """The cache in `folder`, safe for many processes at once: an entry is there whole or not at all, and is checked
    against its digest before anybody loads it."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = str(folder)

    def find(self, key: str) -> CachedArtifact | None:
        """The entry of that key; None where there is none. One that is truncated or changed is removed, and is none."""
        entry = f"{self._place(key)}/{_ENTRY}"
        try:
            with open(entry, "rb") as file:
                data = file.read()
        except OSError:
            return None
        kept = _decoded(data)
        if kept is None or kept.key != key or not self._sound(kept):
            self.discard(key)
            return None
        used_now(entry)
        return kept

    def files(self, kept: CachedArtifact) -> Path:
        """The folder that the engine saved."""
        return Path(f"{self._place(kept.key)}/{_FILES}")

    def standard(self, kept: CachedArtifact) -> Path | None:
        """The quantized model by which the engine is judged."""
        return Path(self._place(kept.key), _STANDARD, kept.standard) if kept.standard else None

    def keep(self, kept: CachedArtifact, files: Path | None, standard: Path | None) -> None:
        """Copies of these files, None for a refusal; nothing happens where they are large, or where the cache cannot be written."""
        if kept.facts.artifact_bytes > MOST_BYTES:
            return
        place = self._place(kept.key)
        own = ""
        with suppress(OSError, shutil.Error):
            above = os.path.dirname(place)
            os.makedirs(above, exist_ok=True)
            own = tempfile.mkdtemp(prefix=_PART, dir=above)
            if files is not None:
                shutil.copytree(files, f"{own}/{_FILES}")
            if standard is not None:
                # Weights outside of the file lie beside it: the transform wrote it into a folder of its own.
                shutil.copytree(standard.parent, f"{own}/{_STANDARD}")
                kept = msgspec.structs.replace(
                    kept, standard=standard.name, standard_digest=folder_digest(standard.parent)[1]
                )
            body = msgspec.msgpack.encode(kept)
            Path(f"{own}/{_ENTRY}").write_bytes(sha256_bytes(body).encode() + body)
            if os.path.lexists(place) and self.find(kept.key) is None:
                self.discard(kept.key)
            os.rename(own, place)  # fails where another process was first: its entry says the same
        if own:
            shutil.rmtree(own, ignore_errors=True)

    def discard(self, key: str) -> None:
        """The entry is not there any more."""
        place = self._place(key)
        with suppress(OSError):
            # Moved first: another process finds the whole entry or none.
            own = tempfile.mkdtemp(prefix=_PART, dir=os.path.dirname(place))
            os.rename(place, f"{own}/gone")
            shutil.rmtree(own, ignore_errors=True)

    def entries(self) -> Iterator[tuple[CachedArtifact, int, float]]:
        """Each with its bytes on disk and the time of its last use (seconds since 1970). Half-written ones of long ago are
        removed, broken ones too."""
        for path in sorted(Path(self.folder).glob("??/*")):
            if path.name.startswith(_PART):
                with suppress(OSError):
                    if time.time() - path.stat().st_mtime > _STALE_S:
                        shutil.rmtree(path, ignore_errors=True)
                continue
            try:
                data = (path / _ENTRY).read_bytes()
                used = (path / _ENTRY).stat().st_mtime
                kept = _decoded(data)
            except OSError:
                kept = None
            if kept is None:
                self.discard(path.parent.name + path.name)
                continue
            yield kept, size_bytes(path), used

    def weighed(self) -> Iterator[Entry]:
        """Every entry as it lies there, whatever it holds, and what killed processes left half-written."""
        for path in Path(self.folder).glob("??/*"):
            dated = path / _ENTRY
            if entry := entry_of(path, used=dated if dated.exists() else path):
                yield entry

    def _sound(self, kept: CachedArtifact) -> bool:
        if kept.refusal is not None:
            return True
        known = (kept.facts.artifact_bytes, kept.facts.artifact_digest)
        try:
            if folder_digest(f"{self._place(kept.key)}/{_FILES}") != known:
                return False
            standard = f"{self._place(kept.key)}/{_STANDARD}"
            return not kept.standard or folder_digest(standard)[1] == kept.standard_digest
        except OSError:
            return False

    def _place(self, key: str) -> str:
        return f"{self.folder}/{key[:2]}/{key[2:]}"


def changed(rival: BaselineEngine) -> Note | None:
    """Why an approved engine is not loaded; None where it is as it was. Loaders take altered weights or another version for sound
    (ncnn, MNN) or die of them. Asked at the last moment, and once more when it has run: the run may have been planned long ago,
    and every launch loads it again."""
    if rival.digest is None or rival.stored or is_as_saved(rival.artifact, rival.digest):
        return None
    there = Path(rival.artifact).exists()
    return noted(NoteCode.ARTIFACT_CHANGED if there else NoteCode.ARTIFACT_GONE, path=rival.artifact)


def is_as_saved(folder: str, digest: str) -> bool:
    """Whether the files of an engine are those that had this digest."""
    try:
        return folder_digest(folder)[1] == digest
    except OSError:
        return False


def artifacts_folder() -> Path:
    """In the user's cache: projects share it."""
    return user_cache() / "artifacts" / LAYOUT


def _decoded(data: bytes) -> CachedArtifact | None:
    digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if sha256_bytes(body).encode() != digest:
        return None
    try:
        return msgspec.msgpack.decode(body, type=CachedArtifact)
    except msgspec.DecodeError:
        return None
