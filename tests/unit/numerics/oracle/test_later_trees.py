"""TreeEnsemble of version 5: forms that the evaluator does not compute."""

from __future__ import annotations

import numpy as np
import pytest

from assay.numerics.attributes import NotComputed
from assay.numerics.oracle.later_trees import TreeEnsemble

STUMP = {
    "nodes_modes": [0], "nodes_featureids": [0], "nodes_splits": [0.5], "tree_roots": [0], "leaf_weights": [1.0, 2.0],
    "nodes_truenodeids": [0], "nodes_trueleafs": [1], "nodes_falsenodeids": [1], "nodes_falseleafs": [1],
    "leaf_targetids": [0, 1], "n_targets": 2,
}  # fmt: skip


@pytest.mark.parametrize("number", [-1, 5, 9])
def test_a_transform_that_the_standard_does_not_have_is_not_computed(number: int) -> None:
    evaluator = TreeEnsemble.__new__(TreeEnsemble)
    with pytest.raises(NotComputed, match=f"^post_transform={number}$"):
        evaluator._run(np.zeros((1, 1), np.float32), **STUMP, post_transform=number)
