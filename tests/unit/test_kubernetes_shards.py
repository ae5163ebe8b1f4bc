"""The manifest of a suite in shards: each pod runs a share of its own, and fails where its share was not done."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from read_yaml import read_yaml

MANIFEST = Path(__file__).parents[2] / "deploy" / "kubernetes-shards.yaml"
ASSAY = """#!/bin/sh
echo "$@" > words
while [ $# -gt 0 ]; do [ "$1" = --save ] && [ -z "$NO_FILE" ] && : > "$2"; shift; done
exit $CODE
"""


def _container() -> tuple[dict[str, object], dict[str, str], str]:
    """What the Job says of itself, its variables, and its script."""
    job = read_yaml(MANIFEST.read_text(encoding="utf-8"))["spec"]
    (container,) = job["template"]["spec"]["containers"]
    return job, {row["name"]: row["value"] for row in container["env"]}, container["command"][-1]


def _pod(folder: Path, index: int, **variables: str) -> tuple[int, list[str]]:
    (folder / "assay").write_text(ASSAY)
    (folder / "assay").chmod(0o755)
    _, named, script = _container()
    own = {"PATH": f"{folder}:{os.environ['PATH']}", "JOB_COMPLETION_INDEX": str(index)}
    ended = subprocess.run(
        ["/bin/sh", "-c", script.replace("/shards", str(folder))], cwd=folder, env=named | own | variables, check=False
    )
    return ended.returncode, (folder / "words").read_text().split()


@pytest.mark.parametrize("version", ["1.29", "newest"])
def test_the_manifest_has_the_form_that_kubernetes_publishes(version: str) -> None:
    schemas = pytest.importorskip("kubernetes_validate", reason="pip install -r requirements/test.txt")
    named = schemas.latest_version() if version == "newest" else version
    whole = read_yaml(MANIFEST.read_text(encoding="utf-8"))
    schemas.validate(whole, named, strict=True)
    whole["spec"]["backofLimitPerIndex"] = 2
    with pytest.raises(schemas.ValidationError, match="backofLimitPerIndex"):
        schemas.validate(whole, named, strict=True)


def test_each_pod_has_a_share_of_its_own(tmp_path: Path) -> None:
    job, named, _ = _container()
    assert (job["completionMode"], str(job["completions"])) == ("Indexed", named["SHARDS"])
    shares = [_pod(tmp_path, index, CODE="0")[1] for index in range(int(named["SHARDS"]))]
    assert [words[words.index("--shard") + 1] for words in shares] == [f"{number}/8" for number in range(1, 9)]


def test_all_pods_share_out_the_cases_by_the_durations_in_the_volume(tmp_path: Path) -> None:
    assert "--durations" not in _pod(tmp_path, 0, CODE="0")[1]
    (tmp_path / "durations.json").write_text("{}")
    for index in (0, 7):
        words = _pod(tmp_path, index, CODE="0")[1]
        assert words[words.index("--durations") + 1] == f"{tmp_path}/durations.json"


@pytest.mark.parametrize(
    ("code", "ends_with"), [("0", 0), ("1", 0), ("3", 0), ("5", 0), ("2", 2), ("4", 4), ("137", 137)]
)
def test_cases_that_fail_fail_no_pod(tmp_path: Path, code: str, ends_with: int) -> None:
    assert _pod(tmp_path, 2, CODE=code)[0] == ends_with
    assert (tmp_path / "3.assay").exists()


def test_a_share_without_a_file_was_not_done(tmp_path: Path) -> None:
    (tmp_path / "1.assay").write_text("of the Job before")
    assert _pod(tmp_path, 0, CODE="1", NO_FILE="yes")[0] == 1
