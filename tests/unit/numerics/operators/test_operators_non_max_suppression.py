"""NonMaxSuppression with limits that are missing or have no axis: as onnx.reference answers where all are given with one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator

from assay.numerics.oracle.evaluator import WideEvaluator

Array = np.ndarray[Any, Any]
MISSING = {"most": np.array(0), "overlap": np.array(0, np.float32), "least": np.array(-1e30, np.float32)}


def asked(fed: dict[str, Array], limits: dict[str, Array], centred: int) -> ModelProto:
    node = helper.make_node("NonMaxSuppression", [*fed, *limits], ["y"], center_point_box=centred)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in {**fed, **limits}.items()
    ]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.INT64, [None, 3])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("centred", [0, 1])
@pytest.mark.parametrize("names", [(), ("most",), ("most", "overlap"), ("most", "overlap", "least")])
@pytest.mark.parametrize("shape", [(), (1,)])
@pytest.mark.parametrize("seed", range(3))
def test_limits(seed: int, shape: tuple[int, ...], names: tuple[str, ...], centred: int) -> None:
    rng = np.random.default_rng(seed)
    low, size = rng.random((2, 30, 2)) * 6, rng.random((2, 30, 2)) * 3 + 0.5
    boxes = np.concatenate([low, size if centred else low + size], -1).astype(np.float32)
    fed = {"boxes": boxes, "scores": rng.standard_normal((2, 3, 30)).astype(np.float32)}
    values = {"most": np.array(4), "overlap": np.array(0.3, np.float32), "least": np.array(0.1, np.float32)}
    limits = {name: values[name].reshape(shape) for name in names}
    whole = {name: limits.get(name, default).reshape(1) for name, default in MISSING.items()}
    evaluator: Any = ReferenceEvaluator(asked(fed, whole, centred))
    known = evaluator.run(None, {**fed, **whole})[0]
    found = np.asarray(WideEvaluator(asked(fed, limits, centred)).evaluate({**fed, **limits})[0])
    assert found.tolist() == known.tolist()
    assert bool(names) == bool(len(found))
