"""What comes in from a repository of strangers, and what goes out to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fetched_head import MOST, REF, fetched
from msgspec import structs
from repositories import blob_of, commit_tree, git, put, put_entries, tree_of
from submissions import whole

from assay.errors import UsageError
from assay_zoo.intake import Problem, take_in
from assay_zoo.robot.git import Git, GitFailed
from assay_zoo.robot.mirror import Change, Mirror, Moved, cleaned
from assay_zoo.robot.queue_records import Head


def test_what_a_head_changes_is_what_is_submitted(mirror: Mirror, zoo: Path) -> None:
    put(zoo, "refs/heads/main", {"zoo.toml": "", "submissions/old/x": "1"}, base=False)
    sha = put(
        zoo,
        REF,
        {"submissions/b/model.onnx": "1", "submissions/a/x/y": "2", "zoo.toml": "changed", "submissions/loose": "3"},
    )
    head, base = fetched(mirror, sha), mirror.fetch_base()
    assert mirror.submissions_of(head, base) == ["a", "b"], (
        "a file beside the folders is no submission, nor is what was there"
    )
    alone = put(zoo, REF, {"submissions/only/x": "1"}, base=False)
    assert mirror.submissions_of(fetched(mirror, alone), base) == ["only"], "a history of its own has no common commit"


def test_a_name_that_cannot_be_one_is_brought_near(mirror: Mirror, zoo: Path) -> None:
    sha = put(zoo, REF, {"submissions/My Model/x": "1"})
    assert mirror.submissions_of(fetched(mirror, sha), mirror.fetch_base()) == ["my-model"]
    assert cleaned("..") == "unnamed"
    assert cleaned("a" * 70) == "a" * 64
    assert cleaned("ok-1.2_x") == "ok-1.2_x"


def test_a_branch_that_moved_is_told(mirror: Mirror, zoo: Path) -> None:
    put(zoo, REF, {"submissions/a/x": "1"})
    with pytest.raises(Moved, match="submission/a is at"):
        mirror.fetch_head(Head(sha="1" * 40, branch="submission/a", ref=REF))


def test_who_hands_it_in_is_never_nobody(mirror: Mirror, zoo: Path) -> None:
    """A commit says what its author likes: of a request the forge knows better, and an address without letters is nobody's."""
    sha = put(zoo, REF, {"submissions/a/x": "1"})
    nameless = git(
        zoo,
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--stdin",
        input_bytes=git(zoo, "cat-file", "commit", sha).replace("<m@x>", "<>").encode(),
    )
    for commit in (sha, nameless):
        git(zoo, "update-ref", REF, commit)
        fetched(mirror, commit)
    submission = whole(sha=sha, number=0).submission
    assert mirror.author_of(submission) == "octocat"
    submission = structs.replace(submission, author="")
    assert mirror.author_of(submission) == "m@x"
    assert mirror.author_of(structs.replace(submission, sha=nameless)) == "nobody by name (branch octocat:patch-1)"
    assert mirror.author_of(structs.replace(submission, number=7)) == "an account that is gone (request 7)"


