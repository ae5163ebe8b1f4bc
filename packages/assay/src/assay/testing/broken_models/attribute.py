"""Models that are wrong in one way each: attributes and the tensors in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from assay.testing.broken_models.craft import case, text


@case("attribute", "unknown-attribute")
def unknown_attribute(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = Relu<speed = 3>(x) }")


@case("attribute", "not-finite", zoo=True)
def nan_constant(_: Path) -> onnx.ModelProto:
    return relu_with_constant(np.array([1, np.nan], np.float32))


@case("attribute", "data-length")
def constant_too_long(_: Path) -> onnx.ModelProto:
    model = relu_with_constant(np.ones(2, np.float32))
    model.graph.node[0].attribute[0].t.raw_data = b"\0" * 12
    return model


@case("attribute", "attribute-value")
def attribute_of_two_values(_: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 0.1>(x) }")
    model.graph.node[0].attribute[0].i = 3
    return model


@case("attribute", "attribute-type")
def attribute_of_wrong_type(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 1>(x) }")


@case("attribute", "missing-attribute")
def attribute_missing(_: Path) -> onnx.ModelProto:
    return text("g (float[2] x) => (int64[2] y) { [a] y = Cast(x) }")


@case("attribute", "duplicate-attribute")
def attribute_twice(_: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 0.1>(x) }")
    model.graph.node[0].attribute.append(model.graph.node[0].attribute[0])
    return model


@case("attribute", "reference-outside")
def attribute_refers_to_nothing(_: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu(x) }")
    attribute = model.graph.node[0].attribute.add()
    attribute.name, attribute.type, attribute.ref_attr_name = "alpha", onnx.AttributeProto.FLOAT, "beta"
    return model


@case("attribute", "nan-attribute", zoo=True)
def attribute_nan(_: Path) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { [a] y = LeakyRelu<alpha = 0.1>(x) }")
    model.graph.node[0].attribute[0].f = float("nan")
    return model


def relu_with_constant(array: np.ndarray[Any, Any]) -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["k"], name="k", value=numpy_helper.from_array(array))
    model = text("g (float[2] x) => (float[2] y) { [a] y = Mul(x, k) }")
    model.graph.node.insert(0, node)
    return model
