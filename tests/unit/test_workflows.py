"""The workflows say what is there: valid YAML, suites and flows that exist, commands that the program has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from typer.main import get_command

from assay import plugins
from assay.cli.main import app
from read_yaml import read_yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import nightly_matrix  # noqa: E402

TOOK = nightly_matrix.read_took()
WHOLE = nightly_matrix.whole_cells(TOOK)
MATRIX = nightly_matrix.sharded(WHOLE, TOOK)
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def _child_pipeline() -> dict[str, Any]:
    (text,) = nightly_matrix.gitlab(MATRIX, WHOLE)
    workflow: dict[str, Any] = read_yaml(text)
    return workflow


def _steps(path: Path) -> list[dict[str, Any]]:
    jobs = read_yaml(path.read_text())["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def _commands() -> list[str]:
    commands = [step["run"] for path in WORKFLOWS for step in _steps(path) if "run" in step]
    jobs = [
        job
        for name, job in _child_pipeline().items()
        if isinstance(job, dict) and "script" in job and name != "seconds"
    ]
    return [*commands, *(line for job in (jobs[0], jobs[-1]) for line in job["script"])]


def test_there_are_two_and_each_step_runs_or_uses_something() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "nightly.yml"]
    for path in WORKFLOWS:
        assert all(("run" in step) != ("uses" in step) for step in _steps(path))
        assert set(read_yaml(path.read_text())) >= {"name", "permissions", "jobs"}


def test_every_flow_has_its_cells_or_a_reason_why_not() -> None:
    flows = {flow.name: flow for flow in nightly_matrix.offered_flows()}
    run = {cell.flow for cell in WHOLE}
    assert run | {name for name, flow in flows.items() if nightly_matrix.left_out(flow)} == set(flows)
    for suite in nightly_matrix.FILTERS:
        assert {cell.flow for cell in WHOLE if cell.suite == suite} == run
    assert {cell.suite for cell in WHOLE} == set(plugins.names("assay.suites"))


def test_a_cell_is_where_its_flow_runs() -> None:
    cells = {cell.flow: cell for cell in WHOLE if cell.suite == "models"}
    assert cells["executorch-coreml"].runner.startswith("macos")
    assert "mesa-vulkan-drivers" in cells["iree-vulkan"].packages
    assert (cells["qnn-htp"].environment, cells["litert-int8"].environment) == ("qnn", "litert")
    assert not {
        "tensorrt-fp32",
        "iree-cuda",
        "iree-metal",
        "executorch-qnn",
        "executorch-vulkan",
        "oip",
        "openai",
        "onnxruntime-genai",
        "openvino-genai",
        "transformers",
        "exported-eager",
        "llama-cpp",
    } & set(cells)


def test_shards_follow_what_a_cell_took() -> None:
    cell = nightly_matrix.Cell("models", "tvm-llvm", "*-static", "ubuntu-24.04")
    took = {("models", "tvm-llvm"): 3.5 * nightly_matrix.SHARD_S}
    made = nightly_matrix.sharded([cell], took)
    assert [(candidate.shard, candidate.shards) for candidate in made] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert "--shard 2/4" in made[1].command
    assert len({candidate.name for candidate in made}) == 4
    # Never timed: as twice the middle of its suite.
    other = nightly_matrix.Cell("models", "mnn-f32", "*-static", "ubuntu-24.04")
    assert len(nightly_matrix.sharded([other], took)) == 7


def test_the_matrix_is_one_that_github_takes() -> None:
    assert 0 < len(MATRIX) <= nightly_matrix.MOST_CELLS
    jobs = read_yaml(WORKFLOWS[1].read_text())["jobs"]
    keys = {key for job in jobs.values() for key in re.findall(r"matrix\.(\w+)", str(job))} - {"outputs"}
    assert keys - {"yml", "html", "result"} <= set(MATRIX[0].asdict()) | {"py", "left"}, keys
    assert len({cell.name for cell in MATRIX}) == len(MATRIX)


def test_a_damaged_record_of_seconds_is_told(tmp_path: Path) -> None:
    (tmp_path / "seconds.csv").write_text("suite,flow,seconds\nmodels,tvm-llvm,soon\n")
    with pytest.raises(SystemExit, match="line 2 has no suite, flow and seconds"):
        nightly_matrix.read_took(tmp_path / "seconds.csv")


def test_every_command_and_option_of_assay_is_one() -> None:
    group: Any = get_command(app)
    seen = set()
    for command in re.findall(r"assay (runs|run|diff|merge|report)\b((?:[^\n|;}]|\\\n)*)", "\n".join(_commands())):
        known = {option for parameter in group.commands[command[0]].params for option in parameter.opts}
        flags = set(re.findall(r"(?<=\s)--[a-z-]+", command[1]))
        assert flags <= known, command
        seen |= {command[0]} | flags
    assert seen >= {"run", "diff", "merge", "report", "--save", "--check", "--report", "--against"}


def test_every_report_of_the_workflows_is_one() -> None:
    reports = set(re.findall(r"--report ([a-z-]+)=", "\n".join(_commands())))
    assert reports
    assert reports <= set(plugins.names("assay.reports"))


@pytest.mark.parametrize("command", _commands())
def test_the_shell_understands_them(command: str) -> None:
    plain = re.sub(r"\$\{\{.*?\}\}", "0", command)
    done = subprocess.run(["bash", "-n"], input=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for target in re.findall(r"make (\S+)", plain):
        name = target.replace(".venv", "$(VENV)")
        assert re.search(rf"^{re.escape(name)}:", (ROOT / "Makefile").read_text(), re.M), target


def test_no_step_that_runs_models_holds_a_token_and_one_that_sends_may_fail() -> None:
    steps = [step for path in WORKFLOWS for step in _steps(path) if "run" in step]
    (fuzzing,) = [step for step in steps if "assay fuzz --flow" in step["run"]]
    (sending,) = [step for step in steps if "assay fuzz send" in step["run"]]
    (recording,) = [step for step in steps if "stale/refresh.sh" in step["run"]]
    (opening,) = [step for step in steps if "gh auth" in step["run"]]
    running = [step for step in steps if re.search(r"assay (run|check|fuzz --flow|golden)|refresh\.sh", step["run"])]
    assert fuzzing in running
    assert recording in running
    assert "github.token" in str(opening["env"])
    assert "default_branch" in recording["if"]
    jobs = read_yaml((ROOT / ".github/workflows/nightly.yml").read_text())["jobs"]
    (sender,) = [job for job in jobs.values() if opening in job["steps"]]
    (recorder,) = [job for job in jobs.values() if recording in job["steps"]]
    assert sender["needs"] == "references"
    assert f"steps.{recording['id']}." in recorder["outputs"]["made"]
    assert "permissions" not in recorder, "models ran on its machine"
    assert all(step == opening for step in sender["steps"] if "run" in step)
    for step in running:
        assert "token" not in str(step.get("env", {})), step
    assert "github.token" in str(sending["env"])
    assert sending["run"].rstrip().splitlines()[-1].startswith(".venv/bin/assay fuzz send ")
    assert "||" not in sending["run"]


def test_shards_at_gitlab_share_out_cases_by_seconds_that_are_asked_for_once() -> None:
    pipeline = _child_pipeline()
    asked = "\n".join(pipeline["seconds"]["script"])
    shards = {name: job for name, job in pipeline.items() if name.startswith("run ")}
    for name, job in shards.items():
        file, whole = (
            re.search(r"--durations (\S+json)", job["script"][-1]),
            name.removeprefix("run ").rpartition(",")[0],
        )
        assert bool(file) == ("--shard" in job["script"][-1]) == (job["needs"] == ["seconds"])
        if file:
            assert f"--output {file[1]} " in asked
            assert f"?job={quote(whole)}" in asked
            assert "--durations durations.json" in pipeline[whole]["script"][0]
            assert "durations.json" in pipeline[whole]["artifacts"]["paths"]
    assert any("--shard" in job["script"][-1] for job in shards.values())
