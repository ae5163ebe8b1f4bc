"""Models that are wrong in one way each: sizes, constants and calls that onnx's own checks let pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto

from assay.testing.broken_models.craft import HEAD, case, external, relu, text, with_weight

_OWN = HEAD.replace("17]", '17, "own" : 1]')
_FUNCTION = (
    '<domain: "own", opset_import: ["" : 17]> F <slope> (a) => (b) { [f] b = LeakyRelu<alpha: float = @slope>(a) }'
)


def _calling(call: str, outputs: str = "y") -> onnx.ModelProto:
    return text(f"g (float[2] x) => (float[2] y) {{ [a] {outputs} = own.F{call} }}\n{_FUNCTION}", _OWN)


@case("node", "call-arity")
def function_of_too_many_inputs(_: Path) -> onnx.ModelProto:
    return _calling("<slope = 0.5>(x, x)")


@case("node", "call-arity")
def function_of_too_many_outputs(_: Path) -> onnx.ModelProto:
    return _calling("<slope = 0.5>(x)", "y, z")


@case("attribute", "call-missing")
def function_without_its_attribute(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (int64[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F <kind> (a) => (b) { [f] b = Cast<to: int = @kind>(a) }',
        _OWN,
    )


@case("attribute", "call-unknown")
def function_with_a_foreign_attribute(_: Path) -> onnx.ModelProto:
    return _calling("<slope = 0.5, speed = 3>(x)")


@case("attribute", "no-value")
def attribute_without_value(_: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 0.1>(x) }")
    model.graph.node[0].attribute[0].ClearField("f")
    return model


@case("function", "function-import")
def function_imports_twice(_: Path) -> onnx.ModelProto:
    model = _calling("<slope = 0.5>(x)")
    model.functions[0].opset_import.add(domain="ai.onnx", version=13)
    return model


@case("function", "duplicate-function")
def two_functions_of_one_name_in_an_old_model(_: Path) -> onnx.ModelProto:
    model = _calling("<slope = 0.5>(x)")
    model.functions.append(model.functions[0])
    model.ir_version = 3
    return model


@case("graph", "data-segments")
def stored_in_segments(_: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].segment.end = 24
    return model


@case("graph", "data-undecided")
def external_and_inside(folder: Path) -> onnx.ModelProto:
    model = external(folder, "w.bin")
    model.graph.initializer[0].data_location = TensorProto.DEFAULT
    return model


@case("graph", "data-length")
def data_too_long(_: Path) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.initializer[0].raw_data += bytes(4)
    return model


@case("graph", "data-range")
def a_byte_that_is_no_truth(_: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.initializer.add(name="w", dims=[2], data_type=TensorProto.BOOL, raw_data=b"\x01\x07")
    return model


@case("graph", "no-type")
def element_type_that_is_none(_: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.value_info.add(name="h").type.tensor_type.elem_type = 99
    return model


@case("graph", "no-type")
def element_type_inside_that_is_none(_: Path) -> onnx.ModelProto:
    model = relu()
    model.graph.input[0].type.map_type.key_type = TensorProto.INT64
    model.graph.input[0].type.map_type.value_type.tensor_type.elem_type = -5
    return model


@case("graph", "overflow")
def input_of_endless_size(_: Path) -> onnx.ModelProto:
    return relu("4611686018427387904,8")


@case("model", "external-checksum")
def external_checksum(folder: Path) -> onnx.ModelProto:
    return external(folder, "w.bin", checksum="0" * 40)


@case("model", "external-number")
def external_offset_that_is_a_word(folder: Path) -> onnx.ModelProto:
    return external(folder, "w.bin", offset="four")


@case("model", "external-negative")
def external_offset_below_zero(folder: Path) -> onnx.ModelProto:
    return external(folder, "w.bin", offset="-4")


@case("model", "external-entries")
def external_location_twice(folder: Path) -> onnx.ModelProto:
    model = external(folder, "w.bin")
    model.graph.initializer[0].external_data.add(key="location", value="w.bin")
    return model


@case("attribute", "attribute-word")
def padding_that_is_no_word(_: Path) -> onnx.ModelProto:
    return _conv("4,4,3,3", 'auto_pad = "SAME"')


@case("attribute", "attribute-size")
def group_of_zero(_: Path) -> onnx.ModelProto:
    return _conv("4,4,3,3", "group = 0")


@case("node", "inference")
def stride_of_zero(_: Path) -> onnx.ModelProto:
    return _conv("4,4,3,3", "strides = [0, 1]")


@case("node", "inference")
def cast_to_nothing(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Cast<to = 99>(x) }")


def _conv(weights: str, attributes: str = "group = 1") -> onnx.ModelProto:
    return text(
        f"g (float[1,4,5,5] x, float[{weights}] w) => (float[N,C,H,W] y) {{ [a] y = Conv<{attributes}>(x, w) }}"
    )


@case("node", "weight-channels")
def conv_of_other_channels(_: Path) -> onnx.ModelProto:
    return _conv("4,3,3,3")


@case("node", "group")
def groups_that_do_not_divide(_: Path) -> onnx.ModelProto:
    return _conv("3,2,3,3", "group = 2")


@case("node", "no-room")
def window_larger_than_its_input(_: Path) -> onnx.ModelProto:
    return text("g (float[1,1,3,3] x) => (float[N,C,H,W] y) { [a] y = MaxPool<kernel_shape = [9, 9]>(x) }")


@case("node", "resize-scale")
def scale_below_zero(_: Path) -> onnx.ModelProto:
    return text("g (float[1,1,3,2] x) => (float[N,C,H,W] y) <float[4] s = {1, 1, -2, 1}> { [a] y = Resize(x, , s) }")


@case("node", "reshape")
def reshape_to_another_count(_: Path) -> onnx.ModelProto:
    return text("g (float[2,3] x) => (float[N,M] y) <int64[2] s = {4, 2}> { [a] y = Reshape(x, s) }")


@case("node", "recurrent-input")
def lstm_of_other_inputs(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[5,1,3] x, float[1,8,4] w, float[1,8,2] r) => (float[N,D,B,H] y) { [a] y = LSTM<hidden_size = 2>(x, w, r) }"
    )


@case("node", "channel-values")
def instance_norm_of_other_channels(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[1,3,4] x, float[5] s, float[3] b) => (float[N,C,L] y) { [a] y = InstanceNormalization(x, s, b) }"
    )


@case("node", "broadcast")
def slope_that_does_not_broadcast(_: Path) -> onnx.ModelProto:
    return text("g (float[2,3] x, float[4] s) => (float[N,M] y) { [a] y = PRelu(x, s) }")


@case("node", "blocks")
def channels_that_make_no_blocks(_: Path) -> onnx.ModelProto:
    return text("g (float[1,3,2,2] x) => (float[N,C,H,W] y) { [a] y = DepthToSpace<blocksize = 2>(x) }")


@case("node", "bound")
def bound_that_is_no_scalar(_: Path) -> onnx.ModelProto:
    return text("g (float[3] x) => (float[N] y) <float[2] low = {0, 1}> { [a] y = Clip(x, low) }")


@case("node", "zero-scale")
def quantizing_scale_of_zero(_: Path) -> onnx.ModelProto:
    return _quantizing("float s = {0.0}, uint8 z = {0}")


@case("node", "zero-points")
def one_zero_point_for_three_scales(_: Path) -> onnx.ModelProto:
    return _quantizing("float[3] s = {0.1, 0.2, 0.3}, uint8[2] z = {0, 0}")


@case("node", "scale-count")
def two_scales_for_three_channels(_: Path) -> onnx.ModelProto:
    return _quantizing("float[2] s = {0.1, 0.2}, uint8[2] z = {0, 0}")


@case("node", "scale")
def quantizing_scale_of_nan(_: Path) -> onnx.ModelProto:
    model = _quantizing("float s = {0.0}, uint8 z = {0}")
    model.graph.initializer[0].CopyFrom(onnx.helper.make_tensor("s", TensorProto.FLOAT, [], [float("nan")]))
    return model


@case("node", "inference")
def zero_point_of_another_type(_: Path) -> onnx.ModelProto:
    return text(
        "g (uint8[2,3] x) => (float[N,M] y) <float s = {0.1}, int8 z = {0}> { [a] y = DequantizeLinear(x, s, z) }"
    )


@case("node", "variance")
def variance_below_zero(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[1,2,3] x) => (float[N,C,L] y) <float[2] s = {1, 1}, float[2] v = {1, -0.5}> "
        "{ [a] y = BatchNormalization(x, s, s, s, v) }"
    )


@case("node", "zero-divisor")
def whole_numbers_by_zero(_: Path) -> onnx.ModelProto:
    return text("g (int64[2] x) => (int64[2] y) <int64 z = {0}> { [a] y = Div(x, z) }")


def _quantizing(constants: str) -> onnx.ModelProto:
    return text(f"g (float[2,3] x) => (uint8[N,M] y) <{constants}> {{ [a] y = QuantizeLinear(x, s, z) }}")
