"""Models that are wrong in one way each: names, order, shapes, stored values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from assay.testing.broken_models.craft import case, external, relu, sparse, text, with_weight


@case("graph", "unsorted")
def unsorted_nodes(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [late] y = Relu(h)  [early] h = Abs(x) }")


@case("graph", "missing-output")
def output_nobody_produces(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y, float[2] z) { [a] y = Relu(x) }")


@case("graph", "defined-twice")
def duplicate_value(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Relu(x)  [b] y = Abs(x) }")


@case("graph", "defined-over")
def computed_input(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] x = Relu(x)  [b] y = Abs(x) }")


@case("graph", "declared-shape")
def declared_shape(_: Path) -> onnx.ModelProto:
    return text("g (float[2,3] x) => (float[2,4] y) { [a] y = Relu(x) }")


@case("graph", "declared-type")
def declared_dtype(_: Path) -> onnx.ModelProto:
    return text("g (float[2,3] x) => (int64[2,3] y) { [a] y = Relu(x) }")


@case("graph", "declared-type")
def value_declared_unlike_the_input(_: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.value_info.append(helper.make_tensor_value_info("x", TensorProto.INT64, [2, 3]))
    return model


@case("graph", "data-length")
def raw_data_short(_: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].raw_data = b"\0" * 8
    return model


@case("graph", "not-finite", zoo=True)
def nan_weights(_: Path) -> onnx.ModelProto:
    return with_weight(np.array([[1, np.nan, 3], [4, 5, 6]], np.float32), "Mul")


@case("graph", "not-finite", zoo=True)
def nan_in_external_data(folder: Path) -> onnx.ModelProto:
    model = external(folder, "w.bin")
    (folder / "w.bin").write_bytes(np.full(6, np.nan, np.float32).tobytes())
    return model


@case("graph", "not-finite", zoo=True)
def infinite_weights(_: Path) -> onnx.ModelProto:
    return with_weight(np.array([[1, np.inf, 3], [4, 5, 6]], np.float32), "Mul")


@case("graph", "not-finite", zoo=True)
def nan_bfloat16(_: Path) -> onnx.ModelProto:
    model = text("g (bfloat16[2] x) => (bfloat16[2] y) { [a] y = Mul(x, w) }")
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.BFLOAT16, [2], b"\x80\x3f\xc0\x7f", raw=True))
    return model


@case("graph", "data-storage")
def stored_twice(_: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].float_data.extend([1.0] * 6)
    return model


@case("graph", "negative-dimension")
def negative_dimension(_: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].dims[0] = -2
    return model


@case("graph", "negative-dimension")
def negative_input_dimension(_: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    return model


@case("graph", "overflow")
def dimensions_overflow(_: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].dims[:] = [2**33, 2**33]
    return model


@case("graph", "data-length")
def dimensions_mismatch(_: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].dims[:] = [4, 3]
    return model


@case("graph", "sparse")
def sparse_index_outside(_: Path) -> onnx.ModelProto:
    return sparse(np.array([1, 99], np.int64), [2, 3])


@case("graph", "declared-size", zoo=True)
def sparse_that_is_huge(_: Path) -> onnx.ModelProto:
    model = sparse(np.array([1, 2], np.int64), [2**20, 2**20])
    model.graph.node[0].CopyFrom(
        helper.make_node("Relu", ["x"], ["y"], name="a")
    )  # nobody reads it, and runtimes make it dense
    return model


@case("graph", "cycle")
def cyclic(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] p = Add(x, q)  [b] q = Relu(p)  [c] y = Abs(q) }")


@case("graph", "shadowed-value")
def shadowed_in_branch(_: Path) -> onnx.ModelProto:
    return text(
        "g (bool c, float[2] x) => (float[2] y) { [h] h = Abs(x) [if] y = If<then_branch = t () => (float[2] h) "
        "{ [a] h = Relu(x) }, else_branch = e () => (float[2] q) { [b] q = Neg(x) }>(c) }"
    )


@case("graph", "empty-graph")
def empty_graph(_: Path) -> onnx.ModelProto:
    model = relu()
    del model.graph.node[:]
    model.graph.output[0].name = "x"
    return model


@case("graph", "no-output")
def no_outputs(_: Path) -> onnx.ModelProto:
    model = relu()
    del model.graph.output[:]
    return model


@case("graph", "default-type")
def input_and_initializer(_: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.INT64, [2, 3]))
    return model


@case("graph", "declared-size", zoo=True)
def input_of_a_tebibyte(_: Path) -> onnx.ModelProto:
    return relu("1048576,1048576")


@case("graph", "missing-field")
def untyped_input(_: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.input[0].ClearField("type")
    return model


@case("graph", "undefined-value")
def branch_reads_nothing(_: Path) -> onnx.ModelProto:
    return text(
        "g (bool c, float[2] x) => (float[2] y) { [if] y = If<then_branch = t () => (float[2] p) "
        "{ [a] p = Relu(nobody) }, else_branch = e () => (float[2] q) { [b] q = Neg(x) }>(c) }"
    )


@case("graph", "initializer-no-input", zoo=True)
def weight_that_is_no_input(_: Path) -> onnx.ModelProto:
    """Before IR version 4, every weight was one."""
    model = with_weight(np.ones((2, 3), np.float32))
    model.ir_version, model.opset_import[0].version = 3, 8
    return model


@case("graph", "missing-field", zoo=True)
def untyped_output(_: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.output[0].ClearField("type")
    return model


@case("graph", "missing-field", zoo=True)
def unnamed_graph(_: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.name = ""
    return model
