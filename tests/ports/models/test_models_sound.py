"""Models that look wrong and are not: ONNX Runtime runs each, so that the examination refuses none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from assay.backends.onnx_loader import load_checked, signature_of
from assay.backends.onnx_reference import Reference
from assay.core.flow import Flow
from assay.core.model_finding import Severity
from assay.models.examination.steps import examine
from assay.models.onnx_file import open_model
from assay.testing.broken_models import built
from assay.testing.broken_models.craft import HEAD, sparse, text

OWN = HEAD.replace("17]", '17, "own" : 1]')


def opset(version: int) -> str:
    return HEAD.replace("17]", f"{version}]")


def attribute_left_out() -> onnx.ModelProto:
    """The operator in the function has a default of its own."""
    return text(
        "g (float[2,3] x) => (float[2,3] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F <slope> (a) => (b) { [f] b = LeakyRelu<alpha: float = @slope>(a) }',
        OWN,
    )


def imported_twice() -> onnx.ModelProto:
    model = attribute_left_out()
    model.opset_import.add(domain="", version=17)
    model.functions[0].opset_import.add(domain="", version=17)
    return model


def sparse_weight() -> onnx.ModelProto:
    return sparse(np.array([1, 4], np.int64), [2, 3])


def sparse_weight_times_rows() -> onnx.ModelProto:
    """Inference reads its shape."""
    model = sparse_weight()
    model.graph.node[0].op_type = "MatMul"
    model.graph.sparse_initializer[0].dims[:] = [3, 2]
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 2
    return model


def foreign_operators() -> onnx.ModelProto:
    """Of ONNX Runtime's own domain: onnx has no schema of them."""
    return text(
        "g (float[2,4] x) => (float[2,4] y) <float[4] s = {1, 1, 1, 1}, float[4] b = {0, 0, 0, 0}> "
        "{ [a] h = com.microsoft.BiasGelu(x, b) [c] i = com.microsoft.FastGelu(h) "
        "[d] y, m, v, t = com.microsoft.SkipLayerNormalization(i, x, s, b) }",
        HEAD.replace("17]", '17, "com.microsoft" : 1]'),
    )


def foreign_result_to_an_operator() -> onnx.ModelProto:
    """What follows from a value that onnx knows nothing of."""
    return text(
        "g (float[2,4] x) => (float[N] y) <int64[1] s = {-1}> { [a] h = com.microsoft.QuickGelu<alpha = 1.7>(x) "
        "[b] i = MatMul(h, w) [c] y = Reshape(i, s) } ".replace(
            "int64[1] s", "float[4,1] w = {1, 1, 1, 1}, int64[1] s"
        ),
        HEAD.replace("17]", '17, "com.microsoft" : 1]'),
    )


def classical() -> onnx.ModelProto:
    return text(
        "g (float[2,3] x) => (float[2,1] y) { [a] h = ai.onnx.ml.Scaler<offset = [1.0, 2.0, 3.0], scale = [0.5, 0.5, 0.5]>(x) "
        "[b] y = ai.onnx.ml.LinearRegressor<coefficients = [1.0, 2.0, 3.0], intercepts = [0.5]>(h) }",
        HEAD.replace("17]", '17, "ai.onnx.ml" : 3]'),
    )


def sequences() -> onnx.ModelProto:
    return text(
        "g (float[4,2] x) => (float[A,B] y, int64 n) <int64 one = {1}> { [a] s = SplitToSequence<axis = 0>(x) "
        "[b] e = SequenceAt(s, one) [c] t = SequenceInsert(s, e) [d] y = ConcatFromSequence<axis = 0>(t) [e] n = SequenceLength(t) }"
    )


def optionals() -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y, bool b) { [a] o = Optional(x) [b] y = OptionalGetElement(o) [c] b = OptionalHasElement(o) }"
    )


def weights_among_the_inputs() -> onnx.ModelProto:
    """Before IR version 4, every one of them."""
    return text(
        "g (float[2,3] x, float[3] w) => (float[2,3] y) <float[3] w = {1, 2, 3}> { [a] y = Add(x, w) }",
        '<ir_version: 3, opset_import: ["" : 8]>\n',
    )


def old_weights_that_are_no_inputs() -> onnx.ModelProto:
    return text(
        "g (float[N,3] x) => (float[N,3] y) <float[3] s = {0.1, 0.2, 0.3}, uint8[3] z = {0, 128, 255}> "
        "{ [q] h = QuantizeLinear<axis = 1>(x, s, z) [d] y = DequantizeLinear<axis = 1>(h, s, z) }",
        '<ir_version: 3, opset_import: ["" : 13]>\n',
    )


