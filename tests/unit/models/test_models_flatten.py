"""Sequences, optionals and maps as named tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.core.tensor_parts import whole_name
from assay.models.flatten import flatten, gather

VALUES: dict[str, tuple[Any, list[str]]] = {
    "maps of the same keys": ([{"b": 1.0, "a": 2.0}, {"a": 3.0, "b": 4.0}], ["x[]{keys}", "x[]{values}"]),
    "maps of other keys": (
        [{"a": 2.0}, {"b": 4.0}],
        ["x[]", "x[0]{keys}", "x[0]{values}", "x[1]{keys}", "x[1]{values}"],
    ),
    "a map": ({1: 0.5, 0: 0.25}, ["x{keys}", "x{values}"]),
    "an empty optional": (None, ["x?"]),
    "no map": ([], ["x[]"]),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back_as_they_were(name: str) -> None:
    value, parts = VALUES[name]
    flat = flatten("x", value)
    assert list(flat) == parts
    assert {whole_name(part) for part in flat} == {"x"}
    assert gather("x", flat) == value


def test_probabilities_are_a_row_for_each_map() -> None:
    flat = flatten("p", [{"cat": 0.25, "dog": 0.75}] * 3)
    assert flat["p[]{keys}"].tolist() == ["cat", "dog"]
    assert flat["p[]{values}"].shape == (3, 2)


def test_sequences_nest() -> None:
    value = [[np.zeros(2)], []]
    assert [len(part) for part in gather("x", flatten("x", value))] == [1, 0]
    assert whole_name("x[1][]") == "x"
