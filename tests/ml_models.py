"""Small models of the domain ai.onnx.ml, as converters of scikit-learn and of boosting libraries write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

ML = "ai.onnx.ml"
LABELS = ["cat", "dog", "eel"]


def tree_attributes(role: str, classes: int, *, trees: int = 3, one_score: bool = False) -> dict[str, Any]:
    """Trees of depth two over four features, each leaf with a vote for every class; NaN goes down the left branch."""
    stream = np.random.default_rng(5)
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true",
        )
    }  # fmt: skip
    votes: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        for node in range(7):
            leaf = node > 2
            row = (
                tree, node, int(stream.integers(4)), 0.0 if leaf else float(np.float32(stream.normal())),
                "LEAF" if leaf else "BRANCH_LEQ", 0 if leaf else 2 * node + 1, 0 if leaf else 2 * node + 2, int(not leaf),
            )  # fmt: skip
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
            for class_number in range(1 if one_score else classes) if leaf else ():
                weight = float(np.float32(stream.normal() if one_score else stream.random() / trees))
                for name, vote in zip(votes, (tree, node, class_number, weight), strict=True):
                    votes[name].append(vote)
    return {f"nodes_{name}": value for name, value in columns.items()} | {
        f"{role}_{name}": value for name, value in votes.items()
    }


def classifier(
    path: Path, *, classes: int = 3, texts: bool = True, one_score: bool = False, zipped: bool = True
) -> Path:
    """x (N, 4) -> the label and, by ZipMap, a map from label to score for each row (or the scores)."""
    labels: dict[str, Any] = (
        {"classlabels_strings": LABELS[:classes]} if texts else {"classlabels_int64s": list(range(classes))}
    )
    kind = TensorProto.STRING if texts else TensorProto.INT64
    attributes = tree_attributes("class", classes, one_score=one_score)
    transform = {"post_transform": "LOGISTIC"} if one_score else {}
    nodes = [
        helper.make_node(
            "TreeEnsembleClassifier",
            ["x"],
            ["label", "scores"],
            name="trees",
            domain=ML,
            **attributes,
            **labels,
            **transform,
        )
    ]
    outputs = [helper.make_tensor_value_info("label", kind, ["N"])]
    if zipped:
        nodes.append(helper.make_node("ZipMap", ["scores"], ["probabilities"], name="zip", domain=ML, **labels))
        maps = helper.make_map_type_proto(kind, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
        outputs.append(helper.make_value_info("probabilities", helper.make_sequence_type_proto(maps)))
    else:
        outputs.append(helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", classes]))
    return _saved(path, nodes, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])], outputs)


def regressor(path: Path, *, aggregate: str = "SUM") -> Path:
    """x (N, 4) -> y (N, 2)."""
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], name="trees", domain=ML, n_targets=2, aggregate_function=aggregate,
        base_values=[0.5, -1.0], **tree_attributes("target", 2),
    )  # fmt: skip
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])]
    return _saved(path, [node], inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])])


def dict_vectorizer(path: Path) -> Path:
    """A map from text to number -> y (1, 3)."""
    node = helper.make_node("DictVectorizer", ["x"], ["y"], name="vector", domain=ML, string_vocabulary=LABELS)
    kind = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    return _saved(
        path,
        [node],
        [helper.make_value_info("x", kind)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
    )


def sequence_model(path: Path) -> Path:
    """A sequence of vectors and an index -> relu of that element, and the sequence with it at the end."""
    nodes = [
        helper.make_node("SequenceAt", ["s", "i"], ["a"]),
        helper.make_node("Relu", ["a"], ["y"], name="relu"),
        helper.make_node("SequenceInsert", ["s", "y"], ["t"]),
    ]
    inputs = [
        helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, ["n"]),
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
    ]
    outputs = [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"]),
        helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None),
    ]
    return _saved(path, nodes, inputs, outputs)


def _saved(path: Path, nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> Path:
    graph = helper.make_graph(nodes, path.stem, inputs, outputs)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), path)
    return path