def test_files_come_byte_for_byte_whatever_attributes_say(mirror: Mirror, zoo: Path, tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize 5\n" % (b"0" * 64)
    files = {
        "submissions/a/.gitattributes": "* text eol=crlf ident filter=lfs\n",
        "submissions/a/text.py": b"$Id$\nline\n",
        "submissions/a/model.onnx": pointer,
    }
    sha = put(zoo, REF, files)
    fetched(mirror, sha)
    assert mirror.export(sha, ["submissions/a"], tmp_path / "out", **MOST) == []
    assert (tmp_path / "out/submissions/a/text.py").read_bytes() == b"$Id$\nline\n"
    assert (tmp_path / "out/submissions/a/model.onnx").read_bytes() == pointer


def test_links_arrive_as_links_and_are_findings(mirror: Mirror, zoo: Path, tmp_path: Path) -> None:
    target, blob = blob_of(zoo, b"/etc/passwd"), blob_of(zoo, b"x")
    module = "160000 " + git(zoo, "rev-parse", "main") + "\tsubmissions/a/module"
    lines = [f"120000 {target}\tsubmissions/a/weights", f"100755 {blob}\tsubmissions/a/run.sh", module]
    sha = put_entries(zoo, REF, lines)
    fetched(mirror, sha)
    assert mirror.export(sha, ["submissions/a"], tmp_path / "out", **MOST) == []
    folder = tmp_path / "out/submissions/a"
    assert os.readlink(folder / "weights") == "/etc/passwd"
    assert not os.access(folder / "run.sh", os.X_OK), "nothing of it is a program"
    assert not (folder / "module").exists()
    taken = take_in(folder, tmp_path / "in")
    assert [(entry.path, entry.problem) for entry in taken.entries if entry.problem] == [("weights", Problem.LINK)]


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", "."])
def test_a_tree_that_climbs_out_is_not_fetched(name: str, mirror: Mirror, zoo: Path) -> None:
    inner = tree_of(zoo, ("100644", "x", blob_of(zoo, b"evil")))
    a = tree_of(zoo, ("40000", name, inner))
    root = tree_of(zoo, ("40000", "submissions", tree_of(zoo, ("40000", "a", a))))
    sha = commit_tree(zoo, REF, root)
    with pytest.raises(GitFailed, match="fetch failed"):
        fetched(mirror, sha)


def test_a_link_and_a_folder_of_one_name(zoo: Path, tmp_path: Path) -> None:
    """Where git's own check is not there, our hands still write nothing through a link."""
    from assay_zoo.robot.export import export

    outside = tmp_path / "outside"
    outside.mkdir()
    link = blob_of(zoo, str(outside).encode())
    inner = tree_of(zoo, ("100644", "evil", blob_of(zoo, b"evil")))
    a = tree_of(zoo, ("120000", "d", link), ("40000", "d", inner))
    root = tree_of(zoo, ("40000", "submissions", tree_of(zoo, ("40000", "a", a))))
    sha = commit_tree(zoo, REF, root)
    (refused,) = export(Git(zoo), sha, ["submissions/a"], tmp_path / "out", **MOST)
    assert refused.name == "files.names"
    assert list(outside.iterdir()) == []
    climbing = tree_of(zoo, ("40000", "..", tree_of(zoo, ("40000", "..", inner))))
    sha = commit_tree(zoo, REF, tree_of(zoo, ("40000", "submissions", climbing)))
    (refused,) = export(Git(zoo), sha, ["submissions"], tmp_path / "out2", **MOST)
    assert "is no name that can be taken" in refused.sentence


def test_hooks_of_nobody_run_here(mirror: Mirror, zoo: Path, tmp_path: Path) -> None:
    hooks = tmp_path / "mirror.git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "pre-push", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
        (hooks / name).chmod(0o755)
    sha = put(zoo, REF, {"submissions/a/x": "1"})
    fetched(mirror, sha)
    mirror.commit("assay-status", lambda _: Change(files={"a": b"1"}, message="m"))
    assert not (tmp_path / "hooked").exists()


def test_a_commit_is_made_on_top_of_who_was_quicker(mirror: Mirror, zoo: Path) -> None:
    calls = []

    def change(onto: str) -> Change:
        calls.append(onto)
        if len(calls) == 1:  # somebody pushes between
            put(zoo, "refs/heads/main", {"theirs": "1"})
        return Change(files={"ours": b"1"}, message="ours")

    made = mirror.commit("main", change)
    assert len(calls) == 2
    assert git(zoo, "rev-parse", "main") == made
    assert set(git(zoo, "ls-tree", "--name-only", "main").split()) == {"README.md", "ours", "theirs", "zoo.toml"}
    assert mirror.commit("main", lambda _: Change(files={"ours": b"1"}, message="again")) == "", "nothing to change"
    mirror.commit("main", lambda _: Change(files={"new": b"1"}, message="m", cleared=("theirs",)))
    assert "theirs" not in git(zoo, "ls-tree", "--name-only", "main").split()


def test_a_push_that_is_forbidden_is_told_at_once(mirror: Mirror, zoo: Path) -> None:
    hook = zoo / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho only maintainers push here >&2\nexit 1\n")
    hook.chmod(0o755)
    calls = []
    text = (
        r"main takes no commit of the robot: let it push there.*only maintainers push here.*pre-receive hook declined"
    )
    with pytest.raises(UsageError, match=text):
        mirror.commit("main", lambda onto: (calls.append(onto), Change(files={"x": b"1"}, message="m"))[1])
    assert len(calls) == 1


def test_a_submission_is_merged_where_its_commits_bring_nothing_else(mirror: Mirror, zoo: Path) -> None:
    sha = put(zoo, REF, {"submissions/a/x": "1"})
    fetched(mirror, sha)
    base = mirror.fetch_base()
    assert mirror.brings_only(sha, base, "submissions/a")
    assert not mirror.brings_only(sha, base, "submissions/b")
    made = mirror.commit("main", lambda _: Change(files={"models/a/x": b"1"}, message="m", merged=sha))
    assert mirror.holds(made, sha)
    assert "submissions" not in git(zoo, "ls-tree", "--name-only", "main"), "the files are those that were wanted"
    other = put(zoo, REF, {"submissions/a/x": "2"})
    assert not mirror.holds(made, fetched(mirror, other).sha)


def test_commits_with_more_than_their_last_one_are_not_merged(mirror: Mirror, zoo: Path) -> None:
    """A file that was taken out again, or that lies elsewhere, would be in the zoo's history and nobody looked at it."""
    base = mirror.fetch_base()
    put(zoo, "refs/heads/upkeep", {"zoo.toml": "changed"})
    outside = fetched(mirror, put(zoo, REF, {"submissions/a/x": "1", "zoo.toml": "changed"})).sha
    assert not mirror.brings_only(outside, base, "submissions/a")
    first = put(zoo, REF, {"submissions/a/x": "1", "submissions/a/secret": "s"})
    last = git(
        zoo, "commit-tree", f"{put(zoo, REF, {'submissions/a/x': '1'})}^{{tree}}", "-p", first, "-m", "without it"
    )
    git(zoo, "update-ref", REF, last)
    assert not mirror.brings_only(fetched(mirror, last).sha, base, "submissions/a")
    again = git(zoo, "commit-tree", f"{first}^{{tree}}", "-p", first, "-m", "the same")
    git(zoo, "update-ref", REF, again)
    assert mirror.brings_only(fetched(mirror, again).sha, base, "submissions/a")


def test_heads_that_are_needed_no_more_are_forgotten(mirror: Mirror, zoo: Path, tmp_path: Path) -> None:
    first, second = (
        put(zoo, REF, {"submissions/a/x": "1"}),
        put(zoo, "refs/heads/submission/b", {"submissions/b/x": "1"}),
    )
    fetched(mirror, first)
    mirror.fetch_head(Head(sha=second, branch="submission/b", ref="refs/heads/submission/b"))
    mirror.keep_only({second})
    kept = git(tmp_path / "mirror.git", "for-each-ref", "--format=%(refname)", "refs/assay/heads/")
    assert kept == f"refs/assay/heads/{second}"
    mirror.tidy()


def test_a_repository_that_is_not_there_or_has_no_zoo(tmp_path: Path, zoo: Path) -> None:
    with pytest.raises(GitFailed, match=r"does not appear to be a git repository|not a git repository|does not exist"):
        Mirror(tmp_path / "m1.git", str(tmp_path / "nothing")).fetch_base()
    with pytest.raises(UsageError, match="has no branch trunk"):
        Mirror(tmp_path / "m2.git", str(zoo), branch="trunk").fetch_base()
