"""Short-time transforms of the oracle, beside torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper

from assay.errors import Lowering
from assay.numerics.oracle.evaluator import Evaluator

Array = np.ndarray[Any, Any]


def _transformed(x: Array, step: int, window: Array | None, length: int | None) -> Array:
    given = {"x": x, "step": np.array(step), "window": window, "length": None if length is None else np.array(length)}
    node = helper.make_node("STFT", [name if value is not None else "" for name, value in given.items()], ["y"])
    feed = {name: value for name, value in given.items() if value is not None}
    kinds = {
        "x": TensorProto.FLOAT,
        "window": TensorProto.FLOAT,
        "step": TensorProto.INT64,
        "length": TensorProto.INT64,
    }
    inputs = [helper.make_tensor_value_info(name, kinds[name], value.shape) for name, value in feed.items()]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return np.asarray(Evaluator(model).evaluate(feed)[0])


@pytest.mark.parametrize("last", [(), (1,)], ids=["two axes", "three axes"])
@pytest.mark.parametrize(("window", "length"), [(8, None), (None, 8), (8, 8)])
def test_frames_are_torchs_with_and_without_the_axis_of_real_numbers(
    last: tuple[int, ...], window: int | None, length: int | None
) -> None:
    chance = np.random.default_rng(1)
    x = chance.normal(size=(2, 21)).astype(np.float32)
    weights = None if window is None else chance.normal(size=window).astype(np.float32)
    y = _transformed(x.reshape(2, 21, *last), 4, weights, length)
    given = torch.tensor(np.ones(8) if weights is None else weights, dtype=torch.float64)
    expected = torch.stft(torch.tensor(x, dtype=torch.float64), 8, 4, window=given, center=False, return_complex=True)
    np.testing.assert_allclose(y, torch.view_as_real(expected.transpose(1, 2)).numpy(), atol=1e-6)


def test_a_signal_that_is_shorter_than_a_frame_is_named() -> None:
    with pytest.raises(Lowering, match="a frame of 8 does not fit into 5 samples"):
        _transformed(np.ones((1, 5), np.float32), 1, None, 8)
