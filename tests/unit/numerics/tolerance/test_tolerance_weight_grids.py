"""Weights that a backend stores in eight bits by itself: what that costs is allowed, what a wrong product costs is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from small_graphs import float32, noise, parsed

from assay.errors import UsageError
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor

NET = """g (float[1, 3, 8, 8] x) => (float[1, 10] y) <float[8, 3, 3, 3] w, float[10, 288] v, float[10] b>
{ c = Conv (x, w)
  r = Relu (c)
  f = Flatten (r)
  y = Gemm <transB = 1> (f, v, b) }"""
ALLOWED = ("int8-weights",)


def network(*, constants: bool) -> onnx.ModelProto:
    model = parsed(NET)
    given = {"w": noise(8, 3, 3, 3), "v": noise(10, 288), "b": noise(10)}
    given["w"][3] *= np.float32(50)  # one scale for all channels would be too coarse
    for name, value in given.items():
        tensor = numpy_helper.from_array(value, name)
        if constants:
            model.graph.node.insert(0, onnx.helper.make_node("Constant", [], [name], value=tensor))
        else:
            model.graph.initializer.append(tensor)
    return model


def changed(model: onnx.ModelProto, name: str, change: Callable[[Tensor], Tensor]) -> onnx.ModelProto:
    other = onnx.ModelProto()
    other.CopyFrom(model)
    constants = [(node.output[0], node.attribute[0].t) for node in other.graph.node if node.op_type == "Constant"]
    for known, tensor in [*((initializer.name, initializer) for initializer in other.graph.initializer), *constants]:
        if known == name:
            tensor.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(tensor)), name))
    return other


def on_grid(weight: Tensor, levels: int = 127) -> Tensor:
    """One symmetric scale for each row of the first axis."""
    rows = weight.reshape(len(weight), -1)
    scale = np.abs(rows).max(axis=1, keepdims=True) / levels
    return (np.rint(rows / scale) * scale).astype(np.float32).reshape(weight.shape)


def used(profile: DerivedTolerance, model: onnx.ModelProto, feeds: dict[str, Tensor]) -> float:
    return judge_outputs([float32(model, feeds)], None, profile)["y"].metrics["budget_used"]


@pytest.mark.parametrize("constants", [False, True])
def test_weights_of_eight_bits_pass_and_fewer_bits_or_a_lost_channel_do_not(constants: bool) -> None:
    model, feeds = network(constants=constants), {"x": noise(1, 3, 8, 8)}
    profile = derive_model(model, [feeds], "int8", allowances=ALLOWED)
    assert profile.header.precision == "int8"
    assert not profile.header.blind
    stored = changed(changed(model, "w", on_grid), "v", on_grid)
    assert 0.02 < used(profile, stored, feeds) < 1
    for name in ("w", "v"):
        assert used(profile, changed(stored, name, lambda value: value * np.float32(0.9)), feeds) > 1, name

    assert used(profile, changed(stored, "v", lambda value: on_grid(value, 7)), feeds) > 1, "four bits"
    lost = np.arange(8).reshape(8, 1, 1, 1) == 3
    assert used(profile, changed(stored, "w", lambda value: np.where(lost, 0, value)), feeds) > 1


def test_what_is_multiplied_may_be_rounded_to_eight_bits_where_a_flow_says_so() -> None:
    model = parsed("g (float[4, 64] x) => (float[4, 10] y) <float[64, 10] w> { y = MatMul (x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(noise(64, 10), "w"))
    x = noise(4, 64)
    feeds, largest = {"x": x}, np.abs(x).max()

    def rounded_to(levels: int) -> dict[str, Tensor]:
        return {"x": (np.rint(x * levels / largest) * largest / levels).astype(np.float32)}

    profile = derive_model(model, [feeds], "int8", allowances=("int8-operands",))
    assert profile.header.arithmetic.operand_levels == profile.header.arithmetic.weight_levels == 127
    assert 0.02 < used(profile, model, rounded_to(127)) < 1
    assert used(profile, model, rounded_to(7)) > 1, "four bits"
    stored = derive_model(model, [feeds], "int8", allowances=ALLOWED)
    assert np.linalg.norm(profile.deviation[0]["y"]) > 1.2 * np.linalg.norm(stored.deviation[0]["y"])


def test_a_view_of_a_weight_is_stored_as_the_weight_is() -> None:
    """A head that is tied to an embedding."""
    head = noise(24, 16) * np.float32(0.3)
    text = "g (float[4, 16] x) => (float[4, 24] y) <float[24, 16] w> {{ {} }}"
    tied = parsed(text.format("t = Transpose <perm = [1, 0]> (w) u = Identity (t) y = MatMul (x, u)"))
    plain = parsed(text.replace("24, 16", "16, 24").format("y = MatMul (x, w)"))
    tied.graph.initializer.append(numpy_helper.from_array(head, "w"))
    plain.graph.initializer.append(numpy_helper.from_array(head.T.copy(), "w"))
    feeds = {"x": noise(4, 16)}
    first, other = (
        derive_model(model, [feeds], "int8", allowances=ALLOWED).deviation[0]["y"] for model in (tied, plain)
    )
    assert np.array_equal(first, other)


@pytest.mark.parametrize(
    ("stored", "kind", "numbers"), [("DequantizeLinear (w, s)", np.int8, 100.0), ("Cast <to = 1> (w)", np.float16, 1.0)]
)
def test_a_weight_that_the_file_stores_in_few_bits_gets_the_grid_of_the_engine(
    stored: str, kind: type, numbers: float
) -> None:
    """Numbers on a grid of one scale are put on one of a scale for each column."""
    model = parsed(f"g (float[4, 32] x) => (float[4, 8] y) <float s = {{0.05}}> {{ r = {stored} y = MatMul (x, r) }}")
    weights = (noise(32, 8) * numbers / 4).astype(kind)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    real = weights.astype(np.float32) * np.float32(0.05 if kind is np.int8 else 1)
    feeds = {"x": noise(4, 32)}
    plain = parsed("g (float[4, 32] x) => (float[4, 8] y) <float[32, 8] r> { y = MatMul (x, r) }")

    def answering(value: Tensor) -> onnx.ModelProto:
        other = onnx.ModelProto()
        other.CopyFrom(plain)
        other.graph.initializer.append(numpy_helper.from_array(value, "r"))
        return other

    profile = derive_model(model, [feeds], "int8", allowances=ALLOWED)
    engine = on_grid(real.T.copy()).T.copy()
    assert 0.02 < used(profile, answering(engine), feeds) < 1
    assert used(profile, answering(engine * np.float32(0.9)), feeds) > 1
    assert used(profile, answering(on_grid(real.T.copy(), 7).T.copy()), feeds) > 1, "four bits"


@pytest.mark.parametrize("axis", ["", "<axis = -2>"])
def test_a_table_whose_rows_are_looked_up_may_be_stored_in_eight_bits_where_a_flow_says_so(axis: str) -> None:
    """LiteRT's quantizer stores what it looks up so."""
    model = parsed(f"g (int64[4] x) => (float[4, 16] y) <float[10, 16] t> {{ y = Gather {axis} (t, x) }}")
    table = noise(10, 16)
    table[3] *= np.float32(50)  # one scale for all rows would be too coarse
    model.graph.initializer.append(numpy_helper.from_array(table, "t"))
    feeds = {"x": np.array([2, 3, 9, 0])}
    stored = changed(model, "t", on_grid)
    profile = derive_model(model, [feeds], "int8", allowances=("int8-operands", "int8-tables"))
    assert 0.02 < used(profile, stored, feeds) < 1
    assert used(profile, changed(model, "t", lambda value: on_grid(value, 7)), feeds) > 1, "four bits"
    assert used(profile, changed(stored, "t", lambda value: value * np.float32(0.9)), feeds) > 1
    assert used(profile, stored, {"x": feeds["x"][::-1].copy()}) > 1, "other rows"

    exact = derive_model(model, [feeds], "int8", allowances=("int8-operands",))
    assert used(exact, stored, feeds) > 1
    assert used(exact, model, feeds) == 0


