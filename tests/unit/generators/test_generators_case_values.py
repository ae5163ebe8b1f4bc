"""Values of a case: which are judged, and which forms are none."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser

from assay.generators.case_values import CaseValues
from assay.ports.generator import GeneratedCase


def test_values_follow_from_the_sizes_that_are_fed() -> None:
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    for length in (0, 3):
        values = CaseValues(GeneratedCase(model, {"x": np.ones((length, 2), np.float32)}))
        assert values.is_valid()
        assert values.declared == {"y": (length, 2)}
    assert onnx.load_from_string(model).graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"


def test_a_form_of_which_onnx_infers_no_shapes_is_no_valid_case() -> None:
    """Its inference raises there: of an attribute that is an input since, with an opset of today, as experiments state it."""
    text = (
        '<ir_version: 8, opset_import: ["" : 13]> g (float[N] x) => (float[1, M] y) { y = Unsqueeze <axes = [0]> (x) }'
    )
    case = GeneratedCase(parser.parse_model(text).SerializeToString(), {"x": np.ones(3, np.float32)})
    assert not CaseValues(case).is_valid()


@pytest.mark.parametrize(("number", "due"), [(1e-10, True), (1e-25, False)])
def test_numbers_whose_squares_are_lost_show_nothing(number: float, *, due: bool) -> None:
    """A norm of 1e-25 is 0 in float32: an engine that divides 1e-25 by it was told of as wrong."""
    text = (
        '<ir_version: 8, opset_import: ["" : 13]> g (float[1] x) => (float[1] y) { a = Neg(x) y = LpNormalization(a) }'
    )
    values = CaseValues(
        GeneratedCase(parser.parse_model(text).SerializeToString(), {"x": np.full(1, number, np.float32)})
    )
    values.evaluate()
    assert values.has_numbers() is due


def test_a_bias_of_another_length_than_the_channels_is_no_case() -> None:
    """An engine reads nine biases where there is one. onnx's inference does not look."""
    conv = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 2, 4] x, float[9, 2, 3] w, float[N] b) => (float[1, 9, 2] y) '
        "{ y = Conv (x, w, b) }"
    )
    fed = {"x": np.ones((1, 2, 4), np.float32), "w": np.ones((9, 2, 3), np.float32)}

    def fits(biases: int) -> bool:
        case = GeneratedCase(conv.SerializeToString(), {**fed, "b": np.ones(biases, np.float32)})
        return CaseValues(case).fits()

    assert fits(9)
    assert not fits(1)


def test_a_recurrent_weight_without_rows_for_each_gate_is_no_case() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 14]> g (float[1, 1, 2] x, float[1, N, 2] w, float[1, 4, 1] r) => (float[1, 1, 1, 1] y) '
        "{ y = LSTM <hidden_size = 1> (x, w, r) }"
    )
    fed = {"x": np.ones((1, 1, 2), np.float32), "r": np.ones((1, 4, 1), np.float32)}

    def fits(rows: int) -> bool:
        case = GeneratedCase(
            parser.parse_model(text).SerializeToString(), {**fed, "w": np.ones((1, rows, 2), np.float32)}
        )
        return CaseValues(case).fits()

    assert fits(4)
    assert not fits(1)


@pytest.mark.parametrize(("numbers", "due"), [(5, True), (1, False)])
def test_a_mean_for_each_channel_has_as_many_numbers(numbers: int, *, due: bool) -> None:
    """Before opset 15 onnx's inference does not look."""
    text = (
        '<ir_version: 8, opset_import: ["" : 9]> g (float[1, 5, 2] x, float[5] s, float[M] m) => (float[1, 5, 2] y) '
        "{ y = BatchNormalization (x, s, s, m, s) }"
    )
    fed = {"x": np.ones((1, 5, 2), np.float32), "s": np.ones(5, np.float32), "m": np.ones(numbers, np.float32)}
    assert CaseValues(GeneratedCase(parser.parse_model(text).SerializeToString(), fed)).fits() is due


def test_sizes_of_none_are_left_to_the_operators() -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x) => (float[3] y) { y = ReduceMax <axes = [0], keepdims = 0> (x) }'
    case = GeneratedCase(parser.parse_model(text).SerializeToString(), {"x": np.ones((0, 3), np.float32)})
    assert CaseValues(case).fits()


def test_updates_of_another_shape_than_what_they_are_written_to_are_no_case() -> None:
    """An engine reads five numbers of each row where there is one; the evaluation repeats that one."""
    text = (
        '<ir_version: 8, opset_import: ["" : 16]> g (float[8, 5] x, int64[2, 1] i, float[2, N] u) => (float[8, 5] y) '
        "{ y = ScatterND (x, i, u) }"
    )
    elements = text.replace("ScatterND (x, i, u)", "ScatterElements (x, i, u)")

    def fits(form: str, width: int) -> bool:
        fed = {"x": np.ones((8, 5), np.float32), "i": np.array([[1], [2]]), "u": np.ones((2, width), np.float32)}
        return CaseValues(GeneratedCase(parser.parse_model(form).SerializeToString(), fed)).fits()

    assert fits(text, 5)
    assert not fits(text, 1)
    assert fits(elements, 1)
    assert not fits(elements, 5)


def test_a_model_whose_outputs_have_other_axes_at_other_sizes_is_no_case() -> None:
    """The length of what a Squeeze gives was folded into what the model declares of it, and that was told as wrong."""
    text = '<ir_version: 8, opset_import: ["" : 13]> g (float[N, 3] x) => (float[M] y) { y = Squeeze(x) }'
    for rows, due in ((1, True), (2, False)):
        case = GeneratedCase(parser.parse_model(text).SerializeToString(), {"x": np.ones((rows, 3), np.float32)})
        values = CaseValues(case)
        values.evaluate()
        assert values.is_as_declared() is values.has_numbers() is due
    fixed = text.replace("N, 3", "1, 3").replace("M", "4")  # the checker has a word of this one
    values = CaseValues(
        GeneratedCase(parser.parse_model(fixed).SerializeToString(), {"x": np.ones((1, 3), np.float32)})
    )
    values.evaluate()
    assert values.is_as_declared()
