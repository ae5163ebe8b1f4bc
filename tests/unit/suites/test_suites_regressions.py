"""The suite of regressions: each case is a valid model with an answer, and names a finding that there is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from assay.suites.regressions.build_regressions import answers, model_of
from assay.suites.regressions.declare import Regression, Spread, tables

ROOT = Path(__file__).parents[3]
FINDINGS = ROOT / "docs" / "findings"
EXPECTATIONS = ROOT / "expectations"


@pytest.mark.parametrize("regression", tables(), ids=lambda table: table.name)
def test_a_case_has_a_model_and_an_answer(regression: Regression) -> None:
    model, inputs = model_of(regression)
    outputs = answers(regression, model, inputs)
    assert [*outputs] == [value.name for value in model.graph.output]
    for value in model.graph.output:
        assert outputs[value.name].shape == tuple(axis.dim_value for axis in value.type.tensor_type.shape.dim)
    assert (FINDINGS / regression.finding).is_file()


def test_what_fuzzing_found_has_a_case() -> None:
    names = {path.name for path in FINDINGS.glob("*.py") if "`assay fuzz" in path.read_text(encoding="utf-8")}
    assert len(names) >= 37
    assert names <= {table.finding for table in tables()}


def test_each_name_of_an_expectation_is_a_case() -> None:
    cases = {f"regressions/{table.name}" for table in tables()}
    for path in sorted(EXPECTATIONS.glob("*.toml")):
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("expect", [])
        names = {name for entry in entries for name in entry["cases"] if name.startswith("regressions/")}
        assert not names - cases, f"{path.name} names what is gone: {sorted(names - cases)}"


def test_inputs_are_as_they_are_stated() -> None:
    regression = Regression(
        "name",
        "finding",
        17,
        "(float[4] x, int64[2] i, float[2,2] w) => (float[4] y, float[2,2] z) { y = Neg (x)  z = Neg (w) }",
        inputs={"x": Spread(0, 3), "i": 7},
        constants={"w": [1, 2, 3, 4]},
        outputs={"z": -9},
    )
    model, inputs = model_of(regression)
    assert sorted(inputs["x"].tolist()) == [0, 1, 2, 3]
    assert inputs["x"].tolist() != [0, 1, 2, 3]
    assert inputs["i"].tolist() == [7, 7]
    assert [value.name for value in model.graph.initializer] == ["w"]
    outputs = answers(regression, model, inputs)
    np.testing.assert_array_equal(outputs["y"], -inputs["x"])
    assert outputs["z"].tolist() == [[-9, -9], [-9, -9]]


def test_a_name_that_the_graph_does_not_have_is_an_error() -> None:
    with pytest.raises(AssertionError, match="the graph has no q"):
        model_of(Regression("name", "finding", 17, "(float[1] x) => (float[1] y) { y = Neg (x) }", inputs={"q": 1}))
