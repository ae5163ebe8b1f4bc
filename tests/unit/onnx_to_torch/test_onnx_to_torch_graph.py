"""ONNX graphs as torch programs: names, dynamic sizes, and what the graph becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper, parser

from assay.backends.torch.engine import compile_inputs
from assay.errors import InvalidModel, Lowering, Unsupported
from assay.models.conversion import convert_to
from assay.models.program import Program, open_program
from assay.onnx_to_torch import torch_graph_of
from assay.onnx_to_torch.dtypes import to_numpy

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def _file(folder: Path, text: str, *, opset: int = 21, weights: dict[str, Any] | None = None) -> Path:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in (weights or {}).items())
    onnx.save(model, folder / "model.onnx")
    return folder / "model.onnx"


def _program(folder: Path, text: str, **more: Any) -> Program:
    return open_program(convert_to(_file(folder, text, **more), "torch", folder))


def _run(program: Program, **feeds: Any) -> dict[str, Any]:
    args, kwargs = program.arguments(feeds)
    with torch.no_grad():
        return {
            name: to_numpy(result)
            for name, result in program.results(program.exported.module()(*args, **kwargs)).items()
        }


def _operators(program: Program) -> list[str]:
    return [str(node.target) for node in program.exported.graph.nodes if node.op == "call_function"]


@pytest.mark.heavy
def test_names_and_order_survive(tmp_path: Path) -> None:
    text = "g (float[n, 2] in.put, float[n, 2] 1) => (float[n, 2] z, float[n, 2] a/b) { a/b = Add(in.put, 1)\n z = Sub(in.put, 1) }"
    text = text.replace("in.put", "first").replace(" 1", " second").replace("a/b", "early")
    program = _program(tmp_path, text)
    assert [spec.name for spec in program.inputs] == ["first", "second"]
    assert [(spec.name, spec.shape) for spec in program.outputs] == [("z", ("n", 2)), ("early", ("n", 2))]
    ones_array = np.ones((3, 2), np.float32)
    outputs = _run(program, first=ones_array * 5, second=ones_array)
    assert {name: float(array[0, 0]) for name, array in outputs.items()} == {"z": 4.0, "early": 6.0}


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_shapes_computed_in_the_graph_stay_dynamic(tmp_path: Path, batch: int) -> None:
    """Shape, Gather, Unsqueeze, Concat, Reshape: the pattern that exporters write for a flatten."""
    text = """g (float[n, 3, 4] x) => (float[n, m] y, int64[3] s) {
        s = Shape(x)
        zero = Constant<value_int=0>()
        axes = Constant<value_ints=[0]>()
        rest = Constant<value_ints=[-1]>()
        one = Gather(s, zero)
        first = Unsqueeze(one, axes)
        to = Concat<axis=0>(first, rest)
        y = Reshape(x, to)
    }"""
    program = _program(tmp_path, text)
    assert program.inputs[0].shape == ("n", 3, 4)
    outputs = _run(program, x=np.zeros((batch, 3, 4), np.float32))
    assert outputs["y"].shape == (batch, 12)
    assert outputs["s"].tolist() == [batch, 3, 4]


def test_expand_to_a_computed_shape(tmp_path: Path) -> None:
    """Where(shape == -1, 1, shape), as exporters write it."""
    text = """g (float[1, 4] x, float[n, 4] like) => (float[n, 4] y) {
        s = Shape(like)
        minus = Constant<value_ints=[-1, -1]>()
        ones = Constant<value_ints=[1, 1]>()
        same = Equal(s, minus)
        to = Where(same, ones, s)
        y = Expand(x, to)
    }"""
    program = _program(tmp_path, text)
    assert _run(program, x=np.ones((1, 4), np.float32), like=np.zeros((7, 4), np.float32))["y"].shape == (7, 4)


def test_a_program_with_a_shape_of_no_elements_that_is_an_input_is_read_again(tmp_path: Path) -> None:
    program = _program(tmp_path, "g (float[2, 3] x, int64[0] s) => (float[2, 3] y) { y = Expand(x, s) }")
    assert _run(program, x=np.ones((2, 3), np.float32), s=np.zeros(0, np.int64))["y"].tolist() == [[1, 1, 1]] * 2


def test_a_program_with_a_weight_of_no_elements_is_saved(tmp_path: Path) -> None:
    text = "g (float[2, 0, 4] x) => (float[2, 0, 7] y) { y = Concat<axis=2>(w, x) }"
    program = _program(tmp_path, text, weights={"w": np.zeros((2, 0, 3), np.float32)})
    assert _run(program, x=np.zeros((2, 0, 4), np.float32))["y"].shape == (2, 0, 7)


def test_weights_are_parameters_and_a_gemm_is_a_linear_layer(tmp_path: Path) -> None:
    weights = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2, np.float32)}
    program = _program(
        tmp_path, "g (float[n, 3] x) => (float[n, 2] y) { y = Gemm<transB=1>(x, w, b) }", weights=weights
    )
    assert _operators(program) == ["aten.linear.default"]
    assert len(list(program.exported.parameters())) == 2
    assert _run(program, x=np.ones((2, 3), np.float32))["y"].tolist() == [[4, 13], [4, 13]]


def test_nothing_is_left_of_constant_shapes(tmp_path: Path) -> None:
    text = "g (float[n, 6] x) => (float[n, 2, 3] y) { s = Constant<value_ints=[0, 2, 3]>()\n y = Reshape(x, s) }"
    program = _program(tmp_path, text)
    assert set(_operators(program)) <= {"aten.reshape.default", "aten.view.default", "aten.sym_size.int"}
    assert not program.exported.state_dict


def test_integers_that_constants_decide_are_folded(tmp_path: Path) -> None:
    """Mod of two constants on its way to a Slice of a shape, as exporters write attention."""
    text = """g (float[n, 6] x) => (float[n, 2, 3] y) {
        a = Constant<value_ints=[9]>()
        b = Constant<value_ints=[4]>()
        start = Constant<value_ints=[0]>()
        end = Mod(a, b)
        s = Shape(x)
        first = Slice(s, start, end)
        rest = Constant<value_ints=[2, 3]>()
        to = Concat<axis=0>(first, rest)
        y = Reshape(x, to)
    }"""
    program = _program(tmp_path, text)
    assert program.inputs[0].shape == ("n", 6)
    assert _run(program, x=np.ones((5, 6), np.float32))["y"].shape == (5, 2, 3)


def test_floating_constants_are_left_to_the_graph(tmp_path: Path) -> None:
    """They may be computed in another precision."""
    text = "g (float[n] x) => (float[n] y) { y = Mul(x, w)\n }".replace("w)", "r)").replace("{ y", "{ r = Exp(w)\n y")
    program = _program(tmp_path, text, weights={"w": np.ones(1, np.float32)})
    assert "aten.exp.default" in _operators(program)


def test_a_missing_operator_is_named(tmp_path: Path) -> None:
    text = "g (float[n] x) => (float[n] y) { y = RandomUniformLike(x) }"
    with pytest.raises(Unsupported, match="no operator RandomUniformLike") as caught:
        _program(tmp_path, text)
    assert caught.value.node == "RandomUniformLike -> y"
    assert caught.value.cause == "operator_unsupported"


def test_what_torch_refuses_names_the_node(tmp_path: Path) -> None:
    text = "g (float[n, 4] x) => (float[a, b] y) { [wrong] y = MatMul(x, x) }"
    with pytest.raises(Lowering, match="MatMul") as caught:
        _program(tmp_path, text)
    assert caught.value.node == "wrong"


def test_a_value_that_nobody_makes_is_an_invalid_model(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel, match="nobody defines"):
        _program(tmp_path, "g (float[n] x) => (float[n] y) { y = Add(x, nowhere) }")


def test_four_bit_weights_are_widened_and_only_there(tmp_path: Path) -> None:
    import ml_dtypes

    weights = {"q": np.array([-8, 7, 1], ml_dtypes.int4), "s": np.array(0.5, np.float32)}
    text = "g (float[3] x) => (float[3] y) { w = DequantizeLinear(q, s)\n y = Add(x, w) }"
    assert _run(_program(tmp_path, text, weights=weights), x=np.zeros(3, np.float32))["y"].tolist() == [-4, 3.5, 0.5]
    with pytest.raises(Unsupported, match="int4"):
        _program(tmp_path, "g (float[3] x) => (int4[3] y) { y = Cast<to=22>(x) }")


def _branches(then: str, other: str) -> str:
    return f"""g (float[n] x, bool c, int64[1] i) => (float[n] y, int64[1] j) {{
        y = If (c) <then_branch = t () => (float[n] a) {{ a = {then} }}, else_branch = e () => (float[n] b) {{ b = {other} }}>
        j = Neg(i)
    }}"""


@pytest.mark.parametrize(("condition", "expected"), [(True, [-2.0, 3.0]), (False, [2.0, 3.0])])
def test_of_a_branch_on_data_a_program_has_both(tmp_path: Path, condition: bool, expected: list[float]) -> None:
    feeds = {"x": np.array([2, -3], np.float32), "c": np.array(condition), "i": np.array([1])}
    assert _run(_program(tmp_path, _branches("Neg(x)", "Abs(x)")), **feeds)["y"].tolist() == expected


@pytest.mark.parametrize(
    ("then", "message"),
    [
        ("Concat<axis=0>(x, x)", "its branches differ in what they give"),
        ("Gather(x, i)", "then_branch has Gather .*, which may refuse values of the other branch"),
    ],
)
def test_branches_that_cannot_both_be_computed_are_unsupported(tmp_path: Path, then: str, message: str) -> None:
    with pytest.raises(Unsupported, match=f"If .*condition depends on the inputs.*{message}"):
        _program(tmp_path, _branches(then, "Abs(x)"))


_WINDOW = "g (float[?, 1, ?, ?] x) => (float[?, 1, ?, ?] y) { y = MaxPool<kernel_shape=[20, 20], strides=[20, 20]>(x) }"


@pytest.mark.heavy
def test_unnamed_sizes_are_traced_at_those_that_will_be_fed(tmp_path: Path) -> None:
    """A window that fits once or twice is another graph to torch: a program traced at twice takes nothing smaller."""
    path = convert_to(_file(tmp_path, _WINDOW), "torch", tmp_path, shapes={"x": (1, 1, 30, 25)})
    fed = np.arange(750, dtype=np.float32).reshape(1, 1, 30, 25)
    assert _run(open_program(path), x=fed)["y"].tolist() == [[[[19 * 25 + 19]]]]


def test_a_dimension_that_tracing_fixes_has_the_size_that_will_be_fed(tmp_path: Path) -> None:
    """A recurrent layer is traced step by step: at one step it is another program than at two."""
    weights = {"w": np.full((1, 8, 1), 0.5, np.float32), "r": np.full((1, 8, 2), 0.5, np.float32)}
    text = "g (float[steps, 1, 1] x) => (float[1, 1, 2] y) { _, y = LSTM<hidden_size=2>(x, w, r) }"
    for steps in (1, 3):
        path = convert_to(_file(tmp_path, text, weights=weights), "torch", tmp_path, shapes={"x": (steps, 1, 1)})
        assert _run(open_program(path), x=np.ones((steps, 1, 1), np.float32))["y"].shape == (1, 1, 2)


def test_a_program_is_compiled_with_sizes_that_it_takes(tmp_path: Path) -> None:
    program = _program(tmp_path, _WINDOW)
    args, kwargs = compile_inputs(program)
    with torch.no_grad():
        (y,) = program.exported.module()(*args, **kwargs)
    assert y.shape == (2, 1, 3, 3)


def test_pads_that_an_exporter_turns_round_are_known_while_tracing(tmp_path: Path) -> None:
    text = """g (float[n, m] x) => (float[n, k] y) {
        size = Shape(pads)\n count = Sub(four, size)\n axis = Constant<value = int64[1] {0}>()
        more = ConstantOfShape<value = int64[1] {0}>(count)\n all = Concat<axis=0>(pads, more)\n rows = Reshape(all, pairs)
        back = Slice(rows, last, least, axis, last)\n turned = Transpose<perm=[1, 0]>(back)\n flat = Reshape(turned, last)
        y = Pad<mode="reflect">(x, flat)
    }"""
    weights = {
        "pads": np.array([0, 2]), "four": np.array([4]), "pairs": np.array([-1, 2]), "last": np.array([-1]),
        "least": np.array([-(2**63) + 1]),
    }  # fmt: skip
    x = np.array([[1, 2, 3, 4]], np.float32)
    assert _run(_program(tmp_path, text, weights=weights), x=x)["y"].tolist() == [[1, 2, 3, 4, 3, 2]]


def test_integer_division_truncates_and_softmax_12_is_flat() -> None:
    text = '<ir_version: 8, opset_import: ["" : 12]> g (int32[2] a, int32[2] b, float[2, 2, 2] x) => (int32[2] q, float[2, 2, 2] s)'
    module = torch_graph_of(parser.parse_model(text + " { q = Div(a, b)\n s = Softmax<axis=1>(x) }"))
    q, s = module(
        torch.tensor([-7, 7], dtype=torch.int32), torch.tensor([2, -2], dtype=torch.int32), torch.zeros(2, 2, 2)
    )
    assert q.tolist() == [-3, -3]
    assert s.flatten().tolist() == [0.25] * 8


def test_gather_nd_counts_from_the_end_and_no_further() -> None:
    model = """<ir_version: 9, opset_import: ["" : 20]> g (float[3] x, int64[1, 1] i) => (float[1] y) { y = GatherND(x, i) }"""
    module = torch_graph_of(parser.parse_model(model))
    x = torch.tensor([1.0, 2.0, 3.0])
    assert [module(x, torch.tensor([[index]]))[0].tolist() for index in (-3, -1, 2)] == [[1.0], [3.0], [3.0]]
    for index in (-4, 3):
        with pytest.raises(Lowering, match="GatherND"):
            module(x, torch.tensor([[index]]))
