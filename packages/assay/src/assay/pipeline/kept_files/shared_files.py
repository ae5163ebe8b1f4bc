"""Folders of the history that are kept in a store of blobs, so that another machine has them: baselines, references, logs, traces.

A folder has a name, its path below the history. The files are blobs; which files a folder has stands in the history, which every machine
asks. A marker in `kept/` says what this machine last agreed on with the history, so that three states can be told apart: what is here,
what was agreed, what the history says now.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.core.digest import value_digest
from assay.core.kept_folder import KeptFile, KeptFolder
from assay.errors import BlobLost, UsageError
from assay.models.cache_eviction import entry_of, evict, used_now
from assay.models.files import file_digest
from assay.ports import Blobs, KeepsFolders

Item = TypeVar("Item")
Folders = Mapping[str, KeptFolder | None]

MARKERS = "kept"
KINDS = ("approvals", "oracle", "logs", "traces", "candidates")
"""Below each is a folder for each thing that is shared."""
GUARDED = "baselines/"
"""What people decide: a change of another machine is never overwritten unseen."""
AT_ONCE = 8
"""Files that go up or down side by side."""


class _Marker(msgspec.Struct, frozen=True):
    """`times` are those of the files when they were hashed, in nanoseconds."""

    name: str
    folder: KeptFolder
    times: tuple[int, ...]


class SharedFiles:
    """`folder` is the history's. Without `blobs` every call is without effect: the files are those of this machine."""

    def __init__(self, folder: Path = Path(), blobs: Blobs | None = None, names: KeepsFolders | None = None) -> None:
        self._folder, self._blobs, self._names = folder, blobs, names

    def __bool__(self) -> bool:
        return self._blobs is not None

    def bring(self, *names: str) -> None:
        """Make these folders here what the history says; a name that ends in / stands for all below it. What is here and was not kept yet
        stays as it is. Raises StoreError, BlobLost."""
        if self._blobs is None or self._names is None:
            return
        known = self._names.folders(names)
        for name in self._gone(names, known):
            self._remove(name)
        stale = {name: kept for name, kept in known.items() if self._is_stale(name, kept)}
        self._fetch(stale)
        for name in known:
            used_now(self._path_of_marker(name))

    def bring_if_whole(self, *names: str) -> None:
        """Those of which every file is in the store: what is missing is made here again."""
        if self._names is None:
            return
        for name, kept in self._names.folders(names).items():
            if not (self._folder / name).exists():
                try:
                    self._fetch({name: kept})
                except BlobLost:
                    continue

    def keep(self, *names: str) -> int:
        """Put these folders into the store as they are here now, and those that were kept and are gone out of the history. Returns how many
        files were not in the store before. Raises UsageError where another machine has changed one since, StoreError."""
        if self._blobs is None or self._names is None:
            return 0
        here = {name: self._hashed(name) for name in self._below(names)}
        agreed = {name: self._marker(name) for name in {*here, *self._marked(names)}}
        new = {
            name: marker
            for name, marker in here.items()
            if (known := agreed[name]) is None or known.folder != marker.folder
        }
        # A reference that another machine has kept is as good.
        others = self._names.folders([name for name in new if agreed[name] is None and not name.startswith(GUARDED)])
        new = {name: marker for name, marker in new.items() if name not in others}
        gone = [name for name in agreed if name not in here]
        if not new and not gone:
            return 0
        count = self._send(new)
        after: dict[str, KeptFolder | None] = {name: marker.folder for name, marker in new.items()}
        after |= dict.fromkeys(gone)
        self._names.change_folders(list(after), _checked(after, agreed))
        for marker in new.values():
            self._mark(marker)
        for name in gone:
            self._path_of_marker(name).unlink(missing_ok=True)
        return count

    def push(self, *, verify: bool = False) -> int:
        """Keep everything that is here and may be shared, what the store lost included; with `verify` every file is read back, and put
        there again where it is damaged. Returns how many files were sent."""
        names = [f"{self.name_of(path)}/" for path in sorted((self._folder / "baselines").glob("*/*")) if path.is_dir()]
        names += [self.name_of(path) for kind in KINDS for path in sorted((self._folder / kind).glob("*"))]
        self.bring(*(name for name in names if name.endswith("/")))
        count = self.keep(*names)
        here = {name: self._hashed(name) for name in self._below(names)}
        return count + self._send(here, verify=verify) if self else 0

    def evict(self, most_bytes: int) -> int:
        """Remove the copies that were not used for longest, until the rest are no larger: the store has them. Returns how many."""
        markers = [mark for path in (self._folder / MARKERS).glob("*.json") if (mark := _read(path)) is not None]
        entries = [
            entry
            for marker in markers
            if self._is_untouched(marker)
            and (entry := entry_of(self._folder / marker.name, path := self._path_of_marker(marker.name), used=path))
        ]
        return evict(entries, most_bytes)[0] if sum(entry.size_bytes for entry in entries) > most_bytes else 0

    def forget(self, names: Iterable[str]) -> None:
        """These are no longer needed, by anybody."""
        every = list(names)
        if self._names is None or not every:
            return
        self._names.change_folders(every, lambda before: dict.fromkeys(before))
        for name in every:
            self._path_of_marker(name).unlink(missing_ok=True)

    def known(self, *names: str) -> list[str]:
        """The names that the history has of these; one that ends in / stands for all below it."""
        return list(self._names.folders(names)) if self._names is not None else []

    def name_of(self, path: str | Path) -> str:
        """The name of a folder below the history."""
        return Path(path).absolute().relative_to(self._folder.absolute()).as_posix()

    def _below(self, names: Collection[str]) -> list[str]:
        """The folders that are here. Below a name that ends in / they are the innermost that hold all of one thing."""
        exact = [name for name in names if not name.endswith("/") and (self._folder / name).is_dir()]
        inner = [path for name in names if name.endswith("/") for path in sorted((self._folder / name).glob("*"))]
        return exact + [self.name_of(path) for path in inner if path.is_dir() and not path.name.startswith("tmp")]

    def _marked(self, names: Collection[str]) -> list[str]:
        markers = [_read(path) for path in (self._folder / MARKERS).glob("*.json")]
        return [marker.name for marker in markers if marker is not None and _is_among(marker.name, names)]

    def _gone(self, names: Collection[str], known: Mapping[str, KeptFolder]) -> list[str]:
        return [name for name in self._marked(names) if name not in known and self._is_as_agreed(name)]

    def _is_as_agreed(self, name: str) -> bool:
        marker = self._marker(name)
        return marker is not None and marker.folder == self._hashed(name).folder

    def _is_stale(self, name: str, kept: KeptFolder) -> bool:
        if not (self._folder / name).exists():
            return True
        marker = self._marker(name)
        return marker is not None and marker.folder != kept and self._is_as_agreed(name)

    def _hashed(self, name: str) -> _Marker:
        """What is here. Files that have the size and the time of the marker are not read again."""
        root, marker = self._folder / name, self._marker(name)
        known = (
            {(file.path, file.size_bytes, at): file for file, at in zip(marker.folder.files, marker.times, strict=True)}
            if marker
            else {}
        )
        files, times = [], []
        for path in sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink()):
            status, below = path.stat(), path.relative_to(root).as_posix()
            kept_file = known.get((below, status.st_size, status.st_mtime_ns))
            files.append(kept_file or KeptFile(below, file_digest(path), status.st_size))
            times.append(status.st_mtime_ns)
        return _Marker(name, KeptFolder(tuple(files)), tuple(times))

    def _send(self, new: Mapping[str, _Marker], *, verify: bool = False) -> int:
        assert self._blobs is not None
        paths = {
            file.sha256: (self._folder / name / file.path, file.size_bytes)
            for name, marker in new.items()
            for file in marker.folder.files
        }
        there = self._blobs.sizes(list(paths))
        # One that has another size is damaged: it is put there again.
        missing = [digest for digest, (_, size) in paths.items() if there.get(digest) != size]
        blobs = self._blobs
        if verify:
            missing += [path for path in paths if path not in missing and self._is_damaged(path)]
        _side_by_side(lambda digest: blobs.put(paths[digest][0], digest), missing)
        return len(missing)

    def _is_damaged(self, digest: str) -> bool:
        assert self._blobs is not None
        with tempfile.TemporaryDirectory(dir=self._folder / MARKERS) as name:
            try:
                self._blobs.fetch(digest, Path(name) / "read-back")
            except BlobLost:
                return True
        return False

    def _is_untouched(self, marker: _Marker) -> bool:
        """By sizes and times."""
        root = self._folder / marker.name
        try:
            stats = [(root / file.path).stat() for file in marker.folder.files]
        except OSError:
            return False
        now = [(stat.st_size, stat.st_mtime_ns) for stat in stats]
        return now == [(file.size_bytes, at) for file, at in zip(marker.folder.files, marker.times, strict=True)]

    def _fetch(self, folders: Mapping[str, KeptFolder]) -> None:
        """Each whole or not at all."""
        if not folders:
            return
        (self._folder / MARKERS).mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._folder / MARKERS) as name:
            staging = {folder: Path(name) / value_digest(folder) for folder in folders}
            files = [
                (file.sha256, staging[folder] / file.path) for folder, kept in folders.items() for file in kept.files
            ]
            for place in staging.values():
                place.mkdir()
            for _, path in files:
                _check_below(path, Path(name))
                path.parent.mkdir(parents=True, exist_ok=True)
            blobs = self._blobs
            assert blobs is not None
            _side_by_side(lambda pair: blobs.fetch(*pair), files)
            for folder, whole in staging.items():
                final = self._folder / folder
                final.parent.mkdir(parents=True, exist_ok=True)
                shutil.rmtree(final, ignore_errors=True)
                whole.replace(final)
                times = tuple((final / file.path).stat().st_mtime_ns for file in folders[folder].files)
                self._mark(_Marker(folder, folders[folder], times))

    def _remove(self, name: str) -> None:
        shutil.rmtree(self._folder / name, ignore_errors=True)
        self._path_of_marker(name).unlink(missing_ok=True)

    def _mark(self, marker: _Marker) -> None:
        path = self._path_of_marker(marker.name)
        path.parent.mkdir(exist_ok=True)
        new = path.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(marker))
        new.replace(path)

    def _marker(self, name: str) -> _Marker | None:
        return _read(self._path_of_marker(name))

    def _path_of_marker(self, name: str) -> Path:
        return self._folder / MARKERS / f"{value_digest(name)}.json"


