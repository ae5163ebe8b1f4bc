"""What the robot knows of the zoo's policy beside its checks: the name for its pages, and packages that are not here."""

from __future__ import annotations

import importlib.util
import threading
import time
import tomllib

import msgspec

from assay_zoo.manifest import Manifest
from assay_zoo.policy import ZooPolicy
from assay_zoo.repository import MANIFEST, POLICY
from assay_zoo.robot.git import GitFailed
from assay_zoo.robot.mirror import Mirror
from assay_zoo.robot.sanitize import sanitize

_KEPT_S = 30.0
_LONGEST = 60
_UNNAMED = "Model zoo"


def missing_packages(mirror: Mirror) -> list[str]:
    """What the zoo's branch allows notebooks to import and this Python does not have; none for a policy that cannot be read.
    Raises HarnessError where the branch cannot be fetched."""
    mirror.fetch_base()
    try:
        policy = ZooPolicy.model_validate(tomllib.loads(mirror.text(POLICY)))
    except (GitFailed, ValueError, RecursionError):
        return []  # a policy that the checks tell of
    return [name for name in policy.packages if name.isidentifier() and importlib.util.find_spec(name) is None]


def approved_authors(mirror: Mirror) -> tuple[str, ...]:
    """Whom the zoo's branch, as it was fetched last, lists under `approved`; nobody for a policy that cannot be read."""
    try:
        return ZooPolicy.model_validate(tomllib.loads(mirror.text(POLICY))).approved
    except (GitFailed, ValueError, RecursionError):
        return ()  # a policy that the checks tell of


class ServedModels:
    """What the manifest of the zoo's branch, as it was fetched last, serves; at most every 30 s it is read again."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._lock = threading.Lock()
        self._digests: dict[str, str] | None = None
        self._at = -_KEPT_S

    def __call__(self, name: str, digest: str) -> bool:
        """Whether these files are served under that name; where no manifest can be read, nobody says that they are not."""
        with self._lock:
            if time.monotonic() - self._at >= _KEPT_S:
                self._digests, self._at = self._read(), time.monotonic()
            return self._digests is None or (name in self._digests if not digest else self._digests.get(name) == digest)

    def _read(self) -> dict[str, str] | None:
        try:
            found = msgspec.json.decode(self._mirror.text(MANIFEST), type=Manifest)
        except (GitFailed, msgspec.MsgspecError):
            return None
        served = {name: entry.version(entry.current) for name, entry in found.models.items()}
        return {name: version.digest for name, version in served.items() if version}


class ZooName:
    """Asks the copy of the repository, never the network; at most every 30 s."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._lock = threading.Lock()
        self._name, self._at = _UNNAMED, -_KEPT_S

    def __call__(self) -> str:
        with self._lock:
            if time.monotonic() - self._at >= _KEPT_S:
                self._name, self._at = self._read(), time.monotonic()
            return self._name

    def _read(self) -> str:
        try:
            name = tomllib.loads(self._mirror.text(POLICY)).get("name", "")
        except (GitFailed, ValueError, RecursionError):
            return _UNNAMED  # nothing was fetched yet, or a policy that the checks tell of
        return sanitize(name, _LONGEST) if isinstance(name, str) and name.strip() else _UNNAMED
