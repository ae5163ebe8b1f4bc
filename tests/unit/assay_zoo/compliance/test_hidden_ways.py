"""Ways that a model takes by values, and data that it holds for nothing."""

from __future__ import annotations

import onnx
import pytest

from assay_zoo.compliance.policy_rules import check_hidden

_BRANCHES = (
    "If <then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = e () => (float[2] b) { b = Abs(x) }> (c)"
)
_DATA = "g (float[2] x) => (float[2] y)"
_HEAD = '<ir_version: 9, opset_import: ["" : 17]> '


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (f"{_DATA} {{ m = ReduceMax<keepdims = 0>(x)  c = Cast<to = 9>(m)  y = {_BRANCHES} }}", ["branch-by-values"]),
        (f"g (float[2] x, bool c) => (float[2] y) {{ y = {_BRANCHES} }}", []),
        (f"g (float[2] x, int64[1] n) => (float[2] y) {{ c = Cast<to = 9>(n)  y = {_BRANCHES} }}", []),
        (f"g (float[2] x, int64[1,9] n) => (float[2] y) {{ m = ReduceMax<keepdims = 0>(n)  c = Cast<to = 9>(m)  y = {_BRANCHES} }}",
         ["branch-by-values"]),
        (f"g (float[N] x) => (float[N] y) {{ s = Size(x)  c = Cast<to = 9>(s)  y = {_BRANCHES.replace('[2]', '[N]')} }}", []),
        ("g (float[2] x) => (float[2] y) { w = ConstantOfShape<value = float[1] {1.0}>(x)  y = Abs(x) }", []),
    ],
)  # fmt: skip
def test_a_way_that_data_alone_open_is_told(text: str, codes: list[str]) -> None:
    model = onnx.parser.parse_model(_HEAD + text)
    assert [finding.code for finding in check_hidden(model)] == codes


@pytest.mark.parametrize(("count", "codes"), [(64, []), (65, ["unread-data"])])
def test_data_from_which_no_output_follows_are_told(count: int, codes: list[str]) -> None:
    """However they are kept, and if an operator reads them whose answer nobody asks for."""
    model = onnx.parser.parse_model(_HEAD + "g (float[2] x) => (float[2] y) { y = Abs(x) }")
    tensor = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [count], [0.5] * count)
    model.graph.initializer.append(tensor)
    model.graph.node.append(onnx.helper.make_node("Abs", ["w"], ["nobody"]))
    assert [finding.code for finding in check_hidden(model)] == codes
    del model.graph.initializer[:]
    model.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["w"], value=tensor))
    assert [finding.code for finding in check_hidden(model)] == codes
    model.graph.node[1].input[0] = "w"
    assert list(check_hidden(model)) == []
