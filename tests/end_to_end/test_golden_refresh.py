"""Which goldens are stale, what would change, and a change for review."""

from __future__ import annotations

import functools
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from assay.models.goldens import read_lock
from command_line import run_assay
from small_models import golden_for, linear_model

RECIPE = (
    "--flow onnxruntime --samples 4 --batch 3 --measure-batch 3 --seed 7 --measure-seconds 0.05 --timeout 200 "
    "--option optimization=basic --input-range x=0:1"
)
"""What a baseline is approved with, so that all of it can be asked for again."""


def rewrite(**changes: object) -> None:
    """The lock says so."""
    lock = msgspec.structs.replace(read_lock(Path("golden")), **changes)
    Path("golden/golden.lock").write_bytes(msgspec.json.encode(lock))


def _recipes() -> list[object]:
    """The recipes of all baselines."""
    records = [json.loads(path.read_bytes()) for path in Path("kept/baselines").glob("*/*/*/baseline.json")]
    return [(record["recipe"], record["flow"]) for record in records]


def _make_repository() -> None:
    """With an origin beside it."""
    bare = ["git", "init", "--quiet", "--bare", "origin.git"]
    author = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"]
    for words in (
        bare,
        ["git", "init", "--quiet", "--initial-branch=main", "."],
        ["git", "remote", "add", "origin", "origin.git"],
        ["git", "add", "m.onnx", "assay.toml"],
        ["git", *author, "commit", "--quiet", "--message=A model"],
    ):
        subprocess.run(words, check=True)


def _branches() -> str:
    """Of the origin, with the message of the last commit of each."""
    command = ["git", "for-each-ref", "--format=%(refname:short) %(subject)", "refs/heads"]
    return subprocess.run(command, cwd="origin.git", capture_output=True, text=True, check=True).stdout


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    golden_for(linear_model(Path("m.onnx")), Path("golden"))
    Path("assay.toml").write_text('[[model]]\npath = "m.onnx"\ngolden = "golden"\n')


