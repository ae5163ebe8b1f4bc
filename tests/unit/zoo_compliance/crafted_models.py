"""Models that are wrong in one way each, and where the fault is. Built here, so that each is seen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

HEAD = '<ir_version: 9, opset_import: ["" : 17]>\n'
Build = Callable[[Path], onnx.ModelProto | bytes]
CASES: dict[str, tuple[str, str, Build]] = {}
"""Name to (area, kind, builder). The builder is given the folder, for external data."""


def case(area: str, kind: str) -> Callable[[Build], Build]:
    def keep(build: Build) -> Build:
        CASES[build.__name__] = (area, kind, build)
        return build

    return keep


def text(body: str, head: str = HEAD) -> onnx.ModelProto:
    model: onnx.ModelProto = parser.parse_model(head + body)
    return model


def relu(shape: str = "2,3") -> onnx.ModelProto:
    return text(f"g (float[{shape}] x) => (float[{shape}] y) {{ [a] y = Relu(x) }}")


def built(name: str, folder: Path) -> Path:
    """The model of that case, written into an existing folder."""
    made = CASES[name][2](folder)
    path = folder / "model.onnx"
    path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    return path


def with_weight(array: np.ndarray, operator: str = "Add") -> onnx.ModelProto:
    model = text(f"g (float[2,3] x) => (float[2,3] y) {{ [a] y = {operator}(x, w) }}")
    model.graph.initializer.append(numpy_helper.from_array(array, "w"))
    return model


def external(folder: Path, location: str, *, write: bool = True, **entries: str) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    if write:
        target = folder / location
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(np.ones(6, np.float32).tobytes())
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return model


# ---- the evidence table


@case("graph", "unsorted")
def unsorted_nodes(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [late] y = Relu(h)  [early] h = Abs(x) }")


@case("graph", "missing-output")
def output_nobody_produces(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y, float[2] z) { [a] y = Relu(x) }")


@case("graph", "duplicate-value")
def duplicate_value(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Relu(x)  [b] y = Abs(x) }")


@case("node", "duplicate-node")
def duplicate_node(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] h = Relu(x)  [a] y = Abs(h) }")


@case("attribute", "unknown-attribute")
def unknown_attribute(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Relu<speed = 3>(x) }")


@case("node", "custom-domain")
def custom_domain(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = acme.Frob(x) }", HEAD.replace("17]", '17, "acme" : 1]'))


@case("node", "inference")
def matmul_shapes(folder: Path) -> onnx.ModelProto:
    return text("g (float[2,3] x) => (float[2,3] y) { [a] y = MatMul(x, x) }")


@case("node", "inference")
def add_types(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x, int64[2] k) => (float[2] y) { [a] y = Add(x, k) }")


@case("graph", "declared")
def declared_shape(folder: Path) -> onnx.ModelProto:
    return text("g (float[2,3] x) => (float[2,4] y) { [a] y = Relu(x) }")


@case("graph", "declared")
def declared_dtype(folder: Path) -> onnx.ModelProto:
    return text("g (float[2,3] x) => (int64[2,3] y) { [a] y = Relu(x) }")


@case("graph", "declared")
def value_declared_unlike_the_input(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.value_info.append(helper.make_tensor_value_info("x", TensorProto.INT64, [2, 3]))
    return model


@case("node", "custom-domain")
def domain_without_import(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = acme.Frob(x) }")


@case("node", "inference")
def uneven_split(folder: Path) -> onnx.ModelProto:
    return text("g (float[5] x) => (float[2] y, float[2] z) <int64[2] s = {2, 2}> { [a] y, z = Split<axis = 0>(x, s) }")


@case("node", "inference")
def batchnorm_scale_rank(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[1,3,4,4] x, float[1,3] s, float[3] b, float[3] m, float[3] v) => (float[1,3,4,4] y) "
        "{ [a] y = BatchNormalization(x, s, b, m, v) }"
    )


@case("node", "index")
def gather_out_of_range(folder: Path) -> onnx.ModelProto:
    return text("g (float[3,2] x) => (float[2] y) <int64 i = {5}> { [a] y = Gather<axis = 0>(x, i) }")


@case("graph", "data-length")
def raw_data_short(folder: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].raw_data = b"\0" * 8
    return model


@case("graph", "not-finite")
def nan_weights(folder: Path) -> onnx.ModelProto:
    return with_weight(np.array([[1, np.nan, 3], [4, 5, 6]], np.float32), "Mul")


@case("node", "allocation")
def constant_of_shape_4_tib(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[1] x) => (float[N] y) <int64[2] s = {1048576, 1048576}> "
        "{ [a] h = ConstantOfShape(s)  [b] m = ReduceMax<keepdims = 0>(h)  [c] y = Add(x, m) }"
    )


@case("node", "loop")
def endless_loop(folder: Path) -> onnx.ModelProto:
    return loop("int64 trips = {4611686018427387904}, bool yes = {1}", "trips, yes")


def loop(constants: str, operands: str, cond: str = "[c] more = Identity(go)") -> onnx.ModelProto:
    return text(
        f"g (float[2] x) => (float[2] y) <{constants}> {{ [loop] y = Loop<body = b (int64 i, bool go, float[2] v) => "
        f"(bool more, float[2] w) {{ {cond} [n] w = Relu(v) }}>({operands}, x) }}"
    )


@case("function", "recursion")
def recursive_function(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17, "own" : 1]> F (a) => (b) { [f] b = own.F(a) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("model", "external-data")
def external_parent(folder: Path) -> onnx.ModelProto:
    return external(folder, "../weights.bin")


@case("model", "external-data")
def external_absolute(folder: Path) -> onnx.ModelProto:
    return external(folder, "/etc/hostname", write=False)


@case("model", "external-data")
def external_symlink(folder: Path) -> onnx.ModelProto:
    (folder.parent / "outside.bin").write_bytes(b"\0" * 24)
    (folder / "w.bin").symlink_to(folder.parent / "outside.bin")
    return external(folder, "w.bin", write=False)


@case("model", "external-data")
def external_missing(folder: Path) -> onnx.ModelProto:
    return external(folder, "nowhere.bin", write=False)


@case("model", "external-data")
def external_hard_link(folder: Path) -> onnx.ModelProto:
    (folder.parent / "outside.bin").write_bytes(b"\0" * 24)
    os.link(folder.parent / "outside.bin", folder / "w.bin")
    return external(folder, "w.bin", write=False)


@case("model", "duplicate-metadata")
def duplicate_metadata(folder: Path) -> onnx.ModelProto:
    model = relu()
    for value in ("a", "b"):
        entry = model.metadata_props.add()
        entry.key, entry.value = "author", value
    return model


# ---- what else a hostile examiner would send


@case("graph", "not-finite")
def nan_in_external_data(folder: Path) -> onnx.ModelProto:
    model = external(folder, "w.bin")
    (folder / "w.bin").write_bytes(np.full(6, np.nan, np.float32).tobytes())
    return model


@case("graph", "not-finite")
def infinite_weights(folder: Path) -> onnx.ModelProto:
    return with_weight(np.array([[1, np.inf, 3], [4, 5, 6]], np.float32), "Mul")


@case("graph", "not-finite")
def nan_bfloat16(folder: Path) -> onnx.ModelProto:
    model = text("g (bfloat16[2] x) => (bfloat16[2] y) { [a] y = Mul(x, w) }")
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.BFLOAT16, [2], b"\x80\x3f\xc0\x7f", raw=True))
    return model


@case("attribute", "not-finite")
def nan_constant(folder: Path) -> onnx.ModelProto:
    return relu_with_constant(np.array([1, np.nan], np.float32))


def relu_with_constant(array: np.ndarray) -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["k"], name="k", value=numpy_helper.from_array(array))
    model = text("g (float[2] x) => (float[2] y) { [a] y = Mul(x, k) }")
    model.graph.node.insert(0, node)
    return model


@case("attribute", "data-length")
def constant_too_long(folder: Path) -> onnx.ModelProto:
    model = relu_with_constant(np.ones(2, np.float32))
    model.graph.node[0].attribute[0].t.raw_data = b"\0" * 12
    return model


@case("graph", "data-storage")
def stored_twice(folder: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].float_data.extend([1.0] * 6)
    return model


@case("graph", "negative-dimension")
def negative_dimension(folder: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].dims[0] = -2
    return model


@case("graph", "negative-dimension")
def negative_input_dimension(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    return model


@case("graph", "overflow")
def dimensions_overflow(folder: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].dims[:] = [2**33, 2**33]
    return model


@case("graph", "data-length")
def dimensions_mismatch(folder: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].dims[:] = [4, 3]
    return model


@case("model", "external-overlap")
def external_overlap(folder: Path) -> onnx.ModelProto:
    model = external(folder, "w.bin", offset="0")
    (folder / "w.bin").write_bytes(np.ones(12, np.float32).tobytes())
    second = model.graph.initializer.add()
    second.CopyFrom(model.graph.initializer[0])
    second.name = "v"
    second.external_data[1].value = "8"
    model.graph.node[0].input[0] = "v"
    return model


@case("model", "external-data")
def external_length(folder: Path) -> onnx.ModelProto:
    return external(folder, "w.bin", length="8")


@case("model", "external-data")
def external_offset_past_end(folder: Path) -> onnx.ModelProto:
    return external(folder, "w.bin", offset="4096")


@case("model", "external-data")
def external_data_in_the_model_itself(folder: Path) -> onnx.ModelProto:
    return external(folder, "model.onnx", write=False)


@case("graph", "index")
def sparse_index_outside(folder: Path) -> onnx.ModelProto:
    return sparse(np.array([1, 99], np.int64), [2, 3])


@case("graph", "sparse")
def sparse_that_is_huge(folder: Path) -> onnx.ModelProto:
    return sparse(np.array([1, 2], np.int64), [2**20, 2**20])


def sparse(indices: np.ndarray, dims: list[int]) -> onnx.ModelProto:
    model = text("g (float[2,3] x) => (float[2,3] y) { [a] y = Mul(x, w) }")
    values = numpy_helper.from_array(np.ones(2, np.float32), "w")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, numpy_helper.from_array(indices), dims))
    return model


@case("function", "missing-import")
def function_without_import(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["other" : 1]> F (a) => (b) { [f] b = Relu(a) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("function", "undefined-value")
def function_reads_nothing(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F (a) => (b) { [f] b = Relu(nobody) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("function", "hidden-operator")
def function_hides_relu(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = Relu(x) }\n"
        '<domain: "", opset_import: ["" : 17]> Relu (a) => (b) { [f] b = Neg(a) }'
    )


@case("function", "duplicate-function")
def function_twice(folder: Path) -> onnx.ModelProto:
    body = '<domain: "own", opset_import: ["" : 17]> F (a) => (b) { [f] b = Relu(a) }\n'
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n" + body + body, HEAD.replace("17]", '17, "own" : 1]')
    )


@case("function", "expansion")
def function_chain(folder: Path) -> onnx.ModelProto:
    parts = ["g (float[2] x) => (float[2] y) { [a] y = own.F0(x) }\n"]
    for level in range(1200):
        call = f"own.F{level + 1}" if level < 1199 else "Relu"
        parts.append(
            f'<domain: "own", opset_import: ["" : 17, "own" : 1]> F{level} (a) => (b) {{ [p] b = {call}(a) }}\n'
        )
    return text("".join(parts), HEAD.replace("17]", '17, "own" : 1]'))


@case("function", "recursion")
def functions_in_a_ring(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17, "own" : 1]> F (a) => (b) { [f] b = own.G(a) }\n'
        '<domain: "own", opset_import: ["" : 17, "own" : 1]> G (a) => (b) { [f] b = own.F(a) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("function", "expansion")
def function_bomb(folder: Path) -> onnx.ModelProto:
    parts = ["g (float[2] x) => (float[2] y) { [a] y = own.F0(x) }\n"]
    for level in range(30):
        call = f"own.F{level + 1}" if level < 29 else "Relu"
        parts.append(
            f'<domain: "own", opset_import: ["" : 17, "own" : 1]> F{level} (a) => (c) '
            f"{{ [p] b = {call}(a)  [q] c = {call}(b) }}\n"
        )
    return text("".join(parts), HEAD.replace("17]", '17, "own" : 1]'))


@case("attribute", "attribute-value")
def attribute_of_two_values(folder: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 0.1>(x) }")
    model.graph.node[0].attribute[0].i = 3
    return model


@case("attribute", "attribute-type")
def attribute_of_wrong_type(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 1>(x) }")


@case("attribute", "missing-attribute")
def attribute_missing(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (int64[2] y) { [a] y = Cast(x) }")


@case("attribute", "duplicate-attribute")
def attribute_twice(folder: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 0.1>(x) }")
    model.graph.node[0].attribute.append(model.graph.node[0].attribute[0])
    return model


@case("attribute", "attribute-reference")
def attribute_refers_to_nothing(folder: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu(x) }")
    attribute = model.graph.node[0].attribute.add()
    attribute.name, attribute.type, attribute.ref_attr_name = "alpha", onnx.AttributeProto.FLOAT, "beta"
    return model


@case("attribute", "nan-attribute")
def attribute_nan(folder: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 0.1>(x) }")
    model.graph.node[0].attribute[0].f = float("nan")
    return model


@case("node", "inference")
def branches_of_two_types(folder: Path) -> onnx.ModelProto:
    return text(
        "g (bool c, float[2] x) => (float[2] y) { [if] y = If<then_branch = t () => (float[2] p) { [a] p = Relu(x) }, "
        "else_branch = e () => (int64[2] q) { [b] q = Cast<to = 7>(x) }>(c) }"
    )


@case("graph", "cycle")
def cyclic(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] p = Add(x, q)  [b] q = Relu(p)  [c] y = Abs(q) }")


@case("graph", "shadowed-value")
def shadowed_in_branch(folder: Path) -> onnx.ModelProto:
    return text(
        "g (bool c, float[2] x) => (float[2] y) { [h] h = Abs(x) [if] y = If<then_branch = t () => (float[2] h) "
        "{ [a] h = Relu(x) }, else_branch = e () => (float[2] q) { [b] q = Neg(x) }>(c) }"
    )


@case("node", "missing-import")
def missing_import(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = Relu(x) }", '<ir_version: 9, opset_import: ["ai.onnx.ml" : 3]>\n'
    )


@case("graph", "empty-graph")
def empty_graph(folder: Path) -> onnx.ModelProto:
    model = relu()
    del model.graph.node[:]
    model.graph.output[0].name = "x"
    return model


@case("graph", "no-output")
def no_outputs(folder: Path) -> onnx.ModelProto:
    model = relu()
    del model.graph.output[:]
    return model


@case("graph", "default-type")
def input_and_initializer(folder: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.INT64, [2, 3]))
    return model


@case("model", "ir-version")
def ir_zero(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.ir_version = 0
    return model


@case("model", "ir-version")
def ir_too_new(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.ir_version = 99
    return model


@case("model", "opset-import")
def opset_zero(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.opset_import[0].version = 0
    return model


@case("model", "opset-version")
def opset_too_new(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.opset_import[0].version = 27
    return model


@case("model", "duplicate-import")
def imported_twice(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.opset_import.append(helper.make_opsetid("ai.onnx", 13))
    return model


@case("model", "opset-import")
def no_imports(folder: Path) -> onnx.ModelProto:
    model = relu()
    del model.opset_import[:]
    return model


@case("node", "unknown-operator")
def unknown_operator(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Rleu(x) }")


@case("node", "deprecated")
def deprecated_operator(folder: Path) -> onnx.ModelProto:
    return text("g (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1, 1, 2, 2}> { [a] y = Upsample(x, s) }")


@case("node", "arity")
def too_many_inputs(folder: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Relu(x, x) }")


@case("node", "missing-operand")
def left_out_input(folder: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = Add(x, x) }")
    model.graph.node[0].input[0] = ""
    return model


@case("node", "loop")
def loop_that_never_turns_false(folder: Path) -> onnx.ModelProto:
    return loop("bool yes = {1}", ", yes", "[c] more = Constant<value = bool {1}>()")


@case("node", "loop")
def loop_ended_by_data_only(folder: Path) -> onnx.ModelProto:
    body = "[s] s = ReduceSum<keepdims = 0>(v) [z] z = Constant<value = float {0.0}>() [c] more = Greater(s, z)"
    return loop("bool yes = {1}", ", yes", body)


@case("node", "loop")
def loop_of_computed_trips(folder: Path) -> onnx.ModelProto:
    model = loop("int64 a = {65536}, bool yes = {1}", "trips, yes")
    model.graph.node.insert(0, helper.make_node("Mul", ["a", "a"], ["trips"], name="times"))
    return model


@case("node", "loop")
def loops_in_loops(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) <int64 n = {10000}, bool yes = {1}> { [outer] y = Loop<body = b "
        "(int64 i, bool go, float[2] v) => (bool more, float[2] w) { [c] more = Identity(go) [inner] w = Loop<body = d "
        "(int64 j, bool on, float[2] s) => (bool again, float[2] t) { [e] again = Identity(on) [f] t = Relu(s) }>"
        "(n, yes, v) }>(n, yes, x) }"
    )


@case("node", "allocation")
def expand_4_tib(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[1] x) => (float[N] y) <int64[2] s = {1048576, 1048576}> "
        "{ [a] h = Expand(x, s)  [b] m = ReduceMax<keepdims = 0>(h)  [c] y = Add(x, m) }"
    )


@case("node", "allocation")
def tile_of_a_free_batch(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[N,4] x) => (float[N] y) <int64[2] r = {1, 2147483648}> "
        "{ [a] h = Tile(x, r)  [b] y = ReduceMax<keepdims = 0, axes = [1]>(h) }"
    )


@case("node", "allocation")
def range_of_a_tibibyte(folder: Path) -> onnx.ModelProto:
    return text(
        "g (int64 x) => (int64 y) <int64 a = {0}, int64 b = {137438953472}, int64 c = {1}> "
        "{ [a] h = Range(a, b, c)  [b] m = ReduceMax<keepdims = 0>(h)  [c] y = Add(x, m) }"
    )


@case("node", "allocation")
def doubling(folder: Path) -> onnx.ModelProto:
    steps = "".join(f" [n{i}] v{i + 1} = Concat<axis = 0>(v{i}, v{i})" for i in range(40))
    return text(f"g (float[4] x) => (float y) {{ [s] v0 = Identity(x){steps} [m] y = ReduceMax<keepdims = 0>(v40) }}")


@case("node", "allocation")
def doubling_of_a_free_dimension(folder: Path) -> onnx.ModelProto:
    steps = "".join(f" [n{i}] v{i + 1} = Concat<axis = 0>(v{i}, v{i})" for i in range(40))
    return text(f"g (float[N] x) => (float y) {{ [s] v0 = Identity(x){steps} [m] y = ReduceMax<keepdims = 0>(v40) }}")


@case("node", "allocation")
def allocation_in_a_function(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[1] x) => (float y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F (a) => (b) { [s] s = Constant<value = int64[2] {1048576, 1048576}>() '
        "[e] h = Expand(a, s) [f] b = ReduceMax<keepdims = 0>(h) }",
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("node", "allocation")
def allocation_in_a_branch(folder: Path) -> onnx.ModelProto:
    return text(
        "g (bool c, float[1] x) => (float y) <int64[2] s = {1048576, 1048576}> { [if] y = If<then_branch = t () => "
        "(float p) { [a] h = Expand(x, s) [m] p = ReduceMax<keepdims = 0>(h) }, else_branch = e () => (float q) "
        "{ [b] q = ReduceMax<keepdims = 0>(x) }>(c) }"
    )


@case("graph", "allocation")
def input_of_a_tebibyte(folder: Path) -> onnx.ModelProto:
    return relu("1048576,1048576")


@case("node", "index")
def gather_computed_index(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[3,2] x) => (float[2] y) <int64 i = {-2}, int64 two = {2}> "
        "{ [m] j = Mul(i, two)  [a] y = Gather<axis = 0>(x, j) }"
    )


@case("node", "index")
def scatter_out_of_range(folder: Path) -> onnx.ModelProto:
    return text("g (float[3,2] x, float[1,2] u) => (float[3,2] y) <int64[1,1] i = {3}> { [a] y = ScatterND(x, i, u) }")


@case("node", "index")
def slice_step_zero(folder: Path) -> onnx.ModelProto:
    return text(
        "g (float[3] x) => (float[N] y) <int64[1] s = {0}, int64[1] e = {3}, int64[1] a = {0}, int64[1] z = {0}> "
        "{ [a] y = Slice(x, s, e, a, z) }"
    )


@case("graph", "no-type")
def untyped_input(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.input[0].ClearField("type")
    return model


@case("graph", "undefined-value")
def branch_reads_nothing(folder: Path) -> onnx.ModelProto:
    return text(
        "g (bool c, float[2] x) => (float[2] y) { [if] y = If<then_branch = t () => (float[2] p) "
        "{ [a] p = Relu(nobody) }, else_branch = e () => (float[2] q) { [b] q = Neg(x) }>(c) }"
    )


@case("graph", "unnamed-graph")
def unnamed_graph(folder: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.name = ""
    return model


@case("model", "unreadable")
def nested_400_deep(folder: Path) -> bytes:
    # By hand: the onnx package itself does not build it.
    model, graph = 7, 1
    inner = b""
    for _ in range(400):
        inner = _field(graph, _field(5, _field(6, inner)))  # node, attribute, graph
    return _field(model, inner)


def _field(number: int, data: bytes) -> bytes:
    """One length-delimited field of protobuf."""
    size, length = b"", len(data)
    while True:
        size += bytes([length & 0x7F | (0x80 if length > 0x7F else 0)])
        length >>= 7
        if not length:
            return bytes([number << 3 | 2]) + size + data
