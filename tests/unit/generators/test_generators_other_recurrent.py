"""Beyond the end of a sequence nothing is said of Y: steps may go on there, and Y_h and Y_c decide."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from assay.core.screening import Unspecified
from assay.generators.case_values import CaseValues
from assay.generators.comparison import Far, other_reading
from assay.numerics.oracle.other_readings import readings_of
from assay.ports.generator import GeneratedCase

STEPS, BATCH, SIZE = 5, 2, 3
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _model(operator: str, lengths: bool = True, layout: int = 0, direction: str = "forward") -> ModelProto:
    sides = 2 if direction == "bidirectional" else 1
    rng = np.random.default_rng(1)
    rows = GATES[operator] * SIZE
    weights = {
        "w": rng.normal(size=(sides, rows, SIZE)).astype(np.float32),
        "r": rng.normal(size=(sides, rows, SIZE)).astype(np.float32),
        "l": np.asarray([STEPS, 2], np.int32),
    }
    reads = ["x", "w", "r", *(["", "l"] if lengths else [])]
    more = {"layout": layout} if layout else {}
    node = helper.make_node(operator, reads, ["y", "h"], hidden_size=SIZE, direction=direction, **more)
    shapes = {"x": [STEPS, BATCH, SIZE], "y": [STEPS, sides, BATCH, SIZE], "h": [sides, BATCH, SIZE]}
    if layout:
        shapes = {"x": [BATCH, STEPS, SIZE], "y": [BATCH, STEPS, sides, SIZE], "h": [BATCH, sides, SIZE]}
    infos = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    graph = helper.make_graph(
        [node],
        "g",
        [infos["x"]],
        [infos["y"], infos["h"]],
        [numpy_helper.from_array(array, name) for name, array in weights.items() if lengths or name != "l"],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def _values(model: ModelProto, layout: int = 0) -> CaseValues:
    x = np.random.default_rng(2).normal(size=(BATCH, STEPS, SIZE) if layout else (STEPS, BATCH, SIZE))
    values = CaseValues(GeneratedCase(model.SerializeToString(), {"x": x.astype(np.float32)}))
    values.evaluate()
    return values


def _without_lengths(operator: str, layout: int = 0, direction: str = "forward") -> np.ndarray:
    values = _values(_model(operator, lengths=False, layout=layout, direction=direction), layout)
    return values.wide["y"].astype(np.float32)


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("operator", ["RNN", "GRU", "LSTM"])
def test_steps_that_go_on_beyond_the_end_are_right_by_the_other_reading(operator: str, layout: int) -> None:
    values = _values(_model(operator, layout=layout), layout)
    right = {"y": _without_lengths(operator, layout), "h": values.wide["h"].astype(np.float32)}
    ended = values.wide["y"][1, 2:] if layout else values.wide["y"][2:, :, 1]
    assert not ended.any()
    assert other_reading(right, values, Far("values", "y")) == (Unspecified.BEYOND_THE_END,)


def test_the_last_state_is_that_of_the_end_by_either_reading() -> None:
    """An engine that does not read `sequence_lens` stays wrong where anything shows it."""
    values = _values(_model("LSTM"))
    y = _without_lengths("LSTM")
    assert other_reading({"y": y, "h": y[-1]}, values, Far("values", "h")) == ()


def test_inside_of_a_sequence_nothing_is_open() -> None:
    values = _values(_model("LSTM"))
    y, h = _without_lengths("LSTM"), values.wide["h"].astype(np.float32)
    y[1, 0, 1] += np.float32(0.01)
    assert other_reading({"y": y, "h": h}, values, Far("values", "y")) == ()


def test_a_backward_direction_that_starts_beyond_the_end_is_wrong() -> None:
    values = _values(_model("GRU", direction="bidirectional"))
    ignoring = {"y": _without_lengths("GRU", direction="bidirectional"), "h": values.wide["h"].astype(np.float32)}
    assert other_reading(ignoring, values, Far("values", "y")) == ()
    y = ignoring["y"].copy()
    y[:, 1] = values.wide["y"][:, 1]
    assert other_reading({**ignoring, "y": y}, values, Far("values", "y")) == (Unspecified.BEYOND_THE_END,)


def test_what_plays_no_part_is_not_named() -> None:
    assert readings_of(_model("LSTM")) == {"LSTM": (Unspecified.BEYOND_THE_END,)}
    assert readings_of(_model("LSTM", lengths=False)) == {}


@pytest.mark.parametrize(
    ("reads", "way", "is_open"),
    [
        (["x", "", "s"], "half_pixel", True),
        (["x", "", "", "n"], "half_pixel", False),
        (["x", "", "s"], "half_pixel_symmetric", False),
    ],
)
def test_a_resize_to_lengths_that_are_stated_is_not_named(reads: list[str], way: str, is_open: bool) -> None:
    node = helper.make_node("Resize", reads, ["y"], coordinate_transformation_mode=way)
    model = helper.make_model(helper.make_graph([node], "g", [], []), opset_imports=[helper.make_opsetid("", 19)])
    assert readings_of(model) == ({"Resize": (Unspecified.FRACTIONAL_LENGTH,)} if is_open else {})
