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


@pytest.mark.parametrize(("kind", "codes"), [("int64[N]", ["branch-by-values"]), ("int64[1]", []), ("bool", [])])
def test_words_of_a_text_are_no_setting(kind: str, codes: list[str]) -> None:
    text = f"g (float[2] x, {kind} n) => (float[2] y) {{ i = Cast<to = 6>(n)  m = ReduceMax<keepdims = 0>(i)  c = Cast<to = 9>(m)  "
    model = onnx.parser.parse_model(f"{_HEAD}{text} y = {_BRANCHES} }}")
    assert [finding.code for finding in check_hidden(model)] == codes


@pytest.mark.parametrize(("limit", "codes"), [("ReduceMax<keepdims = 0>", ["branch-by-values"]), ("Size", [])])
def test_a_way_in_a_function_is_one_of_the_model(limit: str, codes: list[str]) -> None:
    """Whether the function asks for the value, or is handed it by another."""
    head = '<ir_version: 9, opset_import: ["" : 17, "own" : 1]> g (float[2] x) => (float[2] y) { y = own.f(x) }'
    start = '<domain: "own", opset_import: ["" : 17'
    of_function = _BRANCHES.replace("float[2] ", "")
    asks = f"{start}]> f (x) => (y) {{ m = {limit}(x)  c = Cast<to = 9>(m)  y = {of_function} }}"
    handed = (
        f'{start}, "own" : 1]> f (x) => (y) {{ m = own.h(x)  y = own.k(x, m) }} {start}]> h (x) => (m) {{ m = {limit}(x) }} '
        f"{start}]> k (x, m) => (y) {{ c = Cast<to = 9>(m)  y = {of_function} }}"
    )
    for functions in (asks, handed):
        assert [finding.code for finding in check_hidden(onnx.parser.parse_model(head + functions))] == codes


_TURN = "b (int64 i, bool go, float[2] v) => (bool on, float[2] w) {{ w = Neg(v)  {} }}"


@pytest.mark.parametrize(
    ("turns", "body", "codes"),
    [
        ("m = ReduceMax<keepdims = 0>(x)  k = Cast<to = 7>(m)", _TURN.format("on = Identity(go)"), ["branch-by-values"]),
        ("k = Size(x)", _TURN.format("on = Identity(go)"), []),
        ("k = Size(x)", _TURN.format("m = ReduceMax<keepdims = 0>(v)  on = Cast<to = 9>(m)"), ["branch-by-values"]),
        ("k = Size(x)", "b (int64 i, bool go, float[2] v) => (bool on, float[2] w) { w = Neg(x)  m = ReduceMax<keepdims = 0>(v)  "
         "on = Cast<to = 9>(m) }", ["branch-by-values"]),
    ],
)  # fmt: skip
def test_a_loop_ends_by_shapes_or_by_values(turns: str, body: str, codes: list[str]) -> None:
    """Also by a value that the turn before handed on: `Neg(x)` is what the next turn is given."""
    first = "x" if "Neg(v)" in body else "z"
    text = f"g (float[2] x) => (float[2] y) <bool yes = {{1}}, float[2] z = {{0, 0}}> {{ {turns} y = Identity(x) }}"
    model = onnx.parser.parse_model(_HEAD + text)
    loop = onnx.helper.make_node("Loop", ["k", "yes", first], ["y"], body=onnx.parser.parse_graph(body))
    model.graph.node[-1].CopyFrom(loop)
    assert [finding.code for finding in check_hidden(model)] == codes


_LARGE = [0.5] * 2200


@pytest.mark.parametrize(("count", "codes"), [(300, []), (2200, ["unread-data"])])
def test_data_from_which_no_output_follows_are_told(count: int, codes: list[str]) -> None:
    """However they are kept, and if an operator reads them whose answer nobody asks for."""
    model = _silent()
    tensor = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [count], [0.5] * count)
    model.graph.initializer.append(tensor)
    model.graph.node.append(onnx.helper.make_node("Abs", ["w"], ["nobody"]))
    assert [finding.code for finding in check_hidden(model)] == codes
    del model.graph.initializer[:]
    model.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["w"], value=tensor))
    assert [finding.code for finding in check_hidden(model)] == codes
    model.graph.node[1].input[0] = "w"
    assert list(check_hidden(model)) == []


@pytest.mark.parametrize(
    "value",
    [{"value_floats": _LARGE}, {"value_ints": [1 << 40] * 2200}, {"value_string": b"x" * 9000}, {"value_strings": ["x" * 100] * 90}],
    ids=lambda value: next(iter(value)),
)  # fmt: skip
def test_a_constant_that_nobody_reads_is_told_in_each_form(value: dict[str, object]) -> None:
    model = _silent()
    model.graph.node.append(onnx.helper.make_node("Constant", [], ["w"], **value))
    assert [finding.code for finding in check_hidden(model)] == ["unread-data"]


def test_small_parts_that_nobody_reads_are_told_by_their_sum() -> None:
    model = _silent()
    for number in range(40):
        tensor = onnx.helper.make_tensor(f"w{number}", onnx.TensorProto.FLOAT, [64], _LARGE[:64])
        model.graph.initializer.append(tensor)
    assert [finding.code for finding in check_hidden(model)] == ["unread-data"]


def test_sparse_data_and_notes_count() -> None:
    sparse, note, entry = _silent(), _silent(), _silent()
    values = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2200], _LARGE)
    places = onnx.helper.make_tensor("places", onnx.TensorProto.INT64, [2200], range(2200))
    sparse.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, places, [5000]))
    note.graph.doc_string = "x" * 9000
    entry.metadata_props.add(key="notes", value="x" * 9000)
    for model in (sparse, note, entry):
        assert [finding.code for finding in check_hidden(model)] == ["unread-data"]


def test_a_name_of_many_letters_is_a_note() -> None:
    model = _silent()
    for letters, codes in ((2000, []), (20_000, ["unread-data"])):
        model.graph.node[0].name = "x" * letters
        assert [finding.code for finding in check_hidden(model)] == codes


def _silent() -> onnx.ModelProto:
    return onnx.parser.parse_model(_HEAD + "g (float[2] x) => (float[2] y) { y = Abs(x) }")
