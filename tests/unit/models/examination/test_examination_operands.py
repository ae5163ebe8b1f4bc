"""What an operator cannot take and onnx's own checks let pass; beside each, what it can take."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from assay.core.model_finding import ModelFinding, Severity
from assay.core.model_finding_text import sentence
from assay.models.examination.steps import examine
from assay.testing.broken_models.craft import text

NUMBERS = "int32[3] x) => (int32[3] y) { [b] c = Cast<to = 6>(w) [a] y = Add(x, c) }"


def conv(weights: str, more: str = "group = 1", operator: str = "Conv") -> str:
    return f"g (float[1,4,8,8] x, float[{weights}] w) => (float[a,b,c,d] y) {{ [a] y = {operator}<{more}>(x, w) }}"


def lstm(weights: str, recurrence: str, more: str = "") -> str:
    return (
        f"g (float[T,N,3] x, float[{weights}] w, float[{recurrence}] r) => (float[a,b,c,d] y) "
        f"{{ [a] y = LSTM<hidden_size = 2{more}>(x, w, r) }}"
    )


def reshape(target: str, more: str = "", shape: str = "2,3") -> str:
    rank = target.count(",") + 1
    declared = ",".join("abcd"[:rank])
    return f"g (float[{shape}] x) => (float[{declared}] y) <int64[{rank}] t = {{{target}}}> {{ [a] y = Reshape{more}(x, t) }}"


def quantize(scales: str, count: str, axis: int = 1) -> str:
    return f"g (float[4,3] x) => (uint8[4,3] y) <float{count} s = {{{scales}}}> {{ [a] y = QuantizeLinear<axis = {axis}>(x, s) }}"


def normalize(variance: str) -> str:
    return (
        "g (float[N,2,4] x) => (float[N,2,4] y) <float[2] s = {1.0, 1.0}, float[2] v = {" + variance + "}> "
        "{ [a] y = BatchNormalization(x, s, s, s, v) }"
    )


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        (conv("4,3,3,3"), conv("4,4,3,3"), "in 1 groups, and its input has 4 channels"),
        (conv("4,1,3,3", "group = 3"), conv("4,1,3,3", "group = 4"), "its input has 4 channels"),
        (conv("6,1,3,3", "group = 4"), conv("8,1,3,3", "group = 4"), "do not divide the 6 channels"),
        (conv("4,4,3,3", "kernel_shape = [5, 5]"), conv("4,4,3,3", "kernel_shape = [3, 3]"), "says kernel_shape [5, 5]"),
        (conv("3,4,3,3", operator="ConvTranspose"), conv("4,3,3,3", operator="ConvTranspose"), "its input has 4 channels"),
        (conv("M,5,3,3"), conv("M,C,3,3"), "its input has 4 channels"),
        (lstm("1,8,7", "1,8,2"), lstm("1,8,3", "1,8,2"), "their last sizes differ"),
        (lstm("1,8,3", "1,6,2"), lstm("1,8,3", "1,8,2"), "4 gates of 2 values"),
        (lstm("1,12,3", "1,12,3"), lstm("1,8,3", "1,8,2"), "says hidden_size 2"),
        (reshape("4,2"), reshape("3,2"), "reshapes [2, 3], 6 values, to [4, 2]"),
        (reshape("4,-1"), reshape("-1,1"), "to [4, -1]"),
        (reshape("0,4"), reshape("0,-1"), "to [0, 4]"),
        (reshape("0,3", "<allowzero = 1>"), reshape("0,3", "<allowzero = 1>", "0,7"), "to [0, 3]"),
        (quantize("0.0", ""), quantize("0.1", ""), "a scale of 0"),
        (quantize("0.1, 0.2", "[2]"), quantize("0.1, 0.2, 0.3", "[3]"), "has 2 scales for axis 1"),
        (normalize("1.0, -0.5"), normalize("1.0, 0.0"), "variance of -0.5"),
    ],
)  # fmt: skip
def test_an_operand(wrong: str, right: str, message: str, tmp_path: Path) -> None:
    findings = looked_at(text(wrong), tmp_path)
    assert {finding.area.value for finding in findings} == {"node"}
    assert any(message in sentence(finding) for finding in findings)
    assert looked_at(text(right), tmp_path) == []


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        (conv("4,4,3,3", 'auto_pad = "SAME"'), conv("4,4,3,3", 'auto_pad = "VALID"'), "'SAME', and the operator takes"),
        (lstm("1,8,3", "1,8,2", ', direction = "up"'), lstm("1,8,3", "1,8,2", ', direction = "reverse"'), "is 'up'"),
        (conv("4,4,3,3", "group = 0"), conv("4,4,3,3", "group = 1"), "is 0, and"),
    ],
)
def test_a_word_or_number(wrong: str, right: str, message: str, tmp_path: Path) -> None:
    (finding,) = looked_at(text(wrong), tmp_path)
    assert finding.area == "attribute"
    assert message in sentence(finding)
    assert looked_at(text(right), tmp_path) == []


@pytest.mark.parametrize(
    ("dtype", "wrong", "right"),
    [
        (TensorProto.INT8, [1, 2, 400], [-128, 0, 127]),
        (TensorProto.UINT8, [-1, 0, 0], [0, 128, 255]),
        (TensorProto.UINT16, [0, 65536, 0], [0, 1, 65535]),
        (TensorProto.BOOL, [0, 1, 2], [0, 1, 1]),
        (TensorProto.FLOAT16, [-1, 0, 0], [0, 15360, 64512 + 512]),
        (TensorProto.UINT32, [2**32, 0, 0], [2**32 - 1, 0, 1]),
    ],
)
def test_a_stored_number_that_the_type_does_not_have(
    dtype: int, wrong: list[int], right: list[int], tmp_path: Path
) -> None:
    for numbers, kinds in ((wrong, {"data-range"}), (right, set())):
        model = text("g (" + NUMBERS)
        tensor = TensorProto(name="w", dims=[3], data_type=dtype)
        (tensor.uint64_data if dtype == TensorProto.UINT32 else tensor.int32_data).extend(numbers)
        model.graph.initializer.append(tensor)
        assert {finding.code for finding in looked_at(model, tmp_path)} == kinds


def test_truth_is_stored_as_0_or_1(tmp_path: Path) -> None:
    for data, count in ((b"\x00\x01\x07", 1), (b"\x00\x01\x01", 0)):
        model = text("g (" + NUMBERS)
        model.graph.initializer.append(helper.make_tensor("w", TensorProto.BOOL, [3], data, raw=True))
        findings = looked_at(model, tmp_path)
        assert [finding.code for finding in findings] == ["data-range"] * count


def test_a_matrix_and_a_vector_of_known_values_broadcast(tmp_path: Path) -> None:
    """onnx 1.23 takes the matrix for a vector where it follows values."""
    spread = (
        "g (int64[3,5] x) => (int64[3,5] y) <int64[3] a = {1, 2, 3}, int64[5] b = {1, 2, 3, 4, 5}, int64[1] one = {1}> "
        "{ c = Unsqueeze(a, one) d = Add(c, b) y = Add(d, x) }"
    )
    assert looked_at(text(spread), tmp_path) == []
    assert looked_at(text(spread.replace("int64[5] b = {1, 2, 3, 4, 5}", "int64[2] b = {1, 2}")), tmp_path)


def looked_at(model: onnx.ModelProto, folder: Path) -> list[ModelFinding]:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return [finding for finding in examine(path).findings if finding.severity is not Severity.REMARK]
