"""The workflows say what is there: valid YAML, suites and flows that exist, commands that the program has."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from typer.main import get_command

from assay import plugins
from assay.cli.main import app

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def _gitlab() -> dict[str, Any]:
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.S)
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def _steps(path: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(path.read_text())["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def _commands() -> list[str]:
    told = [step["run"] for path in WORKFLOWS for step in _steps(path) if "run" in step]
    return [*told, *_gitlab()["suites"]["script"]]


def test_there_are_two_and_each_step_runs_or_uses_something() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "nightly.yml"]
    for path in WORKFLOWS:
        assert all(("run" in step) != ("uses" in step) for step in _steps(path))
        assert set(yaml.safe_load(path.read_text())) >= {"name", "permissions", "jobs"}


def _cells() -> set[tuple[str, str]]:
    matrix = yaml.safe_load(WORKFLOWS[1].read_text())["jobs"]["suites"]["strategy"]["matrix"]
    cells = {(one["suite"], one["flow"]) for one in matrix["include"]}
    for one in _gitlab()["suites"]["parallel"]["matrix"]:
        cells |= {(suite, flow) for suite in one["SUITE"] for flow in one["FLOW"]}
    return cells


def test_every_cell_of_the_matrices_is_a_suite_and_a_flow() -> None:
    suites, flows = set(plugins.names("assay.suites")), set(plugins.catalogue().flows)
    assert {suite for suite, _ in _cells()} == suites
    assert {flow for _, flow in _cells()} <= flows


def test_every_command_and_option_of_assay_is_one() -> None:
    group: Any = get_command(app)
    seen = set()
    for command in re.findall(r"assay (run|diff|merge)\b((?:[^\n|;}]|\\\n)*)", "\n".join(_commands())):
        known = {option for parameter in group.commands[command[0]].params for option in parameter.opts}
        told = set(re.findall(r"(?<=\s)--[a-z-]+", command[1]))
        assert told <= known, command
        seen |= {command[0]} | told
    assert seen >= {"run", "diff", "--save", "--check", "--report"}


def test_every_report_of_the_workflows_is_one() -> None:
    told = set(re.findall(r"--report ([a-z-]+)=", "\n".join(_commands())))
    assert told
    assert told <= set(plugins.names("assay.reports"))


@pytest.mark.parametrize("command", _commands())
def test_the_shell_understands_them(command: str) -> None:
    plain = re.sub(r"\$\{\{.*?\}\}", "0", command)
    done = subprocess.run(["bash", "-n"], input=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for target in re.findall(r"make (\S+)", plain):
        name = target.replace(".venv", "$(VENV)")
        assert re.search(rf"^{re.escape(name)}:", (ROOT / "Makefile").read_text(), re.M), target
