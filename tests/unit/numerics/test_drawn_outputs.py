"""Which outputs of a model are drawn at random, and which only stand beside them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from untyped_graphs import graph_of, model_of, node

from assay.numerics.drawn_outputs import drawn_outputs
from assay.numerics.operators.index import onnx_operators

X = np.ones((2, 3), np.float32)
SHARE, NEVER = np.asarray(0.5, np.float32), np.asarray(0.0, np.float32)
YES, NO = np.asarray(True), np.asarray(False)


def _drawn(model: onnx.ModelProto, *samples: dict[str, Any]) -> set[str]:
    return set(drawn_outputs(model, samples))


def test_what_a_draw_reaches_is_drawn_and_what_it_does_not_is_not() -> None:
    nodes = [node("RandomNormalLike", "x", "r"), node("Add", "x,r", "a"), node("Relu", "x", "b")]
    assert _drawn(model_of(nodes, "a,b,r")) == {"a", "r"}


def test_every_operator_that_the_standard_calls_random_has_a_record_that_says_so() -> None:
    kinds = onnx.defs.OpSchema.NodeDeterminism
    body = onnx.defs.OpSchema.AttrType.GRAPH
    random = {
        (schema.domain, schema.name)
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.node_determinism == kinds.NonDeterministic
        and not any(a.type == body for a in schema.attributes.values())
    }
    calm = {("", "AffineGrid"), ("", "SequenceMap")}  # of their bodies, which the schema does not look into
    assert random - calm == {key for key, operator in onnx_operators().items() if operator.draws or operator.drops}


@pytest.mark.parametrize("operator", ["RandomNormal", "RandomUniform"])
def test_a_seed_makes_no_two_engines_agree(operator: str) -> None:
    draw = helper.make_node(operator, [], ["r"], shape=[2], seed=1.0)
    assert _drawn(model_of([draw], "r")) == {"r"}


def test_the_sizes_of_drawn_numbers_are_no_draw() -> None:
    nodes = [
        node("Bernoulli", "x", "r"),
        node("Shape", "r", "s"),
        node("ConstantOfShape", "s", "a"),
        node("EyeLike", "r", "e"),
    ]
    assert _drawn(model_of(nodes, "s,a,e")) == set()


def test_sizes_that_numbers_decide_are_drawn() -> None:
    nodes = [
        node("Bernoulli", "x", "r"),
        node("NonZero", "r", "n"),
        node("Shape", "n", "s"),
        node("Expand", "x,s", "e"),
    ]
    drawn = drawn_outputs(model_of(nodes, "n,s,e"))
    assert set(drawn) == {"n", "s", "e"}
    assert drawn["n"].sizes
    assert drawn["e"].sizes
    assert not drawn_outputs(model_of(nodes, "r"))["r"].sizes


@pytest.mark.parametrize(
    ("stored", "sample", "drawn"),
    [
        ({"ratio": SHARE, "mode": YES}, {}, True),
        ({"ratio": NEVER, "mode": YES}, {}, False),
        ({"ratio": SHARE, "mode": NO}, {}, False),
        ({"ratio": SHARE}, {"mode": YES}, True),
        ({"ratio": SHARE}, {"mode": NO}, False),
        ({"mode": YES}, {"ratio": NEVER}, False),
        ({"ratio": SHARE}, {}, True),
        ({"ratio": NEVER}, {}, False),
    ],
)
def test_dropout_draws_where_it_is_in_training_and_drops_something(
    stored: dict[str, Any], sample: dict[str, Any], drawn: bool
) -> None:
    nodes = [node("Dropout", "x,ratio,mode", "y,mask")]
    free = ",".join(["x", *({"ratio", "mode"} - set(stored))])
    model = model_of(nodes, "y,mask", inputs=free, **stored)
    assert bool(_drawn(model, *([{"x": X, **sample}] if sample else []))) is drawn


def test_one_sample_in_training_is_enough() -> None:
    model = model_of([node("Dropout", "x,,mode", "y")], "y", inputs="x,mode")
    assert _drawn(model, {"x": X, "mode": NO}, {"x": X, "mode": YES}) == {"y"}
    assert not _drawn(model, {"x": X, "mode": NO}, {"x": X, "mode": NO})


@pytest.mark.parametrize(
    ("opset", "attributes", "drawn"),
    [
        (6, {}, False),
        (6, {"is_test": 1}, False),
        (6, {"ratio": 0.0}, False),
        (7, {}, False),
        (10, {}, False),
        (12, {}, False),
    ],
)
def test_dropout_of_older_opsets(opset: int, attributes: dict[str, Any], drawn: bool) -> None:
    assert bool(_drawn(model_of([node("Dropout", "x", "y", **attributes)], "y", opset=opset))) is drawn


def test_a_mode_that_nodes_compute_from_what_is_known() -> None:
    nodes = [node("Not", "frozen", "mode"), node("Dropout", "x,,mode", "y")]
    assert _drawn(model_of(nodes, "y", frozen=NO)) == {"y"}
    assert not _drawn(model_of(nodes, "y", frozen=YES))
    constant = node("Constant", "", "frozen", value=onnx.numpy_helper.from_array(YES))
    constant.ClearField("input")
    assert not _drawn(model_of([constant, *nodes], "y"))


def _branches(first: str, second: str) -> dict[str, onnx.GraphProto]:
    return {
        "then_branch": graph_of([node(first, "x", "t")], "t", inputs=""),
        "else_branch": graph_of([node(second, "x", "e")], "e", inputs=""),
    }


def test_a_branch_draws_where_it_may_be_taken() -> None:
    branch = node("If", "cond", "y", **_branches("Bernoulli", "Relu"))
    assert _drawn(model_of([branch], "y", inputs="x,cond")) == {"y"}
    assert not _drawn(model_of([branch], "y", cond=NO))
    assert _drawn(model_of([branch], "y", cond=YES)) == {"y"}
    assert not _drawn(model_of([branch], "y", inputs="x,cond"), {"x": X, "cond": NO})


def test_a_drawn_condition_decides_sizes_too() -> None:
    nodes = [node("Bernoulli", "cond", "drawn"), node("If", "drawn", "y", **_branches("Relu", "Relu"))]
    assert drawn_outputs(model_of(nodes, "y", inputs="x,cond"))["y"].sizes


def _loop(inner: list[onnx.NodeProto]) -> onnx.ModelProto:
    """Carries a and b and collects c."""
    body = graph_of([node("Identity", "go", "again"), *inner], "again,a2,b2,c", inputs="i,go,a,b")
    return model_of([node("Loop", "n,go0,x,x", "y,z,all", body=body)], "y,z,all", n=np.asarray(3), go0=YES)


def test_a_loop_carries_a_draw_from_one_turn_to_the_next() -> None:
    straight = [node("Relu", "a", "a2"), node("Bernoulli", "b", "b2"), node("Relu", "a", "c")]
    assert _drawn(_loop(straight)) == {"z"}
    crossed = [node("Relu", "b", "a2"), node("Bernoulli", "b", "b2"), node("Relu", "a", "c")]
    assert _drawn(_loop(crossed)) == {"y", "z", "all"}


def test_a_scan_carries_a_draw() -> None:
    body = graph_of(
        [node("Bernoulli", "s", "s2"), node("Relu", "e", "o"), node("Add", "s,e", "p")], "s2,o,p", inputs="s,e"
    )
    model = model_of([node("Scan", "x,x", "y,o1,p1", body=body, num_scan_inputs=1)], "y,o1,p1")
    assert _drawn(model) == {"y", "p1"}


def _function(nodes: list[onnx.NodeProto], inputs: str = "a,m", attributes: tuple[str, ...] = ()) -> onnx.FunctionProto:
    return helper.make_function(
        "own", "Drop", inputs.split(","), ["b"], nodes, [helper.make_opsetid("", 22)], list(attributes)
    )


def _call(reads: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node("Drop", reads.split(","), ["y"], domain="own", **attributes)


def test_a_function_of_the_model_draws_as_its_nodes_do_with_what_the_call_binds() -> None:
    function = _function([node("Dropout", "a,,m", "b")])
    for given, drawn in ((YES, {"y"}), (NO, set())):
        assert _drawn(model_of([_call("x,mode")], "y", functions=[function], mode=given)) == drawn
    assert not _drawn(model_of([_call("x")], "y", functions=[function]))  # left out: not in training


def test_an_attribute_of_the_call_decides() -> None:
    mode = helper.make_node("Constant", [], ["whole"])
    mode.attribute.add(name="value_int", ref_attr_name="training", type=onnx.AttributeProto.INT)
    nodes = [mode, node("Cast", "whole", "m", to=TensorProto.BOOL), node("Dropout", "a,,m", "b")]
    function = _function(nodes, "a", ("training",))
    assert _drawn(model_of([_call("x", training=1)], "y", functions=[function])) == {"y"}
    assert not _drawn(model_of([_call("x", training=0)], "y", functions=[function]))


def test_a_function_that_has_the_name_of_an_operator_is_what_its_nodes_are() -> None:
    quiet = helper.make_function(
        "own", "Bernoulli", ["a"], ["b"], [node("Relu", "a", "b")], [helper.make_opsetid("", 22)]
    )
    call = helper.make_node("Bernoulli", ["x"], ["y"], domain="own")
    other = node("Dropout", "x,,mode", "z")
    assert _drawn(model_of([call, other], "y,z", functions=[quiet], mode=YES)) == {"z"}


def test_a_function_that_calls_itself_comes_to_an_end() -> None:
    endless = _function([_call("a,m"), node("Bernoulli", "y", "b")])
    assert _drawn(model_of([_call("x,x")], "y", functions=[endless])) == {"y"}


def _chosen(nodes: list[onnx.NodeProto], **stored: Any) -> onnx.ModelProto:
    """y is drawn where the first number of `last`, which `nodes` make, is above 0.5."""
    first = [node("ReduceMax", "last", "most", keepdims=0), node("Greater", "most,half", "cond")]
    chooses = node("If", "cond", "y", **_branches("Bernoulli", "Relu"))
    return model_of([*nodes, *first, chooses], "y", half=np.asarray(0.5, np.float32), **stored)


@pytest.mark.parametrize(("fed", "drawn"), [(X, {"y"}), (-X, set())])
def test_a_condition_at_the_end_of_a_deep_graph_is_known(fed: Any, drawn: set[str]) -> None:
    chain = [node("Relu", "last" if at == 2000 else f"a{at}", f"a{at + 1}") for at in range(2000)]
    chain[0].input[0], chain[-1].output[0] = "x", "last"
    assert _drawn(_chosen(chain), {"x": fed}) == drawn


def test_what_would_be_large_is_not_computed() -> None:
    large = node("ConstantOfShape", "size", "last", value=onnx.numpy_helper.from_array(np.ones(1, np.float32)))
    tracemalloc.start()
    try:
        assert _drawn(_chosen([large], size=np.asarray([8_000_000]))) == {"y"}
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
    none = node("ConstantOfShape", "size", "last")
    assert not _drawn(_chosen([none], size=np.asarray([8])))


def _calling_twice(count: int, operator: str) -> list[onnx.FunctionProto]:
    """Each calls the next one twice, and the last is that operator."""
    imports = [helper.make_opsetid("", 22), helper.make_opsetid("own", 1)]
    functions = []
    for at in range(count):
        name = f"F{at + 1}"
        nodes = [helper.make_node(name, ["a"], ["t"], domain="own"), helper.make_node(name, ["t"], ["b"], domain="own")]
        last = [node(operator, "a", "b")]
        functions.append(
            helper.make_function("own", f"F{at}", ["a"], ["b"], nodes if at + 1 < count else last, imports)
        )
    return functions


@pytest.mark.heavy
@pytest.mark.parametrize(("operator", "drawn"), [("Relu", {"r"}), ("Bernoulli", {"y", "r"})])
def test_functions_that_call_one_another_come_to_an_end(operator: str, drawn: set[str]) -> None:
    nodes = [node("RandomNormalLike", "x", "r"), helper.make_node("F0", ["x"], ["y"], domain="own")]
    assert _drawn(model_of(nodes, "y,r", functions=_calling_twice(40, operator))) == drawn
