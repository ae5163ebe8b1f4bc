"""Operators of ai.onnx.ml: trees, vectors, scalers, encoders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import numpy_helper

from oracle_table.case import OpCase
from oracle_table.gen import Gen, ints


def extractor(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 4, dtype=dtype), ints(2, 0, 3))
        yield g.case(g.x(2, 3, 4, dtype=dtype), ints(1).reshape(1, 1))
    yield g.case(g.x(4), ints(1, 2))


def binarizer(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        for threshold in (None, 0.0, 1.0):
            yield g.case(g.x(2, 3, dtype=dtype), threshold=threshold)


def vectorized(g: Gen) -> Iterator[OpCase]:
    """DictVectorizer."""
    yield g.case({"a": 1.0, "c": 2.5}, string_vocabulary=["c", "b", "a"])
    yield g.case({1: 1.0, 3: 2.5}, int64_vocabulary=[3, 2, 1])


def features(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, dtype=dtype), g.x(2, 2, dtype=dtype), inputdimensions=[3, 2])
    yield g.case(g.x(3, 2), g.x(3, 3), g.x(3, 1), inputdimensions=[2, 3, 1])
    yield g.case(g.x(2, 3), g.x(2, 2), inputdimensions=[4, 1])


def imputer(g: Gen) -> Iterator[OpCase]:
    x = np.array([[1, np.nan, 3], [np.nan, 5, 0]], np.float32)
    yield g.case(x, imputed_value_floats=[9.0], replaced_value_float=float("nan"))
    yield g.case(x, imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=float("nan"))
    yield g.case(x, imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=0.0)
    yield g.case(np.array([[1, 2], [3, 1]], np.int64), imputed_value_int64s=[8], replaced_value_int64=1)


def encoder(g: Gen) -> Iterator[OpCase]:
    words, numbers = np.array([["a", "c"], ["b", "z"]], object), np.array([[1, 3], [2, 9]], np.int64)
    if g.version == 1:
        yield g.case(words, classes_strings=["a", "b", "c"], default_int64=-7)
        yield g.case(numbers % 3, classes_strings=["a", "b", "c"], default_string="none")
        return
    yield g.case(words, keys_strings=["a", "b", "c"], values_int64s=[5, 6, 7], default_int64=-7)
    yield g.case(words, keys_strings=["a", "b", "c"], values_floats=[0.5, 1.5, 2.5])
    yield g.case(numbers, keys_int64s=[1, 2, 3], values_strings=["x", "y", "z"], default_string="none")
    yield g.case(numbers, keys_int64s=[1, 2, 3], values_floats=[0.5, 1.5, 2.5], default_float=-2.0)
    yield g.case(numbers.astype(np.float32), keys_floats=[1.0, 2.0, 3.0], values_int64s=[4, 5, 6])
    yield g.case(np.array([np.nan, 1], np.float32), keys_floats=[float("nan"), 2.0], values_floats=[4, 5])


def mapper(g: Gen) -> Iterator[OpCase]:
    """CategoryMapper."""
    yield g.case(np.array([["a", "z"]], object), cats_strings=["a", "b"], cats_int64s=[4, 5])
    yield g.case(np.array([[4, 9]], np.int64), cats_strings=["a", "b"], cats_int64s=[4, 5], default_string="none")


def linear(g: Gen) -> Iterator[OpCase]:
    """LinearClassifier, LinearRegressor, and what comes after."""
    regress = g.schema.name == "LinearRegressor"
    posts = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    for dtype in g.some_dtypes():
        for post in posts:
            for count in (1, 2, 3):
                weights = [0.31, -0.53, 0.23, 0.71, 0.11, -0.43, 0.61, 0.257, -0.149][: 3 * count]
                bias = [0.1, -0.2, 0.3][:count]
                x = g.x(4, 3, dtype=dtype)
                if regress:
                    yield g.case(x, coefficients=weights, intercepts=bias, targets=count, post_transform=post)
                    continue
                labels: dict[str, Any] = {"classlabels_ints": list(range(10, 10 + count))}
                yield g.case(x, coefficients=weights, intercepts=bias, post_transform=post, outputs=2, **labels)
                if count == 1:
                    yield g.case(
                        x,
                        coefficients=weights,
                        intercepts=bias,
                        post_transform=post,
                        outputs=2,
                        classlabels_ints=[0, 1],
                    )
                if count == 2 and dtype == g.first:
                    yield g.case(
                        x,
                        coefficients=weights,
                        intercepts=bias,
                        post_transform=post,
                        outputs=2,
                        classlabels_strings=["n", "y"],
                        multi_class=1,
                    )


def normalizer(g: Gen) -> Iterator[OpCase]:
    for norm in (None, "MAX", "L1", "L2"):
        for dtype in g.some_dtypes():
            yield g.case(g.x(3, 4, dtype=dtype), norm=norm)
        yield g.case(g.x(4), norm=norm)
        yield g.case(np.zeros((2, 3), np.float32), norm=norm)


def one_hot(g: Gen) -> Iterator[OpCase]:
    for zeros in (None, 0):
        yield g.case(np.array([1, 3, 9 if zeros is None else 2], np.int64), cats_int64s=[1, 2, 3], zeros=zeros)
        yield g.case(np.array([[1, 3], [2, 2]], np.float32), cats_int64s=[1, 2, 3], zeros=zeros)
        yield g.case(np.array(["a", "b"], object), cats_strings=["a", "b", "c"], zeros=zeros)


def scaler(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, dtype=dtype), offset=[1.0], scale=[0.5])
        yield g.case(g.x(2, 3, dtype=dtype), offset=[1.0, 2.0, 3.0], scale=[0.5, 2.0, 1.5])


_SPLITS: dict[str, Any] = {
    "nodes_treeids": [0] * 5 + [1] * 3,
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0],
    "nodes_values": [0.2, -0.5, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0],
    "nodes_truenodeids": [1, 3, 0, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [2, 4, 0, 0, 0, 2, 0, 0],
}
_LEAVES = {"treeids": [0, 0, 0, 1, 1], "nodeids": [2, 3, 4, 1, 2]}
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def _modes(mode: str) -> list[str]:
    return [mode, mode, "LEAF", "LEAF", "LEAF", mode, "LEAF", "LEAF"]


def trees(g: Gen) -> Iterator[OpCase]:
    x = np.vstack([g.x(6, 3, dtype=np.float32, low=-1, high=1), np.float32([[0.2, -0.5, 0.1]])])
    for mode in _MODES:
        yield from _tree(g, x, {**_SPLITS, "nodes_modes": _modes(mode)}, {})
    for post in ("SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"):
        yield from _tree(g, x, {**_SPLITS, "nodes_modes": _modes("BRANCH_LEQ")}, {"post_transform": post})
    gaps = np.array([[np.nan, 0, 0], [0, np.nan, np.nan]], np.float32)
    for tracks in ([0] * 8, [1] * 8):
        yield from _tree(
            g, gaps, {**_SPLITS, "nodes_modes": _modes("BRANCH_LEQ"), "nodes_missing_value_tracks_true": tracks}, {}
        )
    for dtype in g.some_dtypes():
        yield from _tree(g, x.astype(dtype), {**_SPLITS, "nodes_modes": _modes("BRANCH_LEQ")}, {})


def _tree(g: Gen, x: Any, splits: dict[str, Any], more: dict[str, Any]) -> Iterator[OpCase]:
    if g.schema.name == "TreeEnsembleRegressor":
        leaves = {f"target_{name}": ids for name, ids in _LEAVES.items()}
        both = {f"target_{name}": [identity for identity in ids for _ in range(2)] for name, ids in _LEAVES.items()}
        for aggregate in (None, "SUM", "AVERAGE", "MIN", "MAX"):
            for base in (None, [0.25, -0.5]):
                yield g.case(
                    x, target_ids=[0, 1] * 5, target_weights=[0.5, -1.5, 2.0, 0.75, -0.25, 1.25, -2.0, 0.3, 0.6, -0.7], n_targets=2,
                    aggregate_function=aggregate, base_values=base, **both, **splits, **more,
                )  # fmt: skip
        yield g.case(
            x, target_ids=[0] * 5, target_weights=[0.5, -1.5, 2.0, 0.75, -0.25], n_targets=1, **leaves, **splits, **more
        )
        return
    leaves = {f"class_{name}": ids for name, ids in _LEAVES.items()}
    for labels in ({"classlabels_int64s": [3, 7, 9]}, {"classlabels_strings": ["a", "b", "c"]}):
        for base in (None, [0.1, 0.2, -0.3]):
            yield g.case(
                x,
                class_ids=[0, 1, 2, 1, 0],
                class_weights=[0.5, 1.5, 2.0, 0.75, 0.25],
                base_values=base,
                outputs=2,
                **leaves,
                **splits,
                **labels,
                **more,
            )
    two = {"classlabels_int64s": [0, 1]}
    yield g.case(
        x, class_ids=[0] * 5, class_weights=[0.5, -1.5, 2.0, 0.75, -0.9], outputs=2, **leaves, **splits, **two, **more
    )
    yield g.case(
        x,
        class_ids=[0, 1, 0, 1, 0],
        class_weights=[0.5, 1.5, 2.0, 0.75, 0.9],
        outputs=2,
        **leaves,
        **splits,
        **two,
        **more,
    )


def ensemble(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        for mode in range(6):
            for aggregate, post in (
                (None, None),
                (0, None),
                (1, None),
                (2, None),
                (3, None),
                (None, 1),
                (0, 2),
                (None, 3),
            ):
                one = aggregate in (2, 3)
                yield g.case(
                    np.array([[1.2, 3.4], [-0.12, 1.66], [4.14, 1.77], [3.14, 4.2]], dtype), n_targets=1 if one else 2,
                    tree_roots=[0], post_transform=post,
                    nodes_modes=numpy_helper.from_array(np.full(3, mode, np.uint8)), aggregate_function=aggregate,
                    nodes_featureids=[0, 0, 0], nodes_splits=numpy_helper.from_array(np.array([3.14, 1.2, 4.2], dtype)),
                    nodes_truenodeids=[1, 0, 1], nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[2, 2, 3], nodes_falseleafs=[0, 1, 1],
                    leaf_targetids=[0] * 4 if one else [0, 1, 0, 1],
                    leaf_weights=numpy_helper.from_array(np.array([5.23, 12.12, -12.23, 7.21], dtype)),
                )  # fmt: skip


def supports(g: Gen) -> Iterator[OpCase]:
    """SVMRegressor, SVMClassifier."""
    kernels = (
        ("LINEAR", [0.0, 0.0, 0.0]),
        ("POLY", [0.5, 1.0, 2.0]),
        ("RBF", [0.4, 0.0, 0.0]),
        ("SIGMOID", [0.3, 0.1, 0.0]),
    )
    vectors = [0.5, -1.0, 0.3, 1.2, 0.4, -0.7, -0.2, 0.8, 1.1]
    for kernel, numbers in kernels:
        common = {"kernel_type": kernel, "kernel_params": numbers, "support_vectors": vectors}
        for dtype in g.some_dtypes():
            x = g.x(4, 3, dtype=dtype, low=-1, high=1)
            if g.schema.name == "SVMRegressor":
                yield g.case(x, coefficients=[0.5, -1.2, 0.8], rho=[0.3], n_supports=3, **common)
                yield g.case(x, coefficients=[0.5, -1.2, 0.8], rho=[0.3], n_supports=3, one_class=1, **common)
                continue
            for labels in ({"classlabels_ints": [3, 7]}, {"classlabels_strings": ["a", "b"]}):
                yield g.case(
                    x, coefficients=[0.5, -1.2, 0.8], rho=[0.3], vectors_per_class=[2, 1], outputs=2, **labels, **common
                )
            yield g.case(
                x, coefficients=[0.5, -1.2, 0.8], rho=[0.3], vectors_per_class=[2, 1], prob_a=[-1.5], prob_b=[0.1], outputs=2,
                classlabels_ints=[3, 7], **common,
            )  # fmt: skip
            three = [0.5, -1.2, 0.8, 0.3, 0.6, -0.4]
            yield g.case(
                x, coefficients=three, rho=[0.3, -0.1, 0.2], vectors_per_class=[1, 1, 1], classlabels_ints=[3, 7, 9], outputs=2,
                prob_a=[-1.5, -0.7, -2.0], prob_b=[0.1, 0.0, -0.2], **common,
            )  # fmt: skip
            for post in (None, "SOFTMAX", "LOGISTIC"):
                yield g.case(
                    x, coefficients=three, rho=[0.3, -0.1, 0.2], vectors_per_class=[1, 1, 1], classlabels_ints=[3, 7, 9], outputs=2,
                    post_transform=post, **common,
                )  # fmt: skip


LEARNING: dict[str, Any] = {
    "ArrayFeatureExtractor": extractor,
    "Binarizer": binarizer,
    "DictVectorizer": vectorized,
    "FeatureVectorizer": features,
    "Imputer": imputer,
    "LabelEncoder": encoder,
    "CategoryMapper": mapper,
    **dict.fromkeys(("LinearClassifier", "LinearRegressor"), linear),
    "Normalizer": normalizer,
    "OneHotEncoder": one_hot,
    "Scaler": scaler,
    **dict.fromkeys(("TreeEnsembleRegressor", "TreeEnsembleClassifier"), trees),
    "TreeEnsemble": ensemble,
    **dict.fromkeys(("SVMRegressor", "SVMClassifier"), supports),
}
