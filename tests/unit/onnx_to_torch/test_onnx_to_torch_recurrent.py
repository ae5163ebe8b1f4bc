"""Recurrent layers have two ways to torch: its own layers, and unrolled. Given all steps' lengths, they agree."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

from assay.onnx_to_torch import torch_graph_of

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_unrolled_and_whole_agree(kind: str, direction: str, layout: int) -> None:
    count, gates, steps, batch, size, hidden = (2 if direction == "bidirectional" else 1), _GATES[kind], 5, 3, 4, 6
    draw = np.random.default_rng(0)
    shapes = {
        "x": (batch, steps, size) if layout else (steps, batch, size),
        "w": (count, gates * hidden, size),
        "r": (count, gates * hidden, hidden),
        "b": (count, 2 * gates * hidden),
        "h0": (batch, count, hidden) if layout else (count, batch, hidden),
    }
    feeds = {name: torch.from_numpy(draw.normal(size=shape).astype(np.float32)) for name, shape in shapes.items()}
    more = {"linear_before_reset": 1} if kind == "GRU" else {}
    results = []
    for lengths in ("", "lengths"):
        node = helper.make_node(
            kind,
            ["x", "w", "r", "b", lengths, "h0"],
            ["y", "last"],
            hidden_size=hidden,
            direction=direction,
            layout=layout,
            **more,
        )
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        inputs += [helper.make_tensor_value_info("lengths", TensorProto.INT32, [batch])] if lengths else []
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "last")]
        graph = helper.make_graph([node], "g", inputs, outputs)
        module = torch_graph_of(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)]))
        given = [*feeds.values(), *([torch.full((batch,), steps, dtype=torch.int32)] if lengths else [])]
        results.append(module(*given))
    for whole, unrolled in zip(*results, strict=True):
        assert whole.shape == unrolled.shape
        torch.testing.assert_close(whole, unrolled)


def test_the_cell_of_lstm_is_clipped_before_its_activation() -> None:
    graph = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 14]> g (float[20,1,1] x, float[1,4,1] w, float[1,4,1] r) => (float[20,1,1,1] y) '
        "{ y = LSTM <hidden_size = 1, clip = 0.1> (x, w, r) }"
    )
    (y,) = torch_graph_of(graph)(torch.ones(20, 1, 1), torch.ones(1, 4, 1), torch.ones(1, 4, 1))
    assert y.max() == pytest.approx(np.tanh(0.1) / (1 + np.exp(-0.1)))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_no_steps_leave_the_state_as_it_was(kind: str) -> None:
    gates = _GATES[kind]
    graph = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 14]> g (float[0,2,1] x, float[1,{gates},1] w, float[1,{gates},1] r) '
        f"=> (float[0,1,2,1] y, float[1,2,1] h) {{ y, h = {kind} <hidden_size = 1> (x, w, r) }}"
    )
    y, h = torch_graph_of(graph)(torch.ones(0, 2, 1), torch.ones(1, gates, 1), torch.ones(1, gates, 1))
    assert (y.shape, h.shape) == ((0, 1, 2, 1), (1, 2, 1))
    assert not h.any()
