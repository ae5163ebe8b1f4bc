"""Since when: releases that are right, wrong or cannot be tested, in any order."""

from __future__ import annotations

import time

import pytest

from assay.environments.releases import ScriptRun
from assay.triage.script import DONE, state_in
from assay.triage.since import History, State, scan
from assay.triage.since_text import since
from assay.triage.symptom import Symptom

REFUSED = "unsupported refused Exception Attempt to replace the existing tensor"

RELEASES = [f"1.{minor}.{patch}" for minor in range(10) for patch in range(4)]
LATER = time.monotonic() + 3600


def history(wrong: set[str], untestable: set[str] = frozenset()) -> tuple[History, int]:  # type: ignore[assignment]
    """What the scan finds, and how many releases it tried."""
    tried = []

    def probe(version: str) -> State:
        tried.append(version)
        return State.UNTESTABLE if version in untestable else State.WRONG if version in wrong else State.RIGHT

    return scan(RELEASES, probe, LATER, RELEASES[-1] if RELEASES[-1] in wrong else ""), len(tried)


@pytest.mark.parametrize("first", ["1.3.0", "1.3.2", "1.9.3", "1.0.1"])
def test_the_first_bad_release_is_exact(first: str) -> None:
    releases, tried = history(set(RELEASES[RELEASES.index(first) :]))
    assert releases.first_bad == first
    assert releases.complete
    assert tried < 20


def test_a_release_that_is_right_again_is_named() -> None:
    releases, _ = history(set(RELEASES[9:22]))
    assert (releases.first_bad, releases.good_again) == (RELEASES[9], RELEASES[22])
    assert releases.is_monotone


def test_what_came_and_went_is_not_monotone() -> None:
    releases, _ = history({*RELEASES[8:16], *RELEASES[28:]})
    assert not releases.is_monotone
    assert releases.first_bad == RELEASES[8]


@pytest.mark.parametrize(
    ("letters", "text"),
    [
        ("RW", "b1 is the first bad build"),
        ("RWWR", "b1 is the first bad build; b3 is right again"),
        ("RUWR", "b2 is the first bad build; b3 is right again; 1 could not be tested (b1)"),
        ("WWR", "the first one tried is wrong; b2 is right again"),
        ("UWR", "the first one tried is wrong; b2 is right again; 1 could not be tested (b0)"),
        ("WWW", "wrong in all 3 builds that were tested, b0 to b2"),
        ("RRR", "right in all"),
        ("W", ""),
        (
            "RRWWRRWW",
            "b2 is the first bad build, it was right again at b4, and wrong since b6; it came and went",
        ),
        (
            "RWRWR",
            "b1 is the first bad build, it was right again at b2, wrong from b3, and right since b4; it came and went",
        ),
        ("WWWWRRRRWWWW", "the first one tried is wrong; right from b4, wrong again since b8; it came and went"),
        ("WRWR", "the first one tried is wrong; right from b1, wrong again from b2, right since b3; it came and went"),
        (
            "RWRWRWRWRW",
            "b1 is the first bad build, it was right again at b2, wrong from b3, right from b4, wrong from b5, ..., "
            "and wrong since b9; it came and went",
        ),
    ],
)
def test_each_turn_is_told_and_the_first_bad_one_is_the_first(letters: str, text: str) -> None:
    states = {"R": State.RIGHT, "W": State.WRONG, "U": State.UNTESTABLE}
    state_of = {f"b{at}": states[letter] for at, letter in enumerate(letters)}
    assert since(History(state_of, complete=True, unit="build")) == text


def test_what_cannot_be_tested_is_neither_right_nor_wrong() -> None:
    releases, _ = history(set(RELEASES[20:]), set(RELEASES[:8]))
    assert releases.first_bad == RELEASES[20]
    everywhere, _ = history(set(RELEASES[8:]), set(RELEASES[:8]))
    assert everywhere.first_bad == ""


def test_a_scan_without_time_says_that_it_is_not_complete() -> None:
    scanned = scan(RELEASES, lambda version: State.WRONG, time.monotonic() - 1, RELEASES[-1])
    assert scanned.states == {RELEASES[-1]: State.WRONG}
    assert not scanned.complete


@pytest.mark.parametrize(
    ("run", "symptom", "state"),
    [
        (ScriptRun(0, DONE), "values", State.RIGHT),
        (ScriptRun(1, DONE), "values", State.WRONG),
        (ScriptRun(1, "RuntimeException: replace the existing tensor"), REFUSED, State.WRONG),
        (ScriptRun(1, "Unsupported model IR version: 10"), REFUSED, State.UNTESTABLE),
        (ScriptRun(1, DONE), REFUSED, State.UNTESTABLE),
        (ScriptRun(0, DONE), REFUSED, State.RIGHT),
        (ScriptRun(1, "Traceback"), "values", State.UNTESTABLE),
        (ScriptRun(None), "values", State.UNTESTABLE),
        (ScriptRun(-11), "crash SIGSEGV", State.WRONG),
        (ScriptRun(1, "Traceback"), "crash SIGSEGV", State.UNTESTABLE),
    ],
)
def test_a_traceback_is_no_verdict_on_a_release(run: ScriptRun, symptom: str, state: State) -> None:
    assert state_in(run, Symptom(symptom)) is state


def test_what_begins_wrong_may_have_begun_before() -> None:
    lost = {RELEASES[0]: State.UNTESTABLE}
    assert History({**lost, RELEASES[1]: State.WRONG}).begins_wrong
    assert not History({**lost, RELEASES[1]: State.RIGHT, RELEASES[2]: State.WRONG}).begins_wrong