def _checked(after: Folders, agreed: Mapping[str, _Marker | None]) -> Callable[[Mapping[str, KeptFolder]], Folders]:
    """The change, unless another machine made one of its own meanwhile to what somebody approved."""

    def change(before: Mapping[str, KeptFolder]) -> Folders:
        for name, kept in after.items():
            marker = agreed[name]
            if before.get(name) not in (kept, marker.folder if marker else None) and name.startswith(GUARDED):
                raise UsageError(
                    f"{name} was changed on another machine meanwhile: nothing was shared; `assay baseline list` shows what is approved "
                    "there, and the same command again approves this one"
                )
        return after

    return change


def _read(path: Path) -> _Marker | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Marker)
    except (OSError, msgspec.MsgspecError):
        return None


def _is_among(name: str, names: Collection[str]) -> bool:
    return any(name == known or (known.endswith("/") and name.startswith(known)) for known in names)


def _check_below(path: Path, folder: Path) -> None:
    """Names come from a history that others write."""
    if ".." in path.parts or not path.is_relative_to(folder):
        raise UsageError(f"the history names the file {path.name} outside of its folder: it was not written by assay")


def _side_by_side(work: Callable[[Item], None], items: Sequence[Item]) -> None:
    """Raises what the first of them raised; those that had not begun are left out."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(work, items))
