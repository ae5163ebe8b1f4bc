"""Chains of arithmetic reach what the rules of algebra match."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import numpy_helper

from assay.generators.arithmetic import Arithmetic

CASES = 1000


def _rules(graph: Any) -> set[str]:
    """Which of a few rules would match."""
    makers = {name: node for node in graph.node for name in node.output}
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}

    def is_all(name: str, number: float) -> bool:
        return name in held and bool((held[name] == number).all())

    rules = set[str]()
    for node in graph.node:
        before = [makers[name].op_type if name in makers else "" for name in node.input]
        for place, name in enumerate(node.input):
            if node.op_type == "Mul" and before[place] == "Div" and is_all(makers[name].input[0], 1):
                whole = held[makers[name].input[0]].dtype.kind in "iu"
                rules.add("1 / x * y of whole numbers" if whole else "1 / x * y")
        if node.op_type in ("Add", "Sub") and is_all(node.input[1], 0):
            rules.add("x + 0")
        if node.op_type == "Sub" and is_all(node.input[0], 0):
            rules.add("0 - x")
        if node.op_type == "Sub" and node.input[0] == node.input[1]:
            rules.add("x - x")
        if node.op_type == "Cast" and before == ["Cast"]:
            rules.add("casts in a row")
        if node.op_type == "Clip" and before[0] == "Relu":
            rules.add("Clip of Relu")
        if node.op_type == "Where" and before[0] == "Not":
            rules.add("Where of Not")
    return rules


@pytest.mark.heavy
def test_the_rules_are_reached() -> None:
    made = (Arithmetic().make(3, index) for index in range(CASES))
    rules = {rule for case in made if case is not None for rule in _rules(onnx.load_from_string(case.model).graph)}
    assert rules == {
        "1 / x * y", "1 / x * y of whole numbers", "x + 0", "0 - x", "x - x", "casts in a row", "Clip of Relu", "Where of Not",
    }  # fmt: skip
