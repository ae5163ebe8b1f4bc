"""Releases on other Pythons, before and after those for this one."""

from __future__ import annotations

import math
import sys
import time

import pytest

from assay.environments import releases
from assay.errors import EnvironmentFailed
from assay.triage import other_releases
from assay.triage.cause import Cause, Where
from assay.triage.other_releases import OtherReleases
from assay.triage.since import State
from assay.triage.symptom import Symptom

OLDER, NEWER, NEWEST = (f"{sys.version_info.major}.{sys.version_info.minor + step}" for step in (-1, 1, 2))
LISTED = {
    "": ["1.4.0", "1.5.0", "1.6.0"],
    OLDER: ["1.2.0", "1.3.0", "1.4.0"],
    NEWER: ["1.6.0", "1.7.0"],
    NEWEST: ["1.7.0", "1.8.0"],
}
RIGHT, WRONG = State.RIGHT, State.WRONG


def others(monkeypatch: pytest.MonkeyPatch, states: list[State], *, reached: bool = True) -> OtherReleases:
    """Of a cause that was found in 1.5.0; what 1.2.0 to 1.8.0 make of its script is known."""

    def listed(package: str, python: str = "") -> list[str]:
        if not reached or python not in LISTED:
            raise EnvironmentFailed("the registry does not answer")
        return LISTED[python]

    monkeypatch.setattr(releases, "list_releases", listed)
    monkeypatch.setattr(other_releases, "list_releases", listed)
    monkeypatch.setattr(other_releases, "releases_at_hand", lambda package: ["1.4.0", "1.10.0"])
    symptom = Symptom("values", "y", 0.5)
    cause = Cause("k", "m", "f", "engine", {"engine": "1.5.0"}, Where.NODE, symptom, symptom, script="repro.py")
    found = OtherReleases.of(cause, ("engine",), lambda text: None)
    found.states = {f"1.{at + 2}.0": state for at, state in enumerate(states)}
    return found


def test_what_is_right_again_on_a_newer_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = others(monkeypatch, [WRONG, WRONG, RIGHT, WRONG, WRONG, WRONG, RIGHT])
    history = found.history(math.inf)
    assert (history.first_bad, history.good_again, next(iter(history.states))) == ("1.5.0", "1.8.0", "1.4.0")
    assert found.pythons == {"1.7.0": NEWER, "1.8.0": NEWEST}


def test_what_begins_wrong_is_looked_for_on_an_older_python(monkeypatch: pytest.MonkeyPatch) -> None:
    found = others(monkeypatch, [RIGHT, WRONG, WRONG, WRONG, WRONG, WRONG, WRONG])
    history = found.history(math.inf)
    assert (history.first_bad, history.good_again) == ("1.3.0", "")
    assert list(history.states) == [f"1.{minor}.0" for minor in range(2, 9)]
    assert found.pythons["1.2.0"] == OLDER


def test_without_time_no_other_python_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = others(monkeypatch, [WRONG] * 7)
    assert list(found.history(time.monotonic() - 1).states) == ["1.5.0"]
    assert not found.pythons


def test_without_a_registry_those_at_hand_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found = others(monkeypatch, [WRONG] * 7, reached=False)
    found.states["1.10.0"] = RIGHT
    history = found.history(math.inf)
    assert (history.states, history.at_hand) == ({"1.4.0": WRONG, "1.5.0": WRONG, "1.10.0": RIGHT}, True)
