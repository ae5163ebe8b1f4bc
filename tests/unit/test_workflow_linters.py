"""The workflows, the action and the component as linters of others see them: their schemas, and what a stranger could make them run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ZOO = ROOT / "packages" / "assay-zoo" / "src" / "assay_zoo" / "data" / "zoo" / "dot-github" / "workflows" / "zoo.yml"
ACTION = ROOT / "action.yml"
COMPONENT = ROOT / "templates" / "assay.yml"
OLD_RUNTIME = {"checkout": 5, "setup-python": 6, "cache": 5, "upload-artifact": 6, "download-artifact": 7}
"""The first version of each action that runs on Node 24: runners have no Node 20 any more."""


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    program, *more = words
    return subprocess.run(
        [str(Path(sys.executable).parent / program), *more], capture_output=True, text=True, check=False
    )


def _component(folder: Path) -> Path:
    """The second document of the template: the first one declares its inputs."""
    _, pipeline = yaml.safe_load_all(COMPONENT.read_text())
    (folder / "pipeline.yml").write_text(yaml.safe_dump(pipeline))
    return folder / "pipeline.yml"


@pytest.mark.parametrize("path", [*WORKFLOWS, ZOO], ids=lambda path: str(path.name))
def test_workflows_have_the_form_of_githubs(path: Path) -> None:
    done = _run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.heavy
def test_the_action_and_the_component_have_theirs(tmp_path: Path) -> None:
    for schema, path in (("github-actions", ACTION), ("gitlab-ci", _component(tmp_path))):
        done = _run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", str(path))
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.heavy
def test_the_pipelines_that_are_made_for_gitlab_have_its_form(tmp_path: Path) -> None:
    """The nightly one, which is written in the pipeline itself, and that of a zoo."""
    made = subprocess.run(
        [sys.executable, "tools/nightly_matrix.py", "--gitlab"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (tmp_path / "nightly.yml").write_text(made.stdout)
    zoo = ZOO.parents[2] / "dot-gitlab-ci.yml"
    done = _run("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(tmp_path / "nightly.yml"), str(zoo))
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "wrong.yml").write_text(f"{made.stdout}\nwrong:\n  script: [true]\n  when: sometimes\n")
    assert _run("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(tmp_path / "wrong.yml")).returncode


def test_the_shards_that_the_page_shows_for_gitlab_are_whole(tmp_path: Path) -> None:
    """Each of its parallel jobs has a share of its own, and they are all."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (block,) = [text for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "parallel:" in text]
    (tmp_path / "shards.yml").write_text(block)
    done = _run("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(tmp_path / "shards.yml"))
    assert done.returncode == 0, done.stdout + done.stderr
    job = yaml.safe_load(block)["shard"]
    script = "\n".join(['assay() { echo $#; while [ $# -gt 0 ]; do echo "$1"; shift; done; }', *job["script"]])
    words = [
        subprocess.run(
            ["/bin/sh", "-ec", script], env=variables, capture_output=True, text=True, check=True
        ).stdout.split()
        for index in range(1, job["parallel"] + 1)
        for variables in [{"CI_NODE_INDEX": str(index), "CI_NODE_TOTAL": str(job["parallel"])}]
    ]
    assert [line[line.index("--shard") + 1] for line in words] == ["1/4", "2/4", "3/4", "4/4"]
    assert len({line[line.index("--save") + 1] for line in words}) == job["parallel"]
    assert len({line[line.index("--durations") + 1] for line in words}) == 1, "all share out by one file"


def test_no_text_of_others_becomes_code_and_no_token_stays_behind() -> None:
    rules = ["--config", str(ROOT / ".github" / "zizmor.yml")]
    done = _run("zizmor", "--offline", *rules, "--format", "plain", *map(str, [*WORKFLOWS, ZOO, ACTION]))
    assert done.returncode == 0, done.stdout


def test_an_unknown_key_and_a_title_in_the_shell_are_seen(tmp_path: Path) -> None:
    """Both linters bite: an unknown key, and the words of a stranger in a script."""
    text = WORKFLOWS[0].read_text()
    (tmp_path / "form.yml").write_text(text.replace("runs-on:", "runs_on:"))
    (tmp_path / "code.yml").write_text(
        text.replace("- run: ./.ci/run", '- run: echo "${{ github.event.pull_request.title }}"')
    )
    assert _run(
        "check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(tmp_path / "form.yml")
    ).returncode
    done = _run("zizmor", "--offline", "--format", "plain", str(tmp_path / "code.yml"))
    assert "template-injection" in done.stdout


def _uses(path: Path) -> list[str]:
    """The actions of all steps: of a workflow's jobs, or of a composite action."""
    text = yaml.safe_load(path.read_text())
    jobs = [text["runs"]] if "runs" in text else [*text["jobs"].values()]
    steps = [step for job in jobs for step in job["steps"]]
    assert steps
    return [step["uses"] for step in steps if "uses" in step]


def _on_old_runtimes(path: Path) -> list[str]:
    lines = path.read_text().splitlines()
    old = []
    for use in _uses(path):
        name, _, version = use.removeprefix("actions/").partition("@")
        # By a digest: the version stands in the comment behind it.
        use_version = (
            version if version.startswith("v") else next(line for line in lines if use in line).partition("# ")[2]
        )
        if int(use_version.strip().removeprefix("v").partition(".")[0]) < OLD_RUNTIME[name.partition("/")[0]]:
            old.append(use)
    return old


@pytest.mark.parametrize("path", [*WORKFLOWS, ZOO, ACTION], ids=lambda path: str(path.name))
def test_no_action_wants_a_runtime_that_runners_have_no_more(path: Path) -> None:
    # The action of this repository has steps of the shell alone, until it uses one of others.
    assert bool(_uses(path)) == (path != ACTION)
    assert _on_old_runtimes(path) == []


def test_an_old_runtime_is_seen_in_a_workflow_and_in_an_action(tmp_path: Path) -> None:
    workflow, action = tmp_path / "workflow.yml", tmp_path / "action.yml"
    workflow.write_text(WORKFLOWS[0].read_text().replace("actions/checkout@v5", "actions/checkout@v4"))
    first = "  steps:\n"
    action.write_text(ACTION.read_text().replace(first, f"{first}    - uses: actions/cache@0a1b2c # v4.3.0\n"))
    assert set(_on_old_runtimes(workflow)) == {"actions/checkout@v4"}
    assert _on_old_runtimes(action) == ["actions/cache@0a1b2c"]
