"""What a wrong case is tried without, or with plain values in its place: each a valid case, and what was there is gone."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import onnx
from onnx import parser

from assay.core.screening import Use
from assay.generators.ablations import ablations
from assay.generators.case_values import CaseValues
from assay.generators.files import keep_case, read_case
from assay.generators.kept_cases import KeptCases
from assay.ports.generator import GeneratedCase

GRAPH = """<ir_version: 10, opset_import: ["" : 19]>
g (float16[2,2] x) => (float16[2,2] y) <float16[1] w = {3}> { z = Mul(x, w) y = Cast<to: int = 10>(z) }"""


def _case() -> GeneratedCase:
    model = parser.parse_model(GRAPH)
    return GeneratedCase(model.SerializeToString(), {"x": np.full((2, 2), 2.0, np.float16)})


def test_each_replacement_is_a_valid_case() -> None:
    by_name = dict(ablations(_case()))
    assert [*by_name] == ["inputs", "stored", "untied", "type float16", "opset"]
    for case in by_name.values():
        values = CaseValues(case)
        assert values.is_valid()
        values.evaluate()
    assert len(np.unique(by_name["inputs"].inputs["x"])) == 4
    assert {*by_name["stored"].inputs} == {"x", "w"}
    plain = onnx.load_from_string(by_name["type float16"].model)
    assert {value.type.tensor_type.elem_type for value in (*plain.graph.input, *plain.graph.output)} == {1}
    assert plain.graph.node[1].attribute[0].i == 1
    assert by_name["type float16"].inputs["x"].dtype == np.float32


def test_constants_are_fed_at_all_sizes() -> None:
    """A case with constants could not be judged: those were not fed at its other sizes."""
    other = {"x": np.ones((4, 2), np.float16)}
    fed = dict(ablations(dataclasses.replace(_case(), others=(other,))))["stored"]
    assert [{*given} for given in (fed.inputs, *fed.others)] == [{"x", "w"}] * 2
    assert fed.others[0]["x"] is other["x"]


def test_whole_numbers_are_tried_as_floats() -> None:
    """An engine that reads their bits as floats is wrong for whole numbers of any width."""
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
      g (int64[2,3] a, int64[3,2] b) => (int64[2,2] y) { y = MatMul(a, b) }""")
    fed = {name: np.arange(6).reshape(shape) for name, shape in (("a", (2, 3)), ("b", (3, 2)))}
    by_name = dict(ablations(GeneratedCase(model.SerializeToString(), fed)))
    assert "type int64" in by_name
    assert {array.dtype for array in by_name["floats"].inputs.values()} == {np.dtype(np.float32)}
    assert CaseValues(by_name["floats"]).is_valid()
    assert "floats" not in dict(ablations(_case()))


def test_optional_inputs_are_left_out_one_at_a_time() -> None:
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
      g (float[3] x) => (float[3] y) <float low = {0}, float high = {1}> { y = Clip(x, low, high) }""")
    by_name = dict(ablations(GeneratedCase(model.SerializeToString(), {"x": np.ones(3, np.float32)})))
    left = {
        name: list(onnx.load_from_string(by_name[name].model).graph.node[0].input)
        for name in by_name
        if "input " in name
    }
    assert left == {"Clip input min": ["x", "", "high"], "Clip input max": ["x", "low"]}


def test_sizes_follow_from_an_input_that_is_left_out() -> None:
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
      g (float[3,2] x) => (float[3,1] y) <int64[1] axes = {-1}> { y = ReduceSum(x, axes) }""")
    cases = [*ablations(GeneratedCase(model.SerializeToString(), {"x": np.ones((3, 2), np.float32)}))]
    shaped = [CaseValues(case) for name, case in cases if name == "ReduceSum input axes"]
    assert [values.declared["y"] for values in shaped] == [(3, 1), (1, 1)]
    assert shaped[1].is_valid()


def test_a_case_is_read_as_it_was_kept(tmp_path: Path) -> None:
    case = _case()
    other = {"x": np.ones((3, 2), np.float16)}
    kept = GeneratedCase(case.model, case.inputs, (other, case.inputs), (Use.AGAIN, Use.RELOADED))
    keep_case(kept, tmp_path, "used-1.5")
    read = read_case(tmp_path / "used-1.5")
    assert (read.model, read.uses, len(read.others)) == (kept.model, kept.uses, 2)
    assert np.array_equal(read.others[0]["x"], other["x"])
    assert read.others[0]["x"].dtype == np.float16
    cases = KeptCases([str(tmp_path / "used-1.5")])
    assert cases.make(0, 0) is not None
    assert cases.make(0, 1) is None


