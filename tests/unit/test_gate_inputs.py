"""The action, the component, the script that both call, the page and `assay check` name the same things."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from assay import plugins
from assay.cli.main import app
from read_yaml import read_yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = read_yaml((ROOT / "action.yml").read_text())
SPEC, JOB = (ROOT / "templates" / "assay.yml").read_text().split("\n---\n")
COMPONENT: dict[str, Any] = read_yaml(SPEC)["spec"]["inputs"]
SCRIPT = (ROOT / "deploy" / "gate" / "check.sh").read_text()
PAGE = (ROOT / "docs" / "ci.md").read_text()
OWN = {"comment", "token", "install", "packages"}
"""Of the action alone: GitLab shows reports by itself, and its job runs in an image."""
FRAME = {"image", "stage", "job"}
"""Of the component alone."""


def _variables(text: str) -> set[str]:
    return set(re.findall(r"\bASSAY_[A-Z_]+", text))


def test_both_have_the_inputs_of_the_script_and_hand_over_each() -> None:
    shared = set(ACTION["inputs"]) - OWN
    assert shared == set(COMPONENT) - FRAME
    read = _variables(SCRIPT) - {"ASSAY_REPORTS"}
    assert read == {f"ASSAY_{name.upper()}" for name in shared}
    (check,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    assert set(check["env"]) == read
    assert {f"$[[ inputs.{name} ]]" for name in COMPONENT} <= set(re.findall(r"\$\[\[.*?\]\]", JOB))


def test_every_option_of_the_script_is_one_of_assay_check_and_every_report_is_one() -> None:
    group: Any = get_command(app)
    known = {option for parameter in group.commands["check"].params for option in parameter.opts}
    options_used = set(re.findall(r"(?<=[\s(])--[a-z-]+", SCRIPT))
    assert {"--flow", "--golden", "--policy", "--config", "--report"} <= options_used <= known
    assert set(re.findall(r"--report (\w+)=", SCRIPT)) <= set(plugins.names("assay.reports"))


def test_an_input_with_the_name_of_an_option_is_that_option() -> None:
    assert 'for model in ${ASSAY_MODELS:-}; do arguments+=("$model")' in SCRIPT
    for name, option in {"flows": "flow", "golden": "golden", "policy": "policy", "config": "config"}.items():
        assert re.search(rf"ASSAY_{name.upper()}\b.*--{option} ", SCRIPT), name


def test_the_page_has_a_row_for_each_input_with_its_default() -> None:
    rows = {name: sentence.strip(" `") for name, sentence in re.findall(r"^\| `([a-z-]+)` \|(.*?)\|", PAGE, re.M)}
    for name, field in [*ACTION["inputs"].items(), *COMPONENT.items()]:
        default = str(field.get("default", "")).replace("${{ github.token }}", "the job's")
        assert name in rows, name
        assert rows[name] == default, name


def test_every_step_of_the_action_names_a_file_that_there_is() -> None:
    for step in ACTION["runs"]["steps"]:
        for path in re.findall(r"GITHUB_ACTION_PATH/([\w./-]+)", step["run"]):
            assert (ROOT / path).is_file(), path
        # An input never stands in a script: what a user wrote there would be run.
        assert "${{" not in step["run"]


@pytest.mark.heavy
def test_the_extras_of_a_flow_are_those_that_install_it(tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text(
        'flows = ["tvm-llvm"]\n[[model]]\npath = "m.onnx"\nflows = ["qnn-htp", "mnn-f32"]\n'
    )
    tool = ROOT / "deploy" / "gate" / "extras.py"

    def said(*flows: str) -> str:
        asked = [sys.executable, tool, *flows, "--config", tmp_path / "assay.toml"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()

    assert said("onnxruntime", "openvino-int8", "no-such-flow") == "onnxruntime,openvino,nncf"
    assert said() == "tvm,mnn"


@pytest.mark.parametrize("name", ["Containerfile.gate", "Containerfile.gate-tensorrt"])
def test_a_container_of_the_gate_is_made_of_what_there_is_and_runs_as_an_ordinary_user(name: str) -> None:
    text = (ROOT / "deploy" / name).read_text()
    for copied in re.findall(r"^COPY (?!--from)(?:--chmod=\d+ )?(.+) \S+$", text, re.M):
        assert all((ROOT / part).exists() for part in copied.split()), copied
    (lock,) = re.findall(r"^ARG LOCK=(\w+)$", text, re.M)
    assert (ROOT / "requirements" / f"{lock}.txt").is_file()
    last = text[text.rindex("\nFROM ") :]
    assert re.search(r"^USER assay$", last, re.M)
    assert re.findall(r"^ENTRYPOINT .*$", last, re.M) == ['ENTRYPOINT ["tini", "-s", "--", "assay"]']


@pytest.mark.parametrize(
    "name", ["Containerfile", "Containerfile.nvidia", "Containerfile.gate", "Containerfile.gate-tensorrt"]
)
def test_a_container_has_what_links_in_the_packages_lead_to(name: str) -> None:
    """Without it no wheel is built in the image: the known outcomes are a link."""
    copied = re.findall(r"^COPY (?!--from)(?:--chmod=\d+ )?(.+) \S+$", (ROOT / "deploy" / name).read_text(), re.M)
    paths_copied = {ROOT / part for line in copied for part in line.split()}
    links = [path for folder in (ROOT / "packages").glob("*/src/*") for path in folder.iterdir() if path.is_symlink()]
    assert links
    assert {link.resolve() for link in links} <= paths_copied