def four_bits() -> onnx.ModelProto:
    model = text(
        "g (float[2,3] x) => (float[2,3] y) <float[3] s = {0.1, 0.2, 0.3}> { [a] h = DequantizeLinear<axis = 1>(w, s, z) "
        "[b] y = Mul(x, h) }",
        '<ir_version: 10, opset_import: ["" : 21]>\n',
    )
    for name, dims, count in (("w", [2, 3], 3), ("z", [3], 2)):
        kind = onnx.TensorProto.INT4
        model.graph.initializer.add(name=name, dims=dims, data_type=kind, raw_data=bytes([0x21] * count))
    return model


def branches_of_two_ranks() -> onnx.ModelProto:
    model = text(
        "g (bool c, float[2,3] x) => (float y) <int64[1] axis = {1}> { [i] y = If<then_branch = t () => (float[2,3] p) "
        "{ [a] p = Relu(x) }, else_branch = e () => (float[2] q) { [b] q = ReduceSum<keepdims = 0>(x, axis) }>(c) }"
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


def reshape_of_nothing() -> onnx.ModelProto:
    return text("g (float[0,3] x) => (float[A,B] y) <int64[2] s = {0, 3}> { [a] y = Reshape(x, s) }")


def old_slope() -> onnx.ModelProto:
    """Before opset 7, a slope for each channel."""
    return text(
        "g (float[1,2,3,3] x) => (float[1,2,3,3] y) <float[2] s = {0.1, 0.2}> { [a] y = PRelu(x, s) }", opset(6)
    )


def region_that_is_not_read() -> onnx.ModelProto:
    """Its numbers are no scales."""
    return text(
        "g (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[8] r = {0, 0, 0, 0, 0, 0, 1, 1}, float[4] s = {1, 1, 2, 2}> "
        "{ [a] y = Resize(x, r, s) }"
    )


def old_scales() -> onnx.ModelProto:
    return text(
        "g (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1, 1, 2, 2}> { [a] y = Resize(x, s) }", opset(10)
    )


def size_of_minus_one() -> onnx.ModelProto:
    """Where exporters mean "any"."""
    return text(
        "g (bool c, float[N,3] x) => (float[-1,3] y) { [i] y = If<then_branch = t () => (float[-1,3] p) { [a] p = Relu(x) }, "
        "else_branch = e () => (float[-1,3] q) { [b] q = Neg(x) }>(c) }"
    )


SOUND: list[Callable[[], onnx.ModelProto]] = [
    attribute_left_out, imported_twice, sparse_weight, sparse_weight_times_rows, region_that_is_not_read,
    old_scales, size_of_minus_one, foreign_operators, foreign_result_to_an_operator, classical, sequences, optionals,
    weights_among_the_inputs, old_weights_that_are_no_inputs, four_bits, branches_of_two_ranks, reshape_of_nothing,
]  # fmt: skip


def test_what_the_standard_takes_and_onnx_runtime_no_longer_does(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(old_slope().SerializeToString())
    assert examine(path).of(Severity.INVALID) == []


@pytest.mark.parametrize(
    "name",
    [
        "weight_that_is_no_input", "untyped_output", "unnamed_graph", "deprecated_operator_with_a_body",
    ],
)  # fmt: skip
def test_what_onnx_checker_refuses_and_onnx_runtime_runs(name: str, tmp_path: Path) -> None:
    path = built(name, tmp_path)
    assert open_model(path).outputs[0].dtype == "float32"
    onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [output.dtype for output in signature_of(load_checked(path)).outputs] == ["float32"]
    oracle = Reference().lower(path, Flow("reference", "reference"))
    assert oracle.run({spec.name: np.ones(spec.shape, np.float32) for spec in open_model(path).inputs})


@pytest.mark.parametrize("make", SOUND)
def test_is_not_refused(make: Callable[[], onnx.ModelProto], tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(make().SerializeToString())
    look = examine(path)
    assert look.of(Severity.INVALID) == []
    assert "step-failed" not in {finding.code for finding in look.findings}
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {node_arg.name: _value(node_arg.type, node_arg.shape) for node_arg in session.get_inputs()}
    assert session.run(None, feeds)


def _value(kind: str, shape: list[int | str]) -> np.ndarray:
    return np.ones([size if isinstance(size, int) else 2 for size in shape], bool if "bool" in kind else np.float32)
