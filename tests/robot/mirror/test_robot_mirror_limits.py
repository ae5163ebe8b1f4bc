"""Heads that are too large, damaged, or take too long to read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from fetched_head import MOST, REF, fetched
from repositories import blob_of, commit_tree, put, tree_of

from assay_zoo.robot.git import Git, GitFailed, GitTooLarge
from assay_zoo.robot.mirror import Mirror
from assay_zoo.robot.tree_size import _count, count_entries


def test_what_is_too_much_is_refused_before_it_is_written(mirror: Mirror, zoo: Path, tmp_path: Path) -> None:
    sha = put(zoo, REF, {"submissions/a/big": b"0" * 200_000})
    fetched(mirror, sha)
    (refused,) = mirror.export(sha, ["submissions/a"], tmp_path / "out", **MOST)
    assert refused.sentence == "the files are 200000 bytes in all; at most 100000 are taken"
    many = put(zoo, REF, {f"submissions/a/{n}": "x" for n in range(60)})
    fetched(mirror, many)
    (refused,) = mirror.export(many, ["submissions/a"], tmp_path / "out", **MOST)
    assert refused.name == "files.count"
    long = put(zoo, REF, {f"submissions/a/{'n' * 300}": "x"})
    fetched(mirror, long)
    (refused,) = mirror.export(long, ["submissions/a"], tmp_path / "out", **MOST)
    assert "cannot be written as a file (File name too long)" in refused.sentence


def _bomb(zoo: Path, *, levels: int = 10, copies: int = 10) -> str:
    """A commit of a few hundred bytes that stands for `copies` ** `levels` files."""
    tree = tree_of(zoo, ("100644", "x", blob_of(zoo, b"x")))
    for _ in range(levels):
        tree = tree_of(zoo, *(("40000", f"d{at}", tree) for at in range(copies)))
    root = tree_of(zoo, ("40000", "submissions", tree_of(zoo, ("40000", "a", tree))))
    return commit_tree(zoo, REF, root)


def test_trees_that_hold_one_another_are_counted_before_they_are_listed(
    mirror: Mirror, zoo: Path, tmp_path: Path
) -> None:
    sha = _bomb(zoo)
    head, base = fetched(mirror, sha), mirror.fetch_base()
    assert mirror.submissions_of(head, base) == ["a"]
    (refused,) = mirror.export(sha, ["submissions/a"], tmp_path / "out", **MOST)
    assert refused.name == "files.count"
    assert "the commit stands for more than" in refused.sentence
    assert "holds the same folders many times" in refused.sentence


def test_files_and_folders_are_counted_as_often_as_they_occur(zoo: Path) -> None:
    sha = _bomb(zoo, levels=2, copies=3)
    own = Git(zoo)
    assert count_entries(own, sha, "submissions/a", 1000) == 3 + 3 * 3 + 3 * 3
    assert count_entries(own, sha, "submissions/nothing", 1000) == 0
    assert count_entries(own, "main", "zoo.toml", 1000) == 1
    with pytest.raises(GitTooLarge, match="more than 20 files"):
        count_entries(own, sha, "submissions/a", 20)
    deep = _bomb(zoo, levels=70, copies=1)
    with pytest.raises(GitTooLarge, match="in more than 64 folders"):
        count_entries(own, deep, "submissions/a", 1000)


def test_a_damaged_folder_and_a_wide_one_are_told_while_they_are_read() -> None:
    with pytest.raises(GitFailed, match="a folder of the commit is damaged"):
        _count("a" * 40, lambda name: b"40000 without an end", 10)
    wide = b"".join(b"40000 %d\0" % at + bytes(20) for at in range(100))
    asked: list[str] = []
    with pytest.raises(GitTooLarge, match="more than 50 files"):
        _count("a" * 40, lambda name: asked.append(name) or wide, 50)  # type: ignore[func-returns-value]
    assert len(asked) == 1


def test_a_git_that_is_ended_says_nothing_against_the_commit(zoo: Path) -> None:
    for number, found, words in (
        (signal.SIGTERM, GitFailed, "was ended by signal 15"),
        (signal.SIGXFSZ, GitTooLarge, "writes a file of more than"),
        (signal.SIGSEGV, GitTooLarge, "needs more than"),
    ):
        git = Git(zoo)
        with (
            patch.object(git, "_command", lambda words, number=number: ["sh", "-c", f"kill -{int(number)} $$"]),
            pytest.raises(found, match=words) as raised,
        ):
            git.run("cat-file")
        assert type(raised.value) is found


def test_a_git_that_wants_more_than_it_may_have_is_stopped(zoo: Path) -> None:
    put(zoo, REF, {"submissions/a/big": os.urandom(3_000_000)})
    wanted = f"{REF}:submissions/a/big"
    assert len(Git(zoo).run("cat-file", "blob", wanted)) == 3_000_000
    with pytest.raises(GitTooLarge, match="needs more than 8000000 bytes of memory"):
        Git(zoo, memory_bytes=8_000_000).run("cat-file", "blob", wanted)
    with pytest.raises(GitTooLarge, match="has more than 1000 bytes to say"):
        Git(zoo, output_bytes=1000).run("cat-file", "blob", wanted)
    with pytest.raises(GitFailed, match=r"git cat-file did not end within 0.2 s"):
        Git(zoo).run(
            "cat-file", "--batch-command", "--buffer", input_bytes=b"contents HEAD\n" * 2_000_000, timeout_s=0.2
        )


UNDER = """
import os, resource, sys
from pathlib import Path
from assay_zoo.robot.git import Git, GitFailed
what = getattr(resource, sys.argv[1])
resource.setrlimit(what, (int(sys.argv[2]), int(sys.argv[2])))
git = Git(Path(sys.argv[3]))
print(git.text("rev-parse", "HEAD"))
try:
    git.run("hash-object", "-w", "--stdin", input_bytes=os.urandom(99_950) if sys.argv[1] == "RLIMIT_FSIZE" else b"x")
    git.run("cat-file", "blob", sys.argv[4])
