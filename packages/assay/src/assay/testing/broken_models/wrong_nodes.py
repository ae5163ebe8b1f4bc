"""Models that are wrong in one way each: operators, types, indices, loops and allocations."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import helper

from assay.testing.broken_models.craft import HEAD, case, loop, text


@case("node", "duplicate-node")
def duplicate_node(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] h = Relu(x)  [a] y = Abs(h) }")


@case("node", "custom-domain", zoo=True)
def custom_domain(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = acme.Frob(x) }", HEAD.replace("17]", '17, "acme" : 1]'))


@case("node", "inference")
def matmul_shapes(_: Path) -> onnx.ModelProto:
    return text("g (float[2,3] x) => (float[2,3] y) { [a] y = MatMul(x, x) }")


@case("node", "inference")
def add_types(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x, int64[2] k) => (float[2] y) { [a] y = Add(x, k) }")


@case("node", "custom-domain", zoo=True)
def domain_without_import(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = acme.Frob(x) }")


@case("node", "inference")
def uneven_split(_: Path) -> onnx.ModelProto:
    return text("g (float[5] x) => (float[2] y, float[2] z) <int64[2] s = {2, 2}> { [a] y, z = Split<axis = 0>(x, s) }")


@case("node", "inference")
def batchnorm_scale_rank(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[1,3,4,4] x, float[1,3] s, float[3] b, float[3] m, float[3] v) => (float[1,3,4,4] y) "
        "{ [a] y = BatchNormalization(x, s, b, m, v) }"
    )


@case("node", "index")
def gather_out_of_range(_: Path) -> onnx.ModelProto:
    return text("g (float[3,2] x) => (float[2] y) <int64 i = {5}> { [a] y = Gather<axis = 0>(x, i) }")


@case("node", "allocation", zoo=True)
def constant_of_shape_4_tib(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[1] x) => (float[N] y) <int64[2] s = {1048576, 1048576}> "
        "{ [a] h = ConstantOfShape(s)  [b] m = ReduceMax<keepdims = 0>(h)  [c] y = Add(x, m) }"
    )


@case("node", "loop", zoo=True)
def endless_loop(_: Path) -> onnx.ModelProto:
    return loop("int64 trips = {4611686018427387904}, bool yes = {1}", "trips, yes")


@case("node", "inference")
def branches_of_two_types(_: Path) -> onnx.ModelProto:
    return text(
        "g (bool c, float[2] x) => (float[2] y) { [if] y = If<then_branch = t () => (float[2] p) { [a] p = Relu(x) }, "
        "else_branch = e () => (int64[2] q) { [b] q = Cast<to = 7>(x) }>(c) }"
    )


@case("node", "missing-import")
def missing_import(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = Relu(x) }", '<ir_version: 9, opset_import: ["ai.onnx.ml" : 3]>\n'
    )


@case("node", "unknown-operator")
def unknown_operator(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Rleu(x) }")


@case("node", "later-operator")
def operator_of_a_later_opset(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Gelu(x) }")


@case("node", "deprecated")
def deprecated_operator(_: Path) -> onnx.ModelProto:
    return text("g (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1, 1, 2, 2}> { [a] y = Upsample(x, s) }")


def _replaced_operator() -> onnx.ModelProto:
    return text(
        "g (float[1,4,3] x, float[2] s) => (float[1,4,3] y) { [a] y = GroupNormalization<num_groups = 2>(x, s, s) }",
        HEAD.replace("17]", "18]"),
    )


@case("node", "deprecated", zoo=True)
def deprecated_operator_with_a_body(_: Path) -> onnx.ModelProto:
    """Any runtime can do what it is made of."""
    return _replaced_operator()


@case("node", "deprecated", zoo=True)
def deprecated_operator_beside_a_function_of_another_opset(_: Path) -> onnx.ModelProto:
    """onnx's inliner replaces nothing in such a model."""
    model = _replaced_operator()
    model.functions.extend(
        text(
            "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
            '<domain: "own", opset_import: ["" : 17]> F (a) => (b) { [f] b = Relu(a) }',
            HEAD.replace("17]", '17, "own" : 1]'),
        ).functions
    )
    return model


@case("node", "arity")
def too_many_inputs(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Relu(x, x) }")


@case("node", "missing-operand")
def left_out_input(_: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = Add(x, x) }")
    model.graph.node[0].input[0] = ""
    return model


@case("node", "endless-loop", zoo=True)
def loop_that_never_turns_false(_: Path) -> onnx.ModelProto:
    return loop("bool yes = {1}", ", yes", "[c] more = Constant<value = bool {1}>()")


@case("node", "data-loop", zoo=True)
def loop_ended_by_data_only(_: Path) -> onnx.ModelProto:
    body = "[s] s = ReduceSum<keepdims = 0>(v) [z] z = Constant<value = float {0.0}>() [c] more = Greater(s, z)"
    return loop("bool yes = {1}", ", yes", body)


@case("node", "loop", zoo=True)
def loop_of_computed_trips(_: Path) -> onnx.ModelProto:
    model = loop("int64 a = {65536}, bool yes = {1}", "trips, yes")
    model.graph.node.insert(0, helper.make_node("Mul", ["a", "a"], ["trips"], name="times"))
    return model


@case("node", "loop", zoo=True)
def loops_in_loops(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) <int64 n = {10000}, bool yes = {1}> { [outer] y = Loop<body = b "
        "(int64 i, bool go, float[2] v) => (bool more, float[2] w) { [c] more = Identity(go) [inner] w = Loop<body = d "
        "(int64 j, bool on, float[2] s) => (bool again, float[2] t) { [e] again = Identity(on) [f] t = Relu(s) }>"
        "(n, yes, v) }>(n, yes, x) }"
    )


