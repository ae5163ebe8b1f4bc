"""Since when, by builds of the user's own."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.commands.triage import run_triage
from assay.errors import UsageError
from assay.options.triage import TriageOptions
from assay.triage.builds import CHECKS, Builds, bisect, commits
from assay.triage.since import State
from assay.triage.since_text import since

NAMES = [f"n{number:02}" for number in range(20)]


@pytest.mark.parametrize("first", [1, 7, 19])
def test_the_first_bad_build_is_exact(first: int) -> None:
    tried = []

    def probe(name: str) -> State:
        tried.append(name)
        return State.UNTESTABLE if name in ("n10", "n05") else State.WRONG if name >= NAMES[first] else State.RIGHT

    history = bisect(NAMES, probe, math.inf)
    assert (history.first_bad, history.complete, history.unit) == (NAMES[first], True, "build")
    assert len(tried) == len(set(tried)) <= 18


def test_without_a_right_build_few_are_asked() -> None:
    history = bisect(NAMES, lambda name: State.WRONG, math.inf)
    assert (history.first_bad, len(history.states)) == ("", 2 + CHECKS)
    assert "wrong in all 10 builds that were tested, n00 to n19; 10 of 20 builds were tried" in since(history)


@pytest.mark.parametrize(
    ("wrong", "first_bad", "good_again"),
    [
        ({*range(5, 9), *range(14, 20)}, "n05", ""),
        ({*range(4), *range(12, 20)}, "", ""),
        ({*range(3, 8), *range(11, 15)}, "n03", "n15"),
    ],
)
def test_builds_that_come_and_go_are_told(wrong: set[int], first_bad: str, good_again: str) -> None:
    asked = []

    def probe(name: str) -> State:
        asked.append(name)
        return State.WRONG if int(name[1:]) in wrong else State.RIGHT

    history = bisect(NAMES, probe, math.inf)
    assert (history.first_bad, history.good_again) == (first_bad, good_again)
    changes = [at for at in range(1, 20) if (at in wrong) != (at - 1 in wrong)]
    assert all({f"n{at - 1:02}", f"n{at:02}"} <= set(asked) for at in changes), "each change is exact"
    assert history.turns == tuple(f"n{at:02}" for at in changes)
    assert "it came and went" in since(history)


def test_ends_that_cannot_be_tested_are_passed_over() -> None:
    lost = {*NAMES[:3], *NAMES[18:]}

    def probe(name: str) -> State:
        return State.UNTESTABLE if name in lost else State.WRONG if name >= NAMES[7] else State.RIGHT

    assert bisect(NAMES, probe, math.inf).first_bad == NAMES[7]
    nowhere = bisect(NAMES, lambda name: State.UNTESTABLE, math.inf)
    assert (nowhere.first_bad, set(nowhere.states)) == ("", set(NAMES))


@pytest.mark.parametrize("newest", [State.UNTESTABLE, State.WRONG])
def test_at_the_deadline_no_end_is_looked_for_any_more(newest: State) -> None:
    tried = []
    deadline = time.monotonic() + 1.0

    def probe(name: str) -> State:
        tried.append(name)
        if len(tried) == 3:
            time.sleep(max(0.0, deadline - time.monotonic()) + 0.01)
        return newest if name == NAMES[-1] else State.UNTESTABLE

    history = bisect(NAMES, probe, deadline)
    assert (history.complete, set(history.states)) == (False, set(tried))
    assert 0 < len(tried) <= 3
    assert bisect(NAMES, probe, time.monotonic() - 1.0).states == {}


def test_the_last_line_of_a_command_is_the_python_of_the_build(tmp_path: Path) -> None:
    builds = Builds(f"echo building {{build}} >> {tmp_path}/log; echo {sys.executable}", ("a b",))
    interpreter = builds.made("a b")
    assert interpreter is not None
    assert interpreter.program == sys.executable
    assert (tmp_path / "log").read_text() == "building a b\n"
    assert Builds("false", ("a",)).made("a") is None


def test_commits_are_checked_out_beside_the_user_s_tree(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True
        )

    git("init", "--quiet")
    for number in range(4):
        (tmp_path / "python").write_text(str(number))
        git("add", ".")
        git("commit", "--quiet", "-m", str(number))
    (tmp_path / "python").write_text("mine")
    with commits("echo python", tmp_path, "HEAD~2", "HEAD") as builds:
        assert (len(builds.names), builds.unit) == (3, "commit")
        interpreter = builds.made(builds.names[0])
        assert interpreter is not None
        assert Path(interpreter.program).read_text() == "1"
    assert (tmp_path / "python").read_text() == "mine"
    with pytest.raises(UsageError, match="--source"), commits("x", tmp_path, "nowhere", "HEAD"):
        pass


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"builds": ("a", "b")}, "need --build-command"),
        ({"build_command": "x"}, "needs the builds"),
        ({"build_command": "x", "source": Path()}, "needs --good"),
    ],
)
def test_options_that_do_not_go_together_are_refused(said: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        run_triage(TriageOptions(target="last", history=str(tmp_path), **said))  # type: ignore[arg-type]
