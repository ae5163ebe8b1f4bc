"""Ensembles of two trees, in each form that the standard has for them."""

from __future__ import annotations

import numpy as np
from models import ALL as OTHERS
from models import I64, F, Node, model
from onnx import ModelProto, TensorProto, numpy_helper

TREE_INPUTS: dict[str, tuple[int, list[int | str]]] = {"i": (I64, ["N", 2]), "d": (TensorProto.DOUBLE, ["N", 2])}
TENTHS = [Node("Cast", ["i"], ["whole"], to=F), Node("Mul", ["whole", "tenth"], ["table"], name="tenths")]
"""They meet thresholds."""
TENTH = {"tenth": np.array(0.1, np.float32)}
LEAVES = [0.1, -0.7, 0.3, 1.3, -0.2, 0.9]


def trees() -> ModelProto:
    """Two trees of three leaves: each root asks one feature, the node below it the other."""
    nodes = {
        "nodes_treeids": [0] * 5 + [1] * 5, "nodes_nodeids": [0, 1, 2, 3, 4] * 2,
        "nodes_featureids": [0, 1, 0, 0, 0, 1, 0, 0, 0, 0], "nodes_modes": (["BRANCH_LEQ"] * 2 + ["LEAF"] * 3) * 2,
        "nodes_truenodeids": [1, 3, 0, 0, 0] * 2, "nodes_falsenodeids": [2, 4, 0, 0, 0] * 2,
    }  # fmt: skip
    limits = [0.5, 0.1, 0, 0, 0, 0.2, 0.3, 0, 0, 0]
    made = [
        *TENTHS,
        Node("TreeEnsembleClassifier", ["table"], ["label", "scores"], name="classifier", domain="ai.onnx.ml", **nodes,
             nodes_values=limits, class_treeids=[0] * 3 + [1] * 3, class_nodeids=[3, 4, 2] * 2, class_ids=[0, 1, 2] * 2,
             class_weights=LEAVES, classlabels_int64s=[5, 6, 7], base_values=[0.5, 0.25, 0.125]),
        Node("TreeEnsembleRegressor", ["d"], ["sum"], name="regressor", domain="ai.onnx.ml", **nodes, n_targets=1,
             nodes_values_as_tensor=numpy_helper.from_array(np.array(limits), "limits"), target_treeids=[0] * 3 + [1] * 3,
             target_nodeids=[3, 4, 2] * 2, target_ids=[0] * 6,
             target_weights_as_tensor=numpy_helper.from_array(np.array(LEAVES), "weights")),
    ]  # fmt: skip
    outputs: dict[str, tuple[int, list[int | str] | None]] = {
        "label": (I64, ["N"]), "scores": (F, ["N", 3]), "sum": (F, ["N", 1]),
    }  # fmt: skip
    return model(made, TREE_INPUTS, outputs, TENTH, learning=3)


def later_trees() -> ModelProto:
    """The same trees as one operator of the later form."""
    tables = {
        "nodes_modes": np.zeros(4, np.uint8), "nodes_splits": np.array([0.5, 0.1, 0.2, 0.3], np.float32),
        "leaf_weights": np.array(LEAVES, np.float32),
    }  # fmt: skip
    made = [
        *TENTHS,
        Node("TreeEnsemble", ["table"], ["later"], name="later", domain="ai.onnx.ml", n_targets=1, tree_roots=[0, 2],
             nodes_featureids=[0, 1, 1, 0], nodes_truenodeids=[1, 0, 3, 3], nodes_trueleafs=[0, 1, 0, 1],
             nodes_falsenodeids=[2, 1, 5, 4], nodes_falseleafs=[1, 1, 1, 1], leaf_targetids=[0] * 6,
             **{name: numpy_helper.from_array(table, name) for name, table in tables.items()}),
    ]  # fmt: skip
    return model(made, {"i": TREE_INPUTS["i"]}, {"later": (F, ["N", 1])}, TENTH, learning=5)


ALL = {**OTHERS, "trees": trees, "later_trees": later_trees}
"""With all that have no trees."""
