"""What the robot knows of the zoo's policy beside its checks: the name for its pages, and packages that are not here."""

from __future__ import annotations

import importlib.util
import threading
import time
import tomllib
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from assay_zoo.manifest import Manifest
from assay_zoo.policy import ZooPolicy
from assay_zoo.robot.git import GitFailed
from assay_zoo.robot.mirror import Mirror
from assay_zoo.robot.sanitize import sanitize
from assay_zoo.zoo_files import MANIFEST, POLICY

_KEPT_S = 30.0
_LONGEST = 60
_UNNAMED = "Model zoo"
Told = TypeVar("Told")


def missing_packages(mirror: Mirror) -> list[str]:
    """What the zoo's branch allows notebooks to import and this Python does not have; none for a policy that cannot be read.
    Raises HarnessError where the branch cannot be fetched."""
    mirror.fetch_base()
    policy = _policy(mirror)
    names = policy.packages if policy else ()
    return [name for name in names if name.isidentifier() and importlib.util.find_spec(name) is None]


def approved_authors(mirror: Mirror) -> tuple[str, ...]:
    """Whom the zoo's branch, as it was fetched last, lists under `approved`; nobody for a policy that cannot be read."""
    policy = _policy(mirror)
    return policy.approved if policy else ()


def _policy(mirror: Mirror) -> ZooPolicy | None:
    """None for one that the checks tell of, and where nothing was fetched yet."""
    try:
        return ZooPolicy.model_validate(tomllib.loads(mirror.text(POLICY)))
    except (GitFailed, ValueError, RecursionError):
        return None


class _Kept(Generic[Told]):
    """What `read` says of the copy of the repository, never of the network; read again at most every 30 s."""

    def __init__(self, read: Callable[[], Told]) -> None:
        self._read, self._lock, self._at = read, threading.Lock(), -_KEPT_S

    def value(self) -> Told:
        with self._lock:
            if time.monotonic() - self._at >= _KEPT_S:
                self._told, self._at = self._read(), time.monotonic()
            return self._told


class ServedModels:
    """What the manifest of the zoo's branch serves."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror, self._digests = mirror, _Kept(self._read)

    def __call__(self, name: str, digest: str) -> bool:
        """Whether these files are served under that name; where no manifest can be read, nobody says that they are not."""
        known = self._digests.value()
        return known is None or (name in known if not digest else known.get(name) == digest)

    def _read(self) -> dict[str, str] | None:
        try:
            manifest = msgspec.json.decode(self._mirror.text(MANIFEST), type=Manifest)
        except (GitFailed, msgspec.MsgspecError):
            return None
        served = {name: entry.version(entry.current) for name, entry in manifest.models.items()}
        return {name: version.digest for name, version in served.items() if version}


class ZooName:
    """As zoo.toml of the zoo's branch says it."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror, self._name = mirror, _Kept(self._read)

    def __call__(self) -> str:
        return self._name.value()

    def _read(self) -> str:
        policy = _policy(self._mirror)
        return sanitize(policy.name, _LONGEST) if policy and policy.name.strip() else _UNNAMED
