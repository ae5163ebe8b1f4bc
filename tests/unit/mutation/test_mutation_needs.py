"""What a graph must have for a mutation, as a person reads it."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from assay.errors import UsageError
from assay.judge.refusals.mutation_sites import MUTATION_SITES, mutation_needs
from assay.mutation.graph import Graph
from assay.mutation.registry import OPERATORS, Mutant, inject
from assay.numerics.operators.index import open_to
from sentences import says


@pytest.mark.parametrize(
    ("operator", "needs"),
    [("nearest-for-linear", "it needs GridSample, Resize, Upsample"), ("cubic-coefficient", "it needs cubic Resize")],
)
def test_a_model_without_any_is_told_what_it_lacks(operator: str, needs: str) -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    model = helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "relu")], "g", [x], [y]))
    with pytest.raises(UsageError, check=says(needs)):
        inject(Graph(model), Mutant(operator, "relu"))


def test_each_has_words_and_none_that_is_gone() -> None:
    assert all(mutation_needs(name, sorted(open_to(name))) for name in OPERATORS)
    assert MUTATION_SITES.keys() <= OPERATORS.keys()