def test_an_int8_flow_has_no_arithmetic_unless_only_its_weights_are_stored_so() -> None:
    assert arithmetic_of("int8", ALLOWED).weight_levels == 127
    assert arithmetic_of("int8", ALLOWED).storage == arithmetic_of("float32").storage
    assert arithmetic_of("float32", ALLOWED).weight_levels == 0
    with pytest.raises(UsageError, match="No arithmetic is known for precision 'int8'"):
        arithmetic_of("int8")


@pytest.mark.parametrize(
    ("graph", "shape"),
    [
        ("g (int64[4] x) => (float[4, 4, 4] y) <float[10, 4, 4] t> { y = Gather (t, x) }", (10, 4, 4)),
        ("g (int64[4] x) => (float[10, 4] y) <float[10, 16] t> { y = Gather <axis = 1> (t, x) }", (10, 16)),
        ("g (int64[4] x) => (float[16] y) <float[10, 16] t, int64 i = {3}> { y = Gather (t, i) }", (10, 16)),
    ],
    ids=["three dimensions", "columns", "a row that the model names"],
)
def test_what_is_no_table_of_rows_to_look_up_stays_exact(graph: str, shape: tuple[int, ...]) -> None:
    model = parsed(graph)
    model.graph.initializer.append(numpy_helper.from_array(noise(*shape), "t"))
    feeds = {"x": np.array([2, 3, 9, 0])}
    profile = derive_model(model, [feeds], "int8", allowances=("int8-operands", "int8-tables"))
    assert used(profile, changed(model, "t", on_grid), feeds) > 1
