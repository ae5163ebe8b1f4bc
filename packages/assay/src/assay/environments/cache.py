"""Built environments on disk: one folder per lock, whole or absent, one builder at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.environments.installer import Installer
from assay.environments.lock import Lock
from assay.environments.worker_requirements import normal
from assay.errors import EnvironmentFailed
from assay.models.files import user_cache

_MARK = "assay-environment.json"


class Built(msgspec.Struct, frozen=True):
    """What is written into a finished environment."""

    digest: str
    python: str
    installer: str
    built_at: str
    requires: tuple[str, ...] = ()


def default_cache() -> Path:
    """`ASSAY_ENVIRONMENTS`, or `environments` in the user's cache: environments are shared by all projects."""
    own = os.environ.get("ASSAY_ENVIRONMENTS", "")
    return Path(own).expanduser().absolute() if own else user_cache() / "environments"


class Cache:
    """Environments by the digest of their lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, lock: Lock) -> Path:
        """Where the environment of that lock lies, built or not."""
        return self.folder / lock.digest

    def state(self, lock: Lock, *, every_file: bool = True) -> str:
        """ "" where the environment is whole; else what is wrong with it, `missing` where it was never built. Without `every_file`
        only the packages are looked for: an environment has tens of thousands of files, which a cold disk gives slowly."""
        place = self.place(lock)
        return broken(place, lock, every_file=every_file) if place.is_dir() else "missing"

    def build(self, lock: Lock, installer: Installer, python: str, tell: Callable[[str], None]) -> Path:
        """The folder of the environment, built now if it is not whole. Raises EnvironmentFailed.

        Two processes that want the same one do not collide: the second waits, then finds it there.
        """
        place = self.place(lock)
        with self._alone(lock.digest):
            wrong = self.state(lock)
            if not wrong:
                return place
            if wrong != "missing":
                tell(f"an environment is broken ({wrong}): building it again")
            self._make(place, lock, installer, python)
        return place

    def _make(self, place: Path, lock: Lock, installer: Installer, python: str) -> None:
        new = place.with_name(f".{place.name}.new")
        pins = new.with_name(new.name + ".txt")
        try:
            # What a builder that was killed left behind: nobody else builds this one now.
            shutil.rmtree(new, ignore_errors=True)
            pins.write_text(lock.pins, encoding="utf-8")
            installer.install(new, python, pins)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            mark = Built(lock.digest, lock.python, installer.name, now, lock.requires)
            (new / _MARK).write_bytes(msgspec.json.encode(mark))
            if place.exists():
                shutil.rmtree(place)
            new.rename(place)
        except OSError as error:
            raise EnvironmentFailed(f"an environment cannot be written in {self.folder} ({error})") from None
        finally:
            pins.unlink(missing_ok=True)
            shutil.rmtree(new, ignore_errors=True)

    def remove(self, lock: Lock) -> int:
        """Bytes freed; 0 where there was nothing."""
        place = self.place(lock)
        with self._alone(lock.digest):
            size = size_bytes(place)
            shutil.rmtree(place, ignore_errors=True)
        return size

    @contextmanager
    def _alone(self, digest: str) -> Iterator[None]:
        """The lock file is left there: removing it would let a third process in beside one that waits for it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / f".{digest}.lock").open("w")
        except OSError as error:
            raise EnvironmentFailed(
                f"environments cannot be kept in {self.folder} ({error.strerror}); set ASSAY_ENVIRONMENTS to another folder"
            ) from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def broken(place: Path, lock: Lock, *, every_file: bool = True) -> str:
    """What an environment lacks, in a few words; "" where every package, or `every_file` of each, that was installed is there."""
    try:
        mark = msgspec.json.decode((place / _MARK).read_bytes(), type=Built)
    except (OSError, msgspec.MsgspecError):
        return "it was not finished"
    if mark.digest != lock.digest:
        return "it belongs to another lock"
    if not os.access(place / "bin" / "python", os.X_OK):
        return "its interpreter is gone"
    site = next(iter(sorted((place / "lib").glob("python*/site-packages"))), None)
    if site is None:
        return "it has no packages"
    here = {normal(path.stem.rsplit("-", 1)[0]) for path in site.glob("*.dist-info")}
    absent = sorted(lock.versions.keys() - here)
    if absent:
        return f"{absent[0]} is gone"
    return _lost_file(site) if every_file else ""


def _lost_file(site: Path) -> str:
    """Plain names: a `Path` for each would take most of the time."""
    folder = str(site)
    for record in site.glob("*.dist-info/RECORD"):
        for line in record.read_text(encoding="utf-8").splitlines():
            name = line.rsplit(",", 2)[0].strip('"')
            if name and "__pycache__" not in name and not os.path.lexists(f"{folder}/{name}"):
                return f"{name} is gone"
    return ""


def size_bytes(folder: Path) -> int:
    """Of all files below; those that several environments share by hard links are counted in each."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size if not path.is_dir() else 0
    return total
