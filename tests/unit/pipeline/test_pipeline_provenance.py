"""Who ran what, and when."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.pipeline.provenance import git_branch, new_run_id


def test_ids_of_one_second_sort_by_time() -> None:
    """A command that answers within a second is followed by the next: "the run before" was one of the two by chance."""
    begin = datetime(2026, 11, 26, 17, 23, 52, tzinfo=UTC)
    moments = [begin + timedelta(milliseconds=step) for step in range(0, 1001, 5)]
    ids = [new_run_id(moment) for moment in moments]
    assert ids == sorted(ids)
    assert {len(identity) for identity in ids} == {22}
    assert ids[0].startswith("20261126T172352-000")


def test_ids_of_one_moment_differ() -> None:
    moment = datetime(2026, 11, 26, tzinfo=UTC)
    assert len({new_run_id(moment) for _ in range(20)}) > 15


def test_the_branch_is_that_of_the_checkout_or_what_ci_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "GITHUB_REF_TYPE", "CI_COMMIT_REF_NAME", "CI_COMMIT_TAG"):
        monkeypatch.delenv(name, raising=False)
    assert git_branch(tmp_path) == ""
    subprocess.run(["git", "init", "--quiet", "--initial-branch=feature/one", tmp_path], check=True)
    monkeypatch.setenv("GITHUB_REF_NAME", "12/merge")
    assert git_branch(tmp_path) == "feature/one"
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, "commit", "--quiet", "--allow-empty", "-m", "a"], cwd=tmp_path, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--detach"], cwd=tmp_path, check=True)
    monkeypatch.setenv("GITHUB_HEAD_REF", "of-a-pull-request")
    assert git_branch(tmp_path) == "of-a-pull-request"
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    assert git_branch(tmp_path) == ""
