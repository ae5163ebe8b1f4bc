"""Kill -9 of the robot and of its workers at random moments: every submission is decided, and decided once."""

from __future__ import annotations

import contextlib
import random
import time
from pathlib import Path

import psutil
import pytest
from robot_process import AUTHOR, Repository, Robot

from assay.launch.sandbox.bubblewrap import Bubblewrap

pytestmark = pytest.mark.skipif(not Bubblewrap().available().available, reason="the sandbox cannot be had here")
WORKER = "assay_zoo.robot.inspection_main"
EXECUTED = ("good", "readme-without-references")
"""Kinds whose code is run. The others come from somebody whom the zoo does not know: nothing of theirs is, and they end soon."""
GENTLE = "\n[decision]\nrequired = []\n"


def workers(robot: Robot) -> list[psutil.Process]:
    """The processes in which the robot looks at submissions now."""
    assert robot.process is not None
    children = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(robot.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if WORKER in child.cmdline():
                    children.append(child)
    return children


def killed_again_and_again(robot: Robot, kills: int, seed: int) -> dict[str, int]:
    """Kill `kills` times, the robot and its workers in turn, at moments of a seed; how often each was hit. Where everything is
    decided and no worker is left, the robot is killed instead."""
    moments, hit = random.Random(seed), {"robot": 0, "worker": 0}
    while sum(hit.values()) < kills:
        if robot.process is None:
            robot.start()
        # From before the database is open to the middle of a check.
        time.sleep(moments.uniform(0.0, 3.0))
        if sum(hit.values()) % 2 and (there := _soon(robot)):
            time.sleep(moments.uniform(0.0, 0.5))
            with contextlib.suppress(psutil.NoSuchProcess):
                moments.choice(there).kill()
                hit["worker"] += 1
        else:
            robot.stop(9)
            hit["robot"] += 1
    if robot.process is None:
        robot.start()
    return hit


def _soon(robot: Robot) -> list[psutil.Process]:
    """The workers, as soon as there are some; none where all is decided."""
    until = time.monotonic() + 120.0
    while not (there := workers(robot)) and time.monotonic() < until:
        known = robot.queue()
        if known and all(entry["state"] == "decided" for entry in known):
            break
        time.sleep(0.02)
    return there


def survives(folder: Path, kinds: list[str], kills: int, seed: int, seconds: float) -> None:
    repository = Repository(folder, GENTLE)
    wanted = {}
    try:
        for at, kind in enumerate(kinds):
            repository.write_as(AUTHOR if kind in EXECUTED else "a.stranger@example.org")
            wanted[repository.submit(f"m{at}", kind, name=f"model-{at}")] = kind
    finally:
        repository.write_as(AUTHOR)
    robot = Robot(folder, repository, "workers = 2", "attempts = 1000")
    began = time.monotonic()
    try:
        hit = killed_again_and_again(robot, kills, seed)
        assert min(hit.values()) > 0, hit
        for sha in wanted:
            robot.decided(sha, seconds)
        by_sha = {entry["sha"]: entry for entry in robot.queue()}
        assert set(by_sha) == set(wanted)
        for sha, kind in wanted.items():
            whole = robot.get(f"/submissions/{by_sha[sha]['id']}.json").json()
            assert len(whole["decisions"]) == 1, (sha, whole["log"])
            assert sum(line["text"].startswith("decision:") for line in whole["log"]) == 1
            answer = "promote" if kind == "good" else "decline"
            assert whole["decisions"][0]["answer"] == answer, whole["decisions"][0]["reasons"]
            status = robot.until("its status", lambda at=sha: repository.status(at, by_sha[at]["name"]).get("answer"))  # type: ignore[misc]
            assert status == answer
        for sha, kind in wanted.items():
            if kind == "good":
                name = by_sha[sha]["name"]
                robot.until("the merge", lambda at=name: repository.shown("main", f"models/{at}/1.0/metadata.toml"))  # type: ignore[misc]
                assert repository.commits("main", f"models/{name}") == 1
        print(f"{len(wanted)} submissions, kills {hit}, {time.monotonic() - began:.0f} s")
    finally:
        robot.stop()
    left = [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(robot.data) in " ".join(process.info["cmdline"] or [])
    ]
    assert left == []


def test_three_submissions_survive_two_kills(tmp_path: Path) -> None:
    """Of the robot and of a worker."""
    survives(tmp_path, ["pickle", "data-is-html", "lfs-pointer"], 2, 7, 600.0)


@pytest.mark.slow
def test_twenty_submissions_survive_fifty_kills(tmp_path: Path) -> None:
    """Code is executed of four of them: enough for kills in the middle of it, and the others are looked at more often. Of two good
    ones with nearly the same weights a person would be asked about the second."""
    kinds = ["good"] + ["readme-without-references"] * 3 + ["pickle", "data-is-html", "lfs-pointer", "lfs-pointer"] * 4
    survives(tmp_path, kinds, 50, 1, 1800.0)
