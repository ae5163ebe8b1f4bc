"""Models that a transform cannot serve: one clear sentence each, never a model that is quietly as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from assay import plugins
from assay.errors import InvalidModel, Unsupported, UsageError
from assay.ports import Tensors
from assay.transforms.onnx_files import refused

pytestmark = pytest.mark.filterwarnings("ignore")
Apply = Callable[..., Path]
INTEGERS = "g (int64[n] x) => (int64[n] y) { y = Add(x, x) }"
SIZES = "g (float[1, 4] x) => (int64[2] y) { y = Shape(x) }"
SHAPES = "g (float[n, 4] x) => (int64[2] y) { y = Shape(x) }"
PRODUCT = (
    "g (float[n, 4] x) => (float[n, 4] y) <float[4, 4] w = {1,2,3,4, 5,6,7,8, 9,8,7,6, 5,4,3,2}> { y = MatMul(x, w) }"
)
SAMPLES: Sequence[Tensors] = [{"x": np.ones((1, 4), np.float32)}, {"x": -np.ones((1, 4), np.float32)}]


@pytest.fixture
def apply(tmp_path: Path) -> Apply:
    def _apply(
        name: str, text: str, argument: str = "", *, opset: int = 17, ir: int = 8, samples: Sequence[Tensors] = SAMPLES
    ) -> Path:
        path = tmp_path / "given.onnx"
        onnx.save(parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {opset}]>\n{text}'), path)
        own = tmp_path / "own"
        own.mkdir()
        transform = plugins.load(plugins.TRANSFORMS, name)()
        return transform.apply(path, own, argument, samples)

    return _apply


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("fp16", INTEGERS, "fp16 finds no float32 input or weight to convert"),
        ("int8-qdq", SHAPES, "int8-qdq finds nothing to quantize in this model (it has Shape)"),
        ("int8-dynamic", SHAPES, "int8-dynamic finds nothing to quantize in this model (it has Shape)"),
        ("int8-qdq", SIZES, "no operator is left of this model: there is nothing to compute in int8"),
    ],
)
def test_nothing_to_do_is_no_success(apply: Apply, name: str, text: str, message: str) -> None:
    with pytest.raises(Unsupported) as caught:
        apply(name, text)
    assert message in str(caught.value)


def test_the_model_that_calibrates_says_nothing(apply: Apply, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unsupported):
        apply("int8-qdq", SHAPES)
    assert "initializer" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["int8-qdq", "int8-nncf", "int8-dynamic"])
def test_an_old_opset_is_not_lifted_without_a_word(apply: Apply, name: str) -> None:
    with pytest.raises(
        Unsupported, match=r"needs opset 1[13] and the model has 9: convert it first \(--transform opset:1[13]\)"
    ):
        apply(name, PRODUCT, opset=9)


def test_an_opset_that_the_library_cannot_read(apply: Apply) -> None:
    with pytest.raises(Unsupported, match=r"till opset 26; convert it first \(--transform opset:N\)") as caught:
        apply("int8-qdq", PRODUCT, opset=27, ir=13)
    assert caught.value.cause == "needs_opset"


@pytest.mark.parametrize("argument", ["", "x", "3", "999", "-17"])
def test_opset_wants_a_number(apply: Apply, argument: str) -> None:
    with pytest.raises(UsageError, match="takes a number from 7 to"):
        apply("opset", PRODUCT, argument)


def test_opset_goes_down_with_its_ir_version(apply: Apply) -> None:
    written = onnx.load(apply("opset", PRODUCT, "17", opset=27, ir=13))
    assert (written.opset_import[0].version, written.ir_version) == (17, 8)


def test_an_operator_without_a_form_in_that_opset(apply: Apply) -> None:
    with pytest.raises(Unsupported, match=r"opset:9 cannot serve this model: .*Gelu"):
        apply("opset", "g (float[n] x) => (float[n] y) { y = Gelu(x) }", "9", opset=20, ir=9)


def test_per_channel_has_a_scale_for_each_channel(apply: Apply, tmp_path: Path) -> None:
    graph = onnx.load(apply("int8-qdq", PRODUCT, "per-channel")).graph
    scales = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer if "w_scale" in tensor.name}
    assert set(scales.values()) == {(4,)}


@pytest.mark.parametrize("kind", ["per-tensor", "per-channel"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_symmetric_quantizes_around_0_only(apply: Apply, kind: str, symmetric: bool) -> None:
    skewed: Sequence[Tensors] = [{"x": np.ones((1, 4), np.float32)}, {"x": -0.1 * np.ones((1, 4), np.float32)}]
    made = apply("int8-qdq", PRODUCT, kind + "-symmetric" * symmetric, samples=skewed)
    points = [
        onnx.numpy_helper.to_array(tensor)
        for tensor in onnx.load(made).graph.initializer
        if "zero_point" in tensor.name
    ]
    assert ({int(value) for point in points for value in point.reshape(-1)} == {0}) == symmetric


def test_fp16_keeps_the_ends_unless_told(apply: Apply) -> None:
    graph = onnx.load(apply("fp16", PRODUCT)).graph
    assert {value.type.tensor_type.elem_type for value in [*graph.input, *graph.output]} == {onnx.TensorProto.FLOAT}
    assert {tensor.data_type for tensor in graph.initializer} == {onnx.TensorProto.FLOAT16}


def test_fp16_converts_the_stored_number_that_a_branch_answers_with(apply: Apply) -> None:
    branches = (
        "g (bool c, float[2] x) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] a) <float[2] a = {1, 2}> { }, "
        "else_branch = e () => (float[2] b) { b = Add(x, x) }> }"
    )
    model = onnx.load(apply("fp16", branches, samples=[{"c": np.asarray(True), "x": np.ones(2, np.float32)}]))
    onnx.checker.check_model(model, full_check=True)
    branch = next(
        attribute.g for node in model.graph.node for attribute in node.attribute if attribute.name == "then_branch"
    )
    assert [tensor.data_type for tensor in branch.initializer] == [onnx.TensorProto.FLOAT16]


def test_fp16_keeps_a_finite_number_of_a_branch_finite(apply: Apply) -> None:
    branches = (
        "g (bool c, float[3] x) => (float[3] y) { y = If (c) <then_branch = t () => (float[3] a) "
        "<float[3] a = {-1e9, 1e9, 1e-12}> { }, else_branch = e () => (float[3] b) { b = Add(x, x) }> }"
    )
    model = onnx.load(apply("fp16", branches, samples=[{"c": np.asarray(True), "x": np.ones(3, np.float32)}]))
    branch = next(
        attribute.g for node in model.graph.node for attribute in node.attribute if attribute.name == "then_branch"
    )
    stored = onnx.numpy_helper.to_array(branch.initializer[0])
    largest = np.finfo(np.float16).max
    assert (stored.dtype, stored[:2].tolist()) == (np.float16, [-largest, largest])
    assert stored[2] > 0, "the least that the converter makes of a positive number"


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    noise = tmp_path / "noise.onnx"
    noise.write_bytes(b"nothing" * 9)
    with pytest.raises(InvalidModel, match="cannot be read as ONNX"):
        plugins.load(plugins.TRANSFORMS, "fp16")().apply(noise, tmp_path, "", ())


def test_an_infinite_mask_has_no_grid(apply: Apply) -> None:
    masked = (
        "g (float[2, 4] x) => (float[2, 4] y) <float[4, 4] w = {1,2,3,4, 5,6,7,8, 9,8,7,6, 5,4,3,2}, float zero = {0.0}> "
        "{ m = MatMul(x, w)\n low = Log(zero)\n n = Add(m, low)\n y = Softmax(n) }"
    )
    samples = [{"x": np.ones((2, 4), np.float32)}]
    with pytest.raises(
        Unsupported, match=r"int8-qdq finds infinite values where it gives .*: no grid of integers holds"
    ):
        apply("int8-qdq", masked, samples=samples)


def test_a_mistake_in_the_librarys_code_is_said_to_be_one_with_its_place() -> None:
    with pytest.raises(TypeError) as caught:
        onnx.helper.make_tensor_type_proto(None, None)  # type: ignore[arg-type]
    refusal = str(refused("int8-qdq", caught.value))
    assert refusal.startswith("int8-qdq cannot serve this model: TypeError in onnx's make_tensor_type_proto: ")
    assert str(refused("int8-qdq", RuntimeError("no kernel"))) == "int8-qdq cannot serve this model: no kernel"
