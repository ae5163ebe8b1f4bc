"""What other releases of a backend, or builds of a user's own, make of the script of a cause."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from assay.environments.releases import (
    list_releases,
    newer_releases,
    older_releases,
    release_key,
    releases_at_hand,
    run_with_release,
)
from assay.errors import EnvironmentFailed
from assay.ports import Backend, ShowsPlainUse
from assay.triage.builds import Builds, bisect
from assay.triage.cause import Cause, Doubt
from assay.triage.cause_page import write_pages
from assay.triage.script import DONE, run_script, state_in
from assay.triage.since import History, State, scan

RELEASE_S = 180.0
"""To install one release and run the script with it."""


@dataclass
class OtherReleases:
    """Those of the packages of a script, each asked once. `here` is the one that it was written with. `offline`: only `names` are at hand,
    as the registry cannot be asked. `pythons` are the older ones that a release needs."""

    cause: Cause
    packages: tuple[str, ...]
    here: str
    names: list[str]
    tell: Callable[[str], None]
    offline: bool = False
    pythons: dict[str, str] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)

    @classmethod
    def of(cls, cause: Cause, packages: tuple[str, ...], tell: Callable[[str], None]) -> OtherReleases:
        """As the registry has them for this Python; those that are kept where it cannot be asked."""
        here = cause.versions.get(packages[0], "")
        try:
            return cls(cause, packages, here, list_releases(packages[0]), tell)
        except EnvironmentFailed as error:
            kept = sorted({*releases_at_hand(packages[0]), *filter(None, [here])}, key=release_key)
            tell(f"{error}: {len(kept)} releases are at hand")
            return cls(cause, packages, here, kept, tell, offline=True)

    def probe(self, version: str) -> State:
        """Raises EnvironmentFailed without uv."""
        if version not in self.states:
            python = self.pythons.get(version, "")
            run = run_with_release(
                self.cause.script, self.packages, version, RELEASE_S, DONE, python=python, offline=self.offline
            )
            self.states[version] = state_in(run, self.cause.symptom)
            on = f" on Python {python}" if python else ""
            self.tell(f"{self.packages[0]} {version}{on}: {self.states[version].value}")
        return self.states[version]

    def history(self, deadline: float) -> History:
        """Also of newer releases that are made for another Python, and of older ones where the oldest for this one is wrong."""
        history = scan(self.names, self.probe, deadline, self.here)
        if self.offline or not self.names:
            return replace(history, at_hand=self.offline)
        newer = self._on_another(newer_releases, deadline)
        history = _joined(history, scan([self.names[-1], *newer], self.probe, deadline) if newer else History({}, True))
        older = self._on_another(older_releases, deadline) if history.begins_wrong else ()
        return _joined(scan([*older, self.names[0]], self.probe, deadline) if older else History({}, True), history)

    def _on_another(self, listed: Callable[[str, Sequence[str]], dict[str, str]], deadline: float) -> Sequence[str]:
        """Releases for another Python; none where there is no time to ask."""
        pythons = listed(self.packages[0], self.names) if time.monotonic() < deadline else {}
        self.pythons |= pythons
        return list(pythons)


def _joined(older: History, newer: History) -> History:
    return replace(newer, states={**older.states, **newer.states}, complete=older.complete and newer.complete)


def with_since(cause: Cause, backend: Backend, deadline: float, tell: Callable[[str], None]) -> Cause:
    """What other releases make of its script. Raises EnvironmentFailed where they cannot be installed."""
    if not _has_sure_script(cause) or not isinstance(backend, ShowsPlainUse):
        return cause
    completed = replace(cause, since=OtherReleases.of(cause, backend.plain_packages, tell).history(deadline))
    write_pages(completed)
    return completed


def with_builds(cause: Cause, builds: Builds, deadline: float, tell: Callable[[str], None]) -> Cause:
    """What builds of the user's own make of its script: the first bad one, by bisection."""
    if not _has_sure_script(cause):
        return cause

    def probe(name: str) -> State:
        interpreter = builds.made(name)
        run = run_script(cause.script, interpreter, "fails") if interpreter else None
        state = state_in(run, cause.symptom) if run else State.UNTESTABLE
        tell(f"{builds.unit} {name}: {state.value}")
        return state

    completed = replace(cause, since=bisect(builds.names, probe, deadline, builds.unit))
    write_pages(completed)
    return completed


def _has_sure_script(cause: Cause) -> bool:
    return bool(cause.script) and Doubt.SCRIPT_UNCONFIRMED not in cause.doubts
