"""Since when, by builds of a user's own: names in order or the commits of a source tree, and a command that makes each."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from assay.core.environment import Interpreter
from assay.errors import UsageError
from assay.triage.prober import OutOfTime
from assay.triage.since import History, State

PLACE = "{build}"
VARIABLE = "ASSAY_BUILD"
BUILD_S = 3600.0
"""For one command."""
CHECKS = 8
"""Builds that are asked in any case where their neighbours are alike."""


@dataclass(frozen=True)
class Builds:
    """`names` oldest first. The command runs in `folder` (None: where the user is), with `{build}` in it and the variable `ASSAY_BUILD`
    being the name; the last line of what it prints is the Python that has the build. `unit` is what one is called."""

    command: str
    names: tuple[str, ...]
    folder: Path | None = None
    unit: str = "build"

    def made(self, name: str) -> Interpreter | None:
        """None where the command fails, or prints no program."""
        if self.folder is not None:
            _git(self.folder, "checkout", "--quiet", "--force", "--detach", name)
        command = self.command.replace(PLACE, shlex.quote(name))
        environ = {**os.environ, VARIABLE: name}
        try:
            done = subprocess.run(
                command, shell=True, cwd=self.folder, env=environ, stdout=subprocess.PIPE, text=True,
                errors="replace", timeout=BUILD_S, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
        program = (done.stdout.strip().splitlines() or [""])[-1].strip()
        path = Path(program) if program and Path(program).is_absolute() else (self.folder or Path()) / program
        return Interpreter(str(path.absolute())) if done.returncode == 0 and program and path.is_file() else None


def bisect(names: Sequence[str], probe: Callable[[str], State], deadline: float, unit: str = "build") -> History:
    """The first is right and the last is wrong, as far as the user knows: both are asked, and halves between each two neighbours that
    differ. As builds may come and go, as many again (at least `CHECKS`) are then asked where two neighbours are alike, in the widest gaps
    first. What cannot be tested is passed over to its neighbours, at the ends, too. Stops at the deadline (monotonic seconds), wherever
    it is by then."""
    states: dict[int, State] = {}

    def ask(at: int) -> None:
        if time.monotonic() > deadline:
            raise OutOfTime("the time is over")
        states[at] = probe(names[at])

    complete = True
    try:
        _ask_ends(len(names), ask, states)
        while (at := _between_others(states)) is not None:
            ask(at)
        for _ in range(max(CHECKS, len(states))):
            at = _in_the_widest_gap(states)
            if at is None:
                break
            ask(at)
            while (at := _between_others(states)) is not None:
                ask(at)
    except OutOfTime:
        complete = False
    return History({names[at]: states[at] for at in sorted(states)}, complete, unit, among=len(names))


def _ask_ends(count: int, ask: Callable[[int], None], states: Mapping[int, State]) -> None:
    """From each end to the first that can be tested."""
    for places in (reversed(range(count)), range(count)):
        for at in places:
            if at not in states:
                ask(at)
            if states[at] is not State.UNTESTABLE:
                break


def _between_others(states: Mapping[int, State]) -> int | None:
    """The middle of those not asked between two neighbours of which one is right and the other wrong; the oldest such pair, as the first
    bad build is what is asked for."""
    return next((at for gap, other, at in _gaps(states) if states[gap] is not states[other]), None)


def _in_the_widest_gap(states: Mapping[int, State]) -> int | None:
    gaps = [(gap - other, at) for gap, other, at in _gaps(states)]
    return min(gaps, default=(0, None))[1]


def _gaps(states: Mapping[int, State]) -> Iterator[tuple[int, int, int]]:
    """Two neighbours that could be tested, and the place not asked between them that is nearest to the middle."""
    tested = [at for at in sorted(states) if states[at] is not State.UNTESTABLE]
    for low, high in pairwise(tested):
        middle = (low + high) // 2
        between = [at for at in range(low + 1, high) if at not in states]
        if between:
            yield low, high, min(between, key=lambda at: abs(at - middle))


@contextmanager
def commits(command: str, source: Path, good: str, bad: str) -> Iterator[Builds]:
    """The commits of a tree along first parents, in a work tree of its own: what the user has checked out stays as it is. Raises
    UsageError for what git does not know."""
    first = _git(source, "rev-parse", "--verify", "--quiet", f"{good}^{{commit}}")
    last = _git(source, "rev-parse", "--verify", "--quiet", f"{bad}^{{commit}}")
    between = _git(source, "rev-list", "--first-parent", "--reverse", f"{first}..{last}").split()
    if not between or between[-1] != last:
        raise UsageError(f"--good {good}: it is not before {bad} in {source}")
    with tempfile.TemporaryDirectory(prefix="assay-source-") as name:
        tree = Path(name) / "tree"
        _git(source, "worktree", "add", "--quiet", "--detach", str(tree), last)
        try:
            yield Builds(command, (first, *between), tree, "commit")
        finally:
            _git(source, "worktree", "remove", "--force", str(tree))


def _git(folder: Path, *arguments: str) -> str:
    """Raises UsageError with what git says."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise UsageError(f"--source needs git, which cannot be started: {error}") from None
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["it knows no such commit"])[-1]
        raise UsageError(f"--source {folder}: git {' '.join(arguments[:1])} {arguments[-1]}: {why}")
    return done.stdout.strip()
