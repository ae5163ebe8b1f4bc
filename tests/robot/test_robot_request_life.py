"""The life of a model at a forge, in one run: a fork, an approval, a merge, a stranger who wants it, a new version, a rollback.

The forge is the fake one, which holds every request against GitHub's own description; git, the robot and the sandbox are real.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fake_github import REPOSITORY, FakeGithub
from live_server import serving
from robot_process import NAME, Repository, Robot, git

from assay.launch.sandbox.bubblewrap import Bubblewrap

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Bubblewrap().available().available, reason="the sandbox cannot be had here"),
]
EXECUTING = ("functionality", "accuracy", "performance")
POLICY = '\n[decision]\nrequired = ["files", "artifacts", "compliance", "functionality", "accuracy"]\n'


class Forge:
    """Requests of forks, and what the robot told of them."""

    def __init__(self, repository: Repository) -> None:
        self.fake = FakeGithub(REPOSITORY)
        self._repository = repository

    def request(self, number: int, login: str, version: str) -> str:
        """Nothing but a commit that the forge keeps for the request: the fork itself is never asked."""
        ref = f"refs/pull/{number}/head"
        sha = self._repository.submit(f"fork-{number}", ref=ref, version=version, extra=f"by {login}: {version}")
        self.fake.add_pull(number, sha, login=login)
        return sha

    def approve(self, number: int, login: str) -> None:
        review = {"user": {"login": login}, "state": "APPROVED", "commit_id": self.fake.pulls[number]["head"]["sha"]}
        self.fake.reviews.setdefault(number, []).append(review)

    def state_of(self, sha: str) -> str:
        """The newest status of a commit, "" while it waits for its check."""
        told = [status for status in self.fake.statuses if status["sha"] == sha][-1:]
        return "".join(
            str(status["state"]) for status in told if not status["description"].endswith(("queue", "checked now"))
        )

    def comment(self, number: int) -> str:
        there = [str(comment["body"]) for comment in self.fake.comments if comment["number"] == number]
        assert len(there) <= 1, "one comment, that is edited"
        return "".join(there)


def executed(robot: Robot, sha: str) -> set[str]:
    """The groups of which something was executed in the newest round."""
    (entry,) = [each for each in robot.queue() if each["sha"] == sha]
    checks = robot.get(f"/submissions/{entry['id']}.json").json()["decisions"][0]["checks"]
    return {check["name"].partition(".")[0] for check in checks if check.get("executed")}


def test_a_model_from_its_fork_to_its_rollback(tmp_path: Path) -> None:
    repository = Repository(tmp_path, POLICY)
    forge = Forge(repository)
    (tmp_path / "token").write_text(forge.fake.token)
    with serving(forge.fake.app()) as address:
        source = f'[github]\nrepository = "{REPOSITORY}"\napi = "{address}"\npoll_s = 1.0\ntoken = {{ file = "token" }}'
        robot = Robot(tmp_path, repository, source=source)
        robot.start()
        try:
            lives(repository, forge, robot)
        finally:
            robot.stop()
    assert forge.fake.refused == [], "GitHub's description allows each request"


def lives(repository: Repository, forge: Forge, robot: Robot) -> None:
    first = forge.request(1, "octocat", "1.0")
    assert robot.until("the first look", lambda: forge.state_of(first)) == "pending"
    robot.until("the reason", lambda: "submits for the first time" in forge.comment(1))
    assert not executed(robot, first) & set(EXECUTING), "code of a stranger is not run before somebody read it"

    forge.fake.permissions = {"maintainer": "write", "passer-by": "read"}
    forge.approve(1, "passer-by")
    forge.approve(1, "maintainer")
    robot.until("the promotion", lambda: forge.state_of(first) == "success")
    assert executed(robot, first) >= set(EXECUTING)
    merged = robot.until("the merge", lambda: served(repository, "1.0"))
    assert repository.parents(merged)[1] == first, "the forge sees the request merged"
    assert "Submitted-by: octocat" in repository.message(merged)
    robot.until("the comment", lambda: "accepted" in forge.comment(1))
    forge.fake.pulls[1] |= {"state": "closed", "merged": True}

    taken = forge.request(2, "tom", "1.1")
    robot.until("the dispute", lambda: forge.state_of(taken))
    forge.approve(2, "maintainer")  # that its code is run, not that the model is his
    robot.until("the second look", lambda: executed(robot, taken) >= {"functionality"})
    assert robot.until("its answer", lambda: forge.state_of(taken)) == "pending"
    robot.until("the reason", lambda: "belongs to octocat, and tom submits it" in forge.comment(2))
    assert served(repository, "1.1") == ""
    forge.fake.pulls[2]["state"] = "closed"

    second = forge.request(3, "octocat", "1.1")
    robot.until("the new version", lambda: forge.state_of(second) == "success")
    robot.until("its merge", lambda: served(repository, "1.1"))

    roll_back(repository)
    manifest = json.loads(repository.shown("main", "manifest.json"))["models"][NAME]
    assert manifest["current"] == "1.0"
    assert [version["version"] for version in manifest["versions"]] == ["1.0", "1.1"], "nothing is removed"
    assert repository.shown("main", f"models/{NAME}/1.1/metadata.toml")
    late = forge.request(4, "sam", "1.1")  # nothing of a new author is executed: the answer waits for no notebook
    assert robot.until("the version that is taken", lambda: forge.state_of(late)) == "failure"
    robot.until("the reason", lambda: "which was withdrawn" in forge.comment(4))
    assert served(repository, "1.0")


def served(repository: Repository, version: str) -> str:
    """The commit that made a version the one that is served, "" where it is not."""
    manifest = json.loads(repository.shown("main", "manifest.json") or '{"models": {}}')
    current = manifest["models"].get(NAME, {}).get("current")
    return git(repository.bare, "rev-parse", "main") if current == version else ""


def roll_back(repository: Repository) -> None:
    """By a maintainer, in a clone."""
    git(repository.clone, "fetch", "--quiet", "origin")
    git(repository.clone, "switch", "--quiet", "--force-create", "upkeep", "origin/main")
    words = [sys.executable, "-m", "assay", "zoo", "rollback", NAME, "--by", "maintainer", "--reason", "slow on phones"]
    subprocess.run(words, cwd=repository.clone, check=True, capture_output=True)
    git(repository.clone, "add", "--all", "manifest.json", "README.md")
    git(repository.clone, "commit", "--quiet", "--message=Back to 1.0")
    git(repository.clone, "push", "--quiet", "origin", "HEAD:refs/heads/main")
