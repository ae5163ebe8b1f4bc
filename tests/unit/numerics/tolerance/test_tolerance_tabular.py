"""Rules of ai.onnx.ml, of regions and of inverses: unoptimised ONNX Runtime keeps them, a small defect does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from small_graphs import budget, noise

from assay.numerics.tolerance.derive import derive_model
from assay.ports import Tensor

ML, MICROSOFT = "ai.onnx.ml", "com.microsoft"
_SUPPORTS = noise(6, 4, seed=1).reshape(-1).tolist()
_THREE: dict[str, Any] = {
    "coefficients": noise(2, 6, seed=2).reshape(-1).tolist(),
    "rho": [0.3, -0.1, 0.2],
    "vectors_per_class": [2, 2, 2],
    "support_vectors": _SUPPORTS,
    "classlabels_ints": [3, 7, 9],
}
_REGION: dict[str, Any] = {"output_height": 3, "output_width": 3, "spatial_scale": 0.5}


class Case:
    """One node with what it is fed; `at` is the output that is real."""

    def __init__(self, operator: str, *inputs: Tensor, domain: str = ML, at: int = 0, **attributes: Any) -> None:
        self.operator, self.inputs, self.domain, self.at, self.attributes = operator, inputs, domain, at, attributes

    def __str__(self) -> str:
        kinds = [
            str(self.attributes[key])
            for key in ("kernel_type", "post_transform", "norm", "mode")
            if key in self.attributes
        ]
        return "-".join([self.operator, *kinds])

    @property
    def feeds(self) -> dict[str, Tensor]:
        return {f"x{at}": array for at, array in enumerate(self.inputs)}

    def model(self) -> onnx.ModelProto:
        outputs = [f"y{at}" for at in range(self.at + 1)]
        node = helper.make_node(self.operator, list(self.feeds), outputs, domain=self.domain, **self.attributes)
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(feed.dtype), feed.shape)
            for name, feed in self.feeds.items()
        ]
        kinds = [onnx.TensorProto.INT64] * self.at + [onnx.TensorProto.FLOAT]
        given = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(outputs, kinds, strict=True)]
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(self.domain, 5 if self.domain == ML else 1)]
        graph = helper.make_graph([node], "g", inputs, given)
        return helper.make_model(graph, opset_imports=opsets if self.domain else opsets[:1], ir_version=9)


def cases() -> Iterator[Case]:
    x = noise(8, 4)
    yield Case("Scaler", x, offset=[1.0, 2.0, 3.0, 4.0], scale=[0.3, 0.7, 1.1, 1.3])
    for norm in ("MAX", "L1", "L2"):
        yield Case("Normalizer", abs(x), norm=norm)
    three = {"coefficients": noise(3, 4, seed=3).reshape(-1).tolist(), "intercepts": [0.3, -0.2, 0.1]}
    for transform in ("NONE", "SOFTMAX", "LOGISTIC"):
        after = {"post_transform": transform}
        yield Case("LinearRegressor", x, targets=3, **three, **after)
        yield Case("LinearClassifier", x, at=1, classlabels_ints=[3, 7, 9], **three, **after)
        yield Case("SVMClassifier", x, at=1, kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], **_THREE, **after)
    two = {"coefficients": noise(1, 4, seed=3).reshape(-1).tolist(), "intercepts": [0.3]}
    yield Case("LinearClassifier", x, at=1, classlabels_ints=[0, 1], post_transform="LOGISTIC", **two)
    for kind, parameters in (("RBF", [0.4, 0.0, 0.0]), ("POLY", [0.5, 1.0, 3.0]), ("SIGMOID", [0.3, 0.1, 0.0])):
        kernel = {"kernel_type": kind, "kernel_params": parameters}
        yield Case(
            "SVMRegressor",
            x,
            coefficients=_THREE["coefficients"][:6],
            rho=[0.3],
            n_supports=6,
            support_vectors=_SUPPORTS,
            **kernel,
        )
        yield Case("SVMClassifier", x, at=1, **_THREE, **kernel)
    yield Case(
        "SVMClassifier", x, at=1, kernel_type="RBF", kernel_params=[0.4, 0.0, 0.0], prob_a=[-1.5, -0.7, -2.0], prob_b=[0.1, 0.0, -0.2],
        **_THREE,
    )  # fmt: skip
    yield from tree_cases(x)
    yield Case("Inverse", noise(2, 5, 5) + 2 * np.eye(5, dtype=np.float32), domain=MICROSOFT)
    yield from picture_cases()


def tree_cases(x: Tensor) -> Iterator[Case]:
    trees: dict[str, Any] = {
        "tree_roots": [0, 1],
        "nodes_modes": numpy_helper.from_array(np.zeros(2, np.uint8)),
        "nodes_featureids": [0, 1],
        "nodes_splits": numpy_helper.from_array(np.array([0.1, -0.2], np.float32)),
        "nodes_trueleafs": [1, 1],
        "nodes_falseleafs": [1, 1],
        "nodes_truenodeids": [0, 2],
        "nodes_falsenodeids": [1, 3],
        "leaf_targetids": [0] * 4,
        "leaf_weights": numpy_helper.from_array(np.array([0.3, 1.7, -2.1, 0.9], np.float32)),
    }
    for aggregate in (0, 1):
        yield Case("TreeEnsemble", x, n_targets=1, aggregate_function=aggregate, **trees)
    yield Case("TreeEnsemble", x, n_targets=2, post_transform=3, **{**trees, "leaf_targetids": [0, 1, 1, 0]})


def picture_cases() -> Iterator[Case]:
    picture, of = noise(1, 2, 12, 12), np.zeros(2, np.int64)
    regions = np.array([[1.3, 2.1, 17.7, 19.1], [4.2, 0.4, 9.9, 21.3]], np.float32)
    for mode in ("avg", "max"):
        for ratio in (0, 2):
            yield Case("RoiAlign", picture, regions, of, domain="", mode=mode, sampling_ratio=ratio, **_REGION)
    corners = np.array([[0.11, 0.21, 0.8, 0.9], [0.03, 0.3, 0.97, 0.6]], np.float32)
    yield Case("CropAndResize", picture, corners, of.astype(np.int32), np.array([5, 7], np.int32), domain=MICROSOFT)


@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_a_right_engine_keeps_the_rule_and_a_small_defect_does_not(case: Case) -> None:
    model = case.model()
    profile = derive_model(model, [case.feeds], "float32")
    assert not profile.header.without_rule
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    answers = dict(zip([value.name for value in model.graph.output], session.run(None, case.feeds), strict=True))
    assert budget(profile, answers) < 1
    real = f"y{case.at}"
    wrong = {**answers, real: answers[real] + np.float32(1e-4) * np.abs(answers[real]).max()}
    assert budget(profile, wrong) > 1
    assert profile.deviation[0][real].any()
