"""What the robot knows of the zoo's policy beside its checks: the name for its pages, and packages that are not here."""

from __future__ import annotations

import importlib.util
import threading
import time
import tomllib

from assay_zoo.policy import ZooPolicy
from assay_zoo.robot.git import GitFailed
from assay_zoo.robot.mirror import Mirror
from assay_zoo.robot.sanitize import sanitize
from assay_zoo.zoo_files import POLICY

_KEPT_S = 30.0
_LONGEST = 60
_UNNAMED = "Model zoo"


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


class ZooName:
    """As zoo.toml of the zoo's branch says it: of the copy of the repository, never of the network; read again at most every 30 s."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror, self._lock, self._at, self._name = mirror, threading.Lock(), -_KEPT_S, ""

    def __call__(self) -> str:
        with self._lock:
            if time.monotonic() - self._at >= _KEPT_S:
                policy = _policy(self._mirror)
                named = policy and policy.name.strip()
                self._name, self._at = sanitize(named, _LONGEST) if named else _UNNAMED, time.monotonic()
            return self._name
