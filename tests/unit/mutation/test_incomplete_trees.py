"""Ensembles of trees that lack a table have no place for a mutation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.mutation.graph import Graph
from assay.mutation.mutation_operator import MutationOperator
from assay.mutation.trees import OPERATORS

sys.path.insert(0, str(Path(__file__).parent))
import tree_models


@pytest.mark.parametrize("table", ["nodes_values", "class_weights"])
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_an_ensemble_without_a_table_is_no_site(operator: MutationOperator, table: str) -> None:
    model = tree_models.trees()
    classifier = next(node for node in model.graph.node if node.name == "classifier")
    (attribute,) = (attribute for attribute in classifier.attribute if attribute.name == table)
    classifier.attribute.remove(attribute)
    assert "classifier" not in {node.name for node in operator.sites(Graph(model))}
