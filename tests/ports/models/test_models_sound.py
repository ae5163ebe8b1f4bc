"""Models that look wrong and are not: ONNX Runtime runs each, so that the examination refuses none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from assay.core.model_finding import Severity
from assay.models.examination.steps import examine
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
    old_scales, size_of_minus_one,
]  # fmt: skip


def test_what_the_standard_takes_and_onnx_runtime_no_longer_does(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(old_slope().SerializeToString())
    assert examine(path).of(Severity.INVALID) == []


@pytest.mark.parametrize("make", SOUND)
def test_is_not_refused(make: Callable[[], onnx.ModelProto], tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(make().SerializeToString())
    assert examine(path).of(Severity.INVALID) == []
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {one.name: _value(one.type, one.shape) for one in session.get_inputs()}
    assert session.run(None, feeds)


def _value(kind: str, shape: list[int | str]) -> np.ndarray:
    return np.ones([size if isinstance(size, int) else 2 for size in shape], bool if "bool" in kind else np.float32)
