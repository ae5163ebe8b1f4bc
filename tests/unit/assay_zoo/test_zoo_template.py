"""What `assay zoo init` writes says the defaults, all of them, and is what the schemas ask for."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.resources import files

import pytest

from assay_zoo.metadata import Metadata
from assay_zoo.policy import Scenario, ZooPolicy
from assay_zoo.template import SCHEMAS, schema_text

DATA = files("assay_zoo") / "data"


def test_the_policy_file_says_every_default() -> None:
    text = (DATA / "zoo" / "zoo.toml").read_text(encoding="utf-8")
    policy = tomllib.loads(text)
    assert ZooPolicy.model_validate(policy) == ZooPolicy(name="THE-ZOO")
    assert set(policy) | {"waivers"} == set(ZooPolicy.model_fields)
    for table in ("files", "run", "decision"):
        assert set(policy[table]) == set(ZooPolicy.model_json_schema()["$defs"][_type(table)]["properties"])


def _type(table: str) -> str:
    field = ZooPolicy.model_fields[table].annotation
    assert field is not None
    return field.__name__


def test_the_waiver_that_is_commented_out_would_be_taken() -> None:
    text = (DATA / "zoo" / "zoo.toml").read_text(encoding="utf-8")
    _, _, waiver = text.partition("# [[waivers]]")
    lines = [line.removeprefix("# ") for line in waiver.splitlines()]
    policy = ZooPolicy.model_validate(tomllib.loads("\n".join(['name = "z"', "[[waivers]]", *lines])))
    assert policy.waivers[0].signed == "who"


def test_the_template_of_a_submission_fits_the_schema() -> None:
    text = (DATA / "zoo" / "templates" / "submission" / "metadata.toml").read_text(encoding="utf-8")
    assert Metadata.model_validate({**tomllib.loads(text), "name": "x"}).version == "1.0"


def test_every_scenario_of_the_package_fits_the_schema() -> None:
    paths = [path for path in (DATA / "scenarios").iterdir() if path.name.endswith(".toml")]
    names = [Scenario.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).name for path in paths]
    assert "image-classification" in names
    assert len(set(names)) == len(names)


def test_a_schema_is_a_json_schema() -> None:
    for model in SCHEMAS.values():
        schema = json.loads(schema_text(model))
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False


def test_the_workflows_are_yaml_and_call_the_command_as_it_is() -> None:
    yaml = pytest.importorskip("yaml")
    for name in ("dot-github/workflows/zoo.yml", "dot-gitlab-ci.yml"):
        text = (DATA / "zoo" / name).read_text(encoding="utf-8")
        content = yaml.safe_load(text)
        assert "zoo" in content or content["name"] == "zoo"
        for used in re.findall(r"uses: (\S+)", text):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", used), "a tag can be moved"
        lines = [line for line in text.splitlines() if "assay zoo check" in line]
        assert "--since" in lines[0]
        assert all("--zoo ../zoo" in line for line in lines)