def test_nothing_stale_is_one_sentence_and_stale_ones_become_a_change_for_review() -> None:
    found = run_assay("golden", "refresh", "--check")
    assert (found.returncode, found.stdout) == (0, "nothing is stale: 1 golden or baseline was looked at\n")

    rewrite(producer="reference", producer_version="0.9.0")
    before = Path("golden/golden.lock").read_bytes()
    found = run_assay("golden", "refresh", "--change", "review", "--older-than", "30000")
    assert found.returncode == 1, found.stderr
    assert "stale: golden: made by reference 0.9.0, " in found.stdout
    assert (
        "for review: review/review.md; to make the change and open it: sh review/refresh.sh, then sh review/open.sh\n"
        in found.stdout
    )
    assert "what would change is not known" not in found.stdout, found.stdout
    assert Path("golden/golden.lock").read_bytes() == before, "a check writes no golden"
    script = Path("review/refresh.sh").read_text()
    assert "assay golden update golden m.onnx --flow reference --reason 'made by reference 0.9.0" in script
    assert "git switch -C" in script
    assert "golden" in Path("review/review.md").read_text()

    written = next(line for line in script.splitlines() if line.startswith("assay golden update"))
    done = run_assay(*shlex.split(written)[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the values stay the same: only the lock changes\nupdated golden: "), done.stdout
    found = run_assay("golden", "refresh", "--check", "--older-than", "30")
    assert (found.returncode, found.stdout) == (0, "nothing is stale: 1 golden or baseline was looked at\n")
    assert [revision.reason for revision in read_lock(Path("golden")).revisions()][-1].startswith(
        "made by reference 0.9.0"
    )


def _with_gh() -> Callable[[list[str]], subprocess.CompletedProcess[str]]:
    """What runs a command where `tools/gh` says that `open` changes are open, keeps in `asked` what to open, and ends with `code`."""
    tools = Path("tools").resolve()
    tools.mkdir()
    answers = f'if [ "$2" = list ]; then cat {tools}/open; else printf "%s\\n" "$@" > {tools}/asked; exit "$(cat {tools}/code)"; fi'
    (tools / "gh").write_text(f"#!/bin/sh\n{answers}\n")
    (tools / "gh").chmod(0o755)
    (tools / "open").write_text("0\n")
    (tools / "code").write_text("0\n")
    variables = {
        **os.environ, "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}", "GIT_AUTHOR_NAME": "ann",
        "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "ann", "GIT_COMMITTER_EMAIL": "ann@example.org",
    }  # fmt: skip
    return functools.partial(subprocess.run, env=variables, capture_output=True, text=True, check=False)


def test_the_script_makes_a_branch_of_goldens_and_approves_engines_beside_it() -> None:
    """Run as it is: engines are no part of the checkout, and new files of a golden are."""
    _make_repository()
    history = ("--history", "kept")
    assert run_assay("baseline", "set", "m.onnx", *RECIPE.split(), "--reason", "first", *history).returncode == 0
    (first,) = _recipes()
    rewrite(producer="reference", producer_version="0.9.0", created_at="2020-01-01T00:00:00+00:00")
    found = run_assay("golden", "refresh", "--change", "review", "--older-than", "0", *history)
    assert found.returncode == 1, found.stderr
    script_of = _with_gh()
    done = script_of(["sh", "review/refresh.sh"])
    assert done.returncode == 0, done.stderr
    assert "refresh-goldens" not in _branches(), "what records goldens needs no right to push"
    assert script_of(["sh", "review/open.sh"]).returncode == 0
    pushed = subprocess.run(
        ["git", "log", "--all", "--name-only", "--format="],
        cwd="origin.git",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "golden/golden.lock" in pushed
    assert "m.onnx" in pushed
    assert not [name for name in pushed if name.startswith(("kept", "review"))]
    listed = run_assay("baseline", "list", "--all", *history).stdout
    assert listed.count("m on onnxruntime") == 2, listed
    assert "days old (limit 0)" in listed
    assert _recipes() == [first, first], "it is the same baseline: its batch, its seed, its ranges, its limits"

    rewrite(producer="reference", producer_version=read_lock(Path("golden")).producer_version)
    rewrite(created_at="2200-01-01T00:00:00+00:00")
    found = run_assay("golden", "refresh", "--change", "engines", "--older-than", "0", *history)
    script = Path("engines/refresh.sh").read_text()
    assert "git" not in script.replace("golden refresh", ""), "no golden is stale: there is nothing to commit"
    assert not Path("engines/open.sh").exists()
    assert "to make the change: sh engines/refresh.sh\n" in found.stdout
    assert "assay baseline set m.onnx --option optimization=basic" in script
    assert script.rstrip().endswith("--history kept")


def test_what_could_not_be_opened_is_replaced_the_next_night_and_what_is_under_review_stays() -> None:
    _make_repository()
    rewrite(producer="reference", producer_version="0.9.0")
    assert run_assay("golden", "refresh", "--change", "review").returncode == 1
    script_of, tools = _with_gh(), Path("tools")
    (tools / "code").write_text("1\n")
    assert script_of(["sh", "review/refresh.sh"]).returncode == 0
    assert script_of(["sh", "review/open.sh"]).returncode == 1, "it could not be opened, and the branch is there"
    assert "refresh-goldens" in _branches()
    script_of(["git", "commit", "--amend", "--message=The next night"])
    (tools / "code").write_text("0\n")
    done = script_of(["sh", "review/open.sh"])
    assert done.returncode == 0, done.stderr
    asked = "pr|create|--head|refresh-goldens|--title|Refresh goldens|--body-file|review/review.md"
    assert "|".join((tools / "asked").read_text().splitlines()) == asked, "the change is opened for review"
    (tools / "asked").unlink()
    (tools / "open").write_text("1\n")
    script_of(["git", "commit", "--amend", "--message=One night more"])
    assert script_of(["sh", "review/open.sh"]).stdout == "a change is open already\n"
    assert not (tools / "asked").exists()
    assert "The next night" in _branches(), "what is under review stays as it is"


@pytest.mark.parametrize("producer", ["given", "of-a-plug-in-that-is-gone"])
def test_answers_that_no_flow_here_computed_are_not_put_in_place_of_by_those_of_another(producer: str) -> None:
    """Given answers are the truth of whoever brought them."""
    rewrite(producer=producer, created_at="2020-01-01T00:00:00+00:00")
    found = run_assay("golden", "refresh", "--change", "review", "--older-than", "365")
    assert found.returncode == 1, found.stderr
    assert "what would change is not known: " in found.stdout
    assert "with --flow" in found.stdout
    assert "golden update" not in found.stdout
    assert "golden update" not in Path("review/refresh.sh").read_text()
    asked = run_assay("golden", "refresh", "--check", "--flow", "reference")
    assert "assay golden update golden m.onnx --flow reference" in asked.stdout, "a person may want so"


def test_age_oracle_and_what_cannot_be_known_are_recipes() -> None:
    rewrite(created_at="2020-01-01T00:00:00+00:00", producer="reference", producer_version="")
    Path("assay.toml").unlink()
    found = run_assay("golden", "refresh", "golden", "--check", "--older-than", "365", "--flow", "torch-eager")
    assert found.returncode == 1, found.stderr
    assert "days old (limit 365); computed by reference, not by torch-eager" in found.stdout
    assert "what would change is not known: no model of assay.toml has it" in found.stdout


def test_a_schedule_that_finds_nothing_is_no_pass_and_an_engine_that_is_gone_is_stale() -> None:
    Path("assay.toml").write_text('[[model]]\npath = "m.onnx"\n')
    found = run_assay("golden", "refresh", "--check")
    assert (found.returncode, found.stdout) == (5, "")
    assert (
        "assay: there is nothing to look at: no model of assay.toml has a golden, and .assay has no baseline; name a golden, or approve an "
        "engine with `assay baseline set`\n"
    ) in found.stderr

    assert run_assay("baseline", "set", "m.onnx", "--flow", "onnxruntime", "--reason", "first").returncode == 0
    Path("assay.toml").unlink()
    found = run_assay("golden", "refresh", "--check")
    assert (found.returncode, found.stdout) == (0, "nothing is stale: 1 golden or baseline was looked at\n"), (
        "the history alone"
    )
    (artifact,) = Path(".assay/baselines").glob("*/*/*/artifact")
    shutil.rmtree(artifact)
    found = run_assay("golden", "refresh", "--check")
    assert found.returncode == 1
    assert "stale: m on onnxruntime: its artifact is gone\n" in found.stdout
    assert "    assay baseline set m.onnx " in found.stdout
    assert " --reason 'its artifact is gone' --flow onnxruntime\n" in found.stdout


def test_bad_input_is_one_sentence() -> None:
    for words, told in (
        (("golden",), "give --check to report what is stale"),
        (("nowhere", "--check"), "nowhere"),
        (("golden", "--check", "--flow", "no-such-flow"), "no-such-flow"),
        (("--check", "--config", "none.toml"), "none.toml: there is no such file"),
    ):
        found = run_assay("golden", "refresh", *words)
        assert found.returncode == 2, (words, found.stdout, found.stderr)
        assert told in found.stderr
        assert "Traceback" not in found.stderr
