"""The keys of assay.toml that are options are made from the rows of the options, as is its JSON schema."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from assay.config.assay_toml import load_config
from assay.config.toml_schema import config_schema
from assay.core.input_plan import InputRange, RangeSource
from assay.models.random_inputs import FILLS as KNOWN_FILLS
from assay.options.check import CheckOptions
from assay.options.declaration import rows
from assay.options.model_groups import FILLS

OF_ITS_OWN = {"flows.use", "history", "model.tolerance", "model.task-metric"}
"""Keys that hold more than the option says, or are refused where they are empty."""
KEYS = """
[[model]]
path = "m.onnx"
inputs = "own.npz"
reference = "old.onnx"
map-inputs = { ids = "input_ids" }
calibration = 3
fill = "exact"
dims = { h = "64,96", w = 48, d = [1, 2, 4] }
input-ranges = { x = [0, 1], y = [0, 9] }
input-values = { y = 5, z = [1, 2.5] }
tolerance = "torch"
state = { stateN = "state" }
image = "size=8x8"
[limits]
timeout-s = 30
derive-timeout-s = 0
memory = "4GB"
[measure]
batches = [1, 8]
"""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return config_schema()


def _properties(schema: dict[str, Any], table: str) -> dict[str, Any]:
    section = schema["properties"][table] if table else schema
    while "properties" not in section:
        section = section.get("items", section)
        (section,) = section.get("allOf", [section])
        section = schema["$defs"][section["$ref"].rpartition("/")[2]]
    properties: dict[str, Any] = section["properties"]
    return properties


@pytest.mark.parametrize("row", [row for row in rows(CheckOptions) if row.toml], ids=lambda row: row.toml)
def test_the_schema_has_the_key_of_every_row_with_its_help(schema: dict[str, Any], row: Any) -> None:
    table, _, key = row.toml.rpartition(".")
    properties = _properties(schema, table)[key]
    assert row.toml in OF_ITS_OWN or properties["description"] == row.help


def test_the_command_line_says_the_same_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"onnx")
    (tmp_path / "assay.toml").write_text(KEYS)
    config = load_config(tmp_path / "assay.toml")
    (model,) = config.models
    inputs = model.inputs
    assert (inputs.dims, inputs.sizes) == (
        {"h": (64, 64, 96), "w": (48, 48, 48), "d": (1, 2, 4)},
        {"h": (64, 96), "w": (48,)},
    )
    assert inputs.ranges == {
        "x": InputRange(0, 1, source=RangeSource.STATED),
        "y": InputRange(5, 5, choices=(5,), source=RangeSource.STATED),
        "z": InputRange(1, 2.5, choices=(1, 2.5), source=RangeSource.STATED),
    }
    assert inputs.data is not None
    assert (inputs.data.source, inputs.data.expected, inputs.data.state) == (
        str(tmp_path / "own.npz"), False, {"stateN": "state"},
    )  # fmt: skip
    assert (inputs.calibration, inputs.fill, inputs.samples, inputs.batch, inputs.seed) == (3, "exact", 4, 1, 0)
    assert (model.reference, model.map_inputs) == (str(tmp_path / "old.onnx"), {"ids": "input_ids"})
    assert (config.limits.timeout_s, config.limits.derive_s, config.limits.memory_bytes) == (30, 0, 4 * 10**9)
    assert (config.measuring.batches, config.measuring.seconds, config.measuring.warmup_s) == ((1, 8), 0.5, 2.0)


def test_the_schema_that_init_prints_fits_what_people_write() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(CliRunner().invoke(app, ["init", "--schema"]).stdout)
    validator = jsonschema.Draft202012Validator(schema)
    assert not list(validator.iter_errors(tomllib.loads(KEYS)))
    for wrong in (
        "[limits]\ntimeout-s = 0",
        "[limits]\ntimeout = 3",
        '[[model]]\npath = "m"\nfill = "odd"',
        "[[model]]\npath = 1",
    ):
        assert list(validator.iter_errors(tomllib.loads(wrong))), wrong


def test_the_ways_to_fill_are_those_that_are_known() -> None:
    assert FILLS == KNOWN_FILLS