except GitFailed as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(("name", "most"), [("RLIMIT_AS", 1_200_000_000), ("RLIMIT_FSIZE", 100_000)])
def test_under_a_lower_hard_limit_git_goes_on_and_no_commit_is_to_blame(zoo: Path, name: str, most: int) -> None:
    put(zoo, REF, {"submissions/a/x": b"x"})
    words = [sys.executable, "-c", UNDER, name, str(most), str(zoo), f"{REF}:submissions/a/x"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told[0]) == 40
    assert told[1:] == [] if name == "RLIMIT_AS" else "GitFailed" in told[1] and "raise the hard limit" in told[1]


@pytest.mark.parametrize(
    ("most", "count"),
    [(200, 3), (194, 3), (193, 2), (326, 5)],
    ids=["in a line", "behind one", "before its end", "all"],
)
def test_of_too_many_branches_some_are_listed_and_those_behind_them_the_next_time(
    mirror: Mirror, zoo: Path, caplog: pytest.LogCaptureFixture, most: int, count: int
) -> None:
    wanted = [f"submission/{number}" for number in (0, 1, 2, 20, 3)]
    for branch in (*wanted, "tools/a"):  # one is a longer name of another, one is none of these
        put(zoo, f"refs/heads/{branch}", {"submissions/a/x": branch})
    mirror._git.output_bytes = most
    assert list(mirror.listed("submission/*")) == wanted[:count]
    assert (f"more branches than can be listed: {count} are looked at now" in caplog.text) is (count < 5)
    seen = wanted[:count]
    while len(seen) < 5:
        seen += mirror.listed("submission/*")
    assert seen == wanted
    assert list(mirror.listed("submission/*")) == wanted[:count]