@case("node", "allocation", zoo=True)
def expand_4_tib(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[1] x) => (float[N] y) <int64[2] s = {1048576, 1048576}> "
        "{ [a] h = Expand(x, s)  [b] m = ReduceMax<keepdims = 0>(h)  [c] y = Add(x, m) }"
    )


@case("node", "allocation", zoo=True)
def tile_of_a_free_batch(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[N,4] x) => (float[N] y) <int64[2] r = {1, 2147483648}> "
        "{ [a] h = Tile(x, r)  [b] y = ReduceMax<keepdims = 0, axes = [1]>(h) }"
    )


@case("node", "allocation", zoo=True)
def range_of_a_tibibyte(_: Path) -> onnx.ModelProto:
    return text(
        "g (int64 x) => (int64 y) <int64 a = {0}, int64 b = {137438953472}, int64 c = {1}> "
        "{ [a] h = Range(a, b, c)  [b] m = ReduceMax<keepdims = 0>(h)  [c] y = Add(x, m) }"
    )


@case("node", "allocation", zoo=True)
def doubling(_: Path) -> onnx.ModelProto:
    steps = "".join(f" [n{i}] v{i + 1} = Concat<axis = 0>(v{i}, v{i})" for i in range(40))
    return text(f"g (float[4] x) => (float y) {{ [s] v0 = Identity(x){steps} [m] y = ReduceMax<keepdims = 0>(v40) }}")


@case("node", "allocation-at-one", zoo=True)
def doubling_of_a_free_dimension(_: Path) -> onnx.ModelProto:
    steps = "".join(f" [n{i}] v{i + 1} = Concat<axis = 0>(v{i}, v{i})" for i in range(40))
    return text(f"g (float[N] x) => (float y) {{ [s] v0 = Identity(x){steps} [m] y = ReduceMax<keepdims = 0>(v40) }}")


@case("node", "allocation-at-one", zoo=True)
def doubling_in_a_loop(_: Path) -> onnx.ModelProto:
    return _grown("40", "[d] w = Concat<axis = 0>(v, v)")


@case("node", "allocation-at-one", zoo=True)
def growing_evenly_in_a_loop(_: Path) -> onnx.ModelProto:
    """By 16 KiB in each of a million trips."""
    return _grown("1000000", "[s] part = Constant<value = int64[1] {4096}>() [f] more_of_it = ConstantOfShape(part) "
                  "[d] w = Concat<axis = 0>(v, more_of_it)")  # fmt: skip


def _grown(trips: str, step: str) -> onnx.ModelProto:
    return text(
        f"g (float[N] x) => (float y) <int64 n = {{{trips}}}, bool yes = {{1}}> {{ [loop] z = Loop<body = b (int64 i, "
        f"bool go, float[K] v) => (bool more, float[L] w) {{ [c] more = Identity(go) {step} }}>(n, yes, x) "
        "[m] y = ReduceMax<keepdims = 0>(z) }"
    )


@case("node", "allocation", zoo=True)
def allocation_in_a_function(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[1] x) => (float y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F (a) => (b) { [s] s = Constant<value = int64[2] {1048576, 1048576}>() '
        "[e] h = Expand(a, s) [f] b = ReduceMax<keepdims = 0>(h) }",
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("node", "allocation", zoo=True)
def allocation_in_a_branch(_: Path) -> onnx.ModelProto:
    return text(
        "g (bool c, float[1] x) => (float y) <int64[2] s = {1048576, 1048576}> { [if] y = If<then_branch = t () => "
        "(float p) { [a] h = Expand(x, s) [m] p = ReduceMax<keepdims = 0>(h) }, else_branch = e () => (float q) "
        "{ [b] q = ReduceMax<keepdims = 0>(x) }>(c) }"
    )


@case("node", "index")
def gather_computed_index(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[3,2] x) => (float[2] y) <int64 i = {-2}, int64 two = {2}> "
        "{ [m] j = Mul(i, two)  [a] y = Gather<axis = 0>(x, j) }"
    )


@case("node", "index")
def scatter_out_of_range(_: Path) -> onnx.ModelProto:
    return text("g (float[3,2] x, float[1,2] u) => (float[3,2] y) <int64[1,1] i = {3}> { [a] y = ScatterND(x, i, u) }")


@case("node", "inference")
def slice_step_zero(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[3] x) => (float[N] y) <int64[1] s = {0}, int64[1] e = {3}, int64[1] a = {0}, int64[1] z = {0}> "
        "{ [a] y = Slice(x, s, e, a, z) }"
    )


@case("node", "arity")
def replaced_operator_with_two_outputs(_: Path) -> onnx.ModelProto:
    """An operator that was replaced, and says what it is made of, cannot be put together from that."""
    return text(
        "g (float[1,4,3] x, float[2] s) => (float[1,4,3] y) "
        "{ [a] y, z = GroupNormalization <num_groups = 2> (x, s, s) }",
        HEAD.replace("17", "18"),
    )


@case("node", "inference")
def cast_to_no_type(_: Path) -> onnx.ModelProto:
    """Its number does not fit where onnx keeps it: what its inference raises then is no error of inference."""
    model = text("g (float[2] x) => (float[2] y) { [a] y = Cast <to = 1> (x) }")
    model.graph.node[0].attribute[0].i = -(2**63)
    return model