def test_a_node_alone_is_tried_as_those_that_are_made_alike() -> None:
    def swapped(nodes: str) -> dict[str, str]:
        model = parser.parse_model(
            f'<ir_version: 8, opset_import: ["" : 12]> g (float[3] x) => (float[3] y) {{ {nodes} }}'
        )
        pairs = ablations(GeneratedCase(model.SerializeToString(), {"x": np.ones(3, np.float32)}))
        return {
            name: onnx.load_from_string(case.model).graph.node[0].op_type for name, case in pairs if name[:3] == "as "
        }

    assert swapped("y = LogSoftmax <axis = 0> (x)") == {"as Hardmax": "Hardmax", "as Softmax": "Softmax"}
    assert swapped("z = Softmax (x) y = Softmax (z)") == {}
    assert swapped("y = Neg (x)") == {}


def test_inputs_of_nothing_get_one_element_along_each_axis_that_has_none() -> None:
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
      g (float[2,0] a, float[0,3] b) => (float[2,3] y) { y = MatMul(a, b) }""")
    fed = {"a": np.ones((2, 0), np.float32), "b": np.ones((0, 3), np.float32)}
    case = dict(ablations(GeneratedCase(model.SerializeToString(), fed)))["filled"]
    assert {name: array.shape for name, array in case.inputs.items()} == {"a": (2, 1), "b": (1, 3)}
    assert CaseValues(case).is_valid()
    assert "filled" not in dict(ablations(_case()))


def test_defaults_are_written_down_one_at_a_time() -> None:
    """What has none, and what is stated, is not."""
    graph = """<ir_version: 8, opset_import: ["" : 13]>
      g (float[1,1,4] x) => (float[1,1,8] y) <float[3] s = {1,1,2}> { y = Resize<mode: string = "linear">(x, , s) }"""
    case = GeneratedCase(parser.parse_model(graph).SerializeToString(), {"x": np.ones((1, 1, 4), np.float32)})
    stated = {name: model.model for name, model in ablations(case) if name.startswith("stated ")}
    assert "stated Resize.nearest_mode" in stated
    assert "stated Resize.mode" not in stated
    for name, model in stated.items():
        onnx.checker.check_model(onnx.load_from_string(model), full_check=True)
        assert {name.partition(".")[2], "mode"} == {
            given.name for given in onnx.load_from_string(model).graph.node[0].attribute
        }


def test_whole_numbers_become_different_ones_where_their_type_holds_so_many() -> None:
    """Equal keys of a TopK of 160 numbers are what it is wrong with; int8 holds no 160 of them from 1 on."""
    for dtype, is_held in (("int64", True), ("int8", False)):
        model = parser.parse_model(
            f"""<ir_version: 8, opset_import: ["" : 13]> g ({dtype}[160] x) => ({dtype}[160] y) {{ y = Neg(x) }}"""
        )
        by_name = dict(ablations(GeneratedCase(model.SerializeToString(), {"x": np.ones(160, np.dtype(dtype))})))
        assert ("inputs" in by_name) is is_held
        assert not is_held or len(np.unique(by_name["inputs"].inputs["x"])) == 160


def test_plain_inputs_are_not_alike() -> None:
    """What takes the last of a sequence for another one was right with them, and told apart from a case with other sizes."""
    text = (
        "(float[3] a, float[3] b, int64[2] i, int64[2] j) => (float[3] y, int64[2] z) { y = Max(a, b) z = Max(i, j) }"
    )
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> g {text}').SerializeToString()
    fed = {name: np.zeros(3, np.float32) for name in "ab"} | {name: np.zeros(2, np.int64) for name in "ij"}
    plain = dict(ablations(GeneratedCase(model, fed)))["inputs"].inputs
    for first, second in ("ab", "ij"):
        assert not np.array_equal(plain[first], plain[second])
    assert all(0.5 <= number <= 1.5 for name in "ab" for number in plain[name])
