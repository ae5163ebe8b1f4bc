"""The operator of another bucket in the place of its own: asked of an engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from onnx import parser

from assay.commands.composition import open_services
from assay.core.flow import Flow
from assay.fuzz.corpus import Bucket, Corpus
from assay.fuzz.swapped import with_swaps
from assay.generators.files import keep_case
from assay.generators.other_operators import with_operator
from assay.ports.generator import GeneratedCase

GRAPH = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) {
    a = LeakyRelu <alpha = 0.2> (x) y = Mul (a, x) }"""
CASE = GeneratedCase(parser.parse_model(GRAPH).SerializeToString(), {"x": np.asarray([-1, 2], np.float32)})
MINE = ("LeakyRelu", "Mul")


def _bucket(*operators: str, **changed: object) -> Bucket:
    bucket = Bucket("+".join(operators), "faulty", "faulty", "values", "wrong", operators, first="case-1", title="one")
    return replace(bucket, **changed)


OTHERS = [
    _bucket("Relu", "Mul"),
    _bucket("Mul", "Mul"),  # takes two
    _bucket("Relu", "Add"),  # differs in two
    _bucket("LeakyRelu", "Div", kind="crash"),
    _bucket("LeakyRelu", "Sub", status="unspecified"),
]


@pytest.mark.parametrize(("fault", "due"), [("none", {"as Relu+Mul": True}), ("zeros", {})])
def test_it_is_tried_with_the_operator_of_what_differs_in_one(tmp_path: Path, fault: str, due: dict[str, bool]) -> None:
    """Where one node of it is wrong alone, that says nothing of the pattern."""
    corpus, flow = Corpus(tmp_path / "corpus"), Flow(name="faulty", backend="faulty", options={"fault": fault})
    keep_case(CASE, corpus.suspects("faulty"), "case-1")
    with open_services(str(tmp_path / "history"), workers=1) as services:
        tried = with_swaps(_bucket(*MINE), OTHERS, flow, corpus, services)
    assert tried.ablated == due
    assert with_swaps(replace(tried, ablated={"as Relu+Mul": True}), OTHERS[:1], flow, corpus, services).ablated


@pytest.mark.parametrize(("mine", "due"), [(MINE, ["Relu", "Mul"]), (("Neg", "Mul"), None)])
def test_the_attributes_that_the_other_does_not_know_go(mine: tuple[str, ...], due: list[str] | None) -> None:
    import onnx

    changed = with_operator(CASE, mine, ("Relu", "Mul"))
    nodes = onnx.load_from_string(changed.model).graph.node if changed else None
    assert (nodes and [node.op_type for node in nodes]) == due
    assert not any(node.attribute for node in nodes or ())
