"""The steps of the shipped workflow after a merge, run by bash in clones: nothing that lies in submissions/ is forgotten."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
WORKFLOW = files("assay_zoo") / "data" / "zoo" / "dot-github" / "workflows" / "zoo.yml"
ASSAY = """#!/bin/bash
# The command as the steps see it: it declines b, and somebody merges where $MEANWHILE says so.
echo "$@" >> "$CALLED"
[ "$(basename "$3")" != b ] || exit 1
[ "$2" = promote ] || exit 0
mkdir -p "models/$3" && mv "submissions/$3" "models/$3/1.0" && echo "$3" >> manifest.json
if [ -n "${MEANWHILE:-}" ]; then
  cd "$MEANWHILE" && git pull --quiet && echo x > other.txt && git add . && git commit --quiet --message other && git push --quiet
fi
"""
GH = """#!/bin/bash
COMMIT="$(echo "$2" | cut -d/ -f5)"
git log -1 --format=%an "$COMMIT"
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (("assay", ASSAY), ("gh", GH)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    who = {f"GIT_{role}_{what}": "who" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    mine = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "CALLED": str(tmp_path / "called"),
        "BY": "me",
    }
    return {
        **who,
        **mine,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_OUTPUT": str(tmp_path / "out"),
    }


@pytest.fixture
def origin(tmp_path: Path, environment: dict[str, str]) -> Path:
    """Three merges in a row, by three people."""
    made, origin = tmp_path / "made", tmp_path / "origin.git"
    git(environment, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
    git(environment, "clone", "--quiet", str(origin), str(made))
    git(environment, "checkout", "--quiet", "-B", "main", folder=made)
    (made / "README.md").write_text("a zoo\n")
    for name in ("models", "submissions"):
        (made / name).mkdir()
        (made / name / ".gitkeep").touch()
    for name in ("", "a", "b", "c"):
        if name:
            (made / "submissions" / name).mkdir()
            (made / "submissions" / name / "metadata.toml").write_text(name)
        git(environment, "add", "--all", folder=made)
        git({**environment, "GIT_AUTHOR_NAME": f"author of {name}"}, "commit", "--quiet", "-m", "merged", folder=made)
    git(environment, "push", "--quiet", "--set-upstream", "origin", "main", folder=made)
    return origin


def git(environment: Mapping[str, str], *words: str, folder: Path | None = None) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def job(name: str) -> dict[str, Any]:
    description: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"][name]
    return description


def step(of: str, name: str, folder: Path, environment: Mapping[str, str]) -> int:
    """Its exit code, by the shell that GitHub takes where none is named."""
    (text,) = [step_table["run"] for step_table in job(of)["steps"] if step_table.get("name") == name]
    return subprocess.run(["bash", "-e", "-c", text], cwd=folder, env=environment, capture_output=True).returncode


def clone(origin: Path, of: str, environment: Mapping[str, str]) -> Path:
    """As deep as the job checks out what is judged."""
    checkout = [one for one in job(of)["steps"] if "checkout" in one.get("uses", "")][-1]["with"]
    depth = checkout.get("fetch-depth", 1)
    folder = origin.parent / f"clone-of-{of}"
    deep = [f"--depth={depth}"] if depth else []
    git(environment, "clone", "--quiet", *deep, origin.as_uri(), str(folder))
    git(environment, "checkout", "--quiet", "--detach", folder=folder)
    return folder


def called(environment: Mapping[str, str]) -> list[str]:
    file = Path(environment["CALLED"])
    return file.read_text().splitlines() if file.exists() else []


def test_all_that_was_merged_is_checked_in_the_name_of_who_handed_it_in(
    origin: Path, environment: dict[str, str]
) -> None:
    folder = clone(origin, "check", environment)
    assert step("check", "check what was merged", folder, environment) == 1, "b is declined"
    command = "zoo check submissions/{0} --zoo ../zoo --author author of {0}"
    assert called(environment) == [command.format(name) for name in "abc"]


def test_no_submission_is_nothing_to_check(origin: Path, environment: dict[str, str]) -> None:
    folder = clone(origin, "check", environment)
    git(environment, "rm", "-r", "--quiet", "submissions/a", "submissions/b", "submissions/c", folder=folder)
    assert step("check", "check what was merged", folder, environment) == 0
    assert not called(environment)


def test_a_git_that_fails_ends_the_check(origin: Path, environment: dict[str, str]) -> None:
    folder = clone(origin, "check", environment)
    (folder / ".git").rename(folder / "gone")
    assert step("check", "check what was merged", folder, environment) not in (0, 1)
    assert not called(environment)


def test_all_that_was_accepted_is_promoted_though_another_is_declined_and_main_moves(
    origin: Path, environment: dict[str, str]
) -> None:
    folder = clone(origin, "promote", environment)
    before = git(environment, "rev-parse", "HEAD~1", folder=origin.parent / "made").strip()
    meanwhile = {**environment, "MEANWHILE": str(origin.parent / "made"), "BEFORE": before}
    assert step("promote", "promote", folder, meanwhile) == 1, "b is not promoted, and the run says so"
    assert called(environment) == [f"zoo promote {name} --by me" for name in "abc"]
    there = set(git(environment, "ls-tree", "-r", "--name-only", "main", folder=origin).split())
    assert there > {"models/a/1.0/metadata.toml", "models/c/1.0/metadata.toml", "submissions/b/metadata.toml"}
    assert "submissions/a/metadata.toml" not in there
    assert "other.txt" in there


def test_a_refused_push_is_no_success(origin: Path, environment: dict[str, str]) -> None:
    folder = clone(origin, "promote", environment)
    hook = origin / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (folder / "submissions" / "b" / "metadata.toml").unlink()
    (folder / "submissions" / "b").rmdir()
    assert step("promote", "promote", folder, environment) == 1
    assert "Promoted" not in git(environment, "log", "--format=%s", "main", folder=origin)


def test_what_is_promoted_is_the_commit_that_was_checked(origin: Path, environment: dict[str, str]) -> None:
    folder = clone(origin, "check", environment)
    assert step("check", "which commit", folder, environment) == 0
    commit = git(environment, "rev-parse", "main", folder=origin).strip()
    assert Path(environment["GITHUB_OUTPUT"]).read_text() == f"commit={commit}\n"
    (checkout,) = [one["with"] for one in job("promote")["steps"] if "checkout" in one.get("uses", "")]
    assert checkout["ref"] == "${{ needs.check.outputs.commit }}"
    assert checkout["fetch-depth"] == 0, "a rebase needs what came before"
