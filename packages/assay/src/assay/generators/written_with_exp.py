"""A curve in terms of Exp: where an engine is little off in both, its exponential is, and not the curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import onnx
from onnx import helper, parser

from assay.core.screening import WITH_EXP
from assay.ports.generator import GeneratedCase

CURVES = {
    "Exp": "y = Exp (x)",
    "Sigmoid": "n = Neg (x) e = Exp (n) s = Add (e, one) y = Reciprocal (s)",
    "Tanh": "t = Add (x, x) e = Exp (t) a = Sub (e, one) b = Add (e, one) y = Div (a, b)",
    "Softplus": "e = Exp (x) s = Add (e, one) y = Log (s)",
    "Sinh": "e = Exp (x) r = Reciprocal (e) d = Sub (e, r) y = Mul (d, half)",
    "Cosh": "e = Exp (x) r = Reciprocal (e) s = Add (e, r) y = Mul (s, half)",
    "Softmax": "e = Exp (x) s = ReduceSum (e, axis) y = Div (e, s)",
    "LogSoftmax": "e = Exp (x) s = ReduceSum (e, axis) l = Log (s) y = Sub (x, l)",
}
"""By the operator its graph, from x to y."""
SINCE = {"Softmax": 13, "LogSoftmax": 13}
"""They have one axis, and that of ReduceSum is an input."""


def written_with_exp(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """Of one node alone that is such a curve, of numbers of one type."""
    model = onnx.load_from_string(case.model)
    nodes, opset = model.graph.node, next(entry.version for entry in model.opset_import if entry.domain == "")
    if len(nodes) != 1 or nodes[0].op_type not in CURVES or opset < SINCE.get(nodes[0].op_type, 0):
        return
    if len(case.inputs) != 1 or model.graph.initializer:
        return
    (node,), (x,), (y,) = nodes, model.graph.input, model.graph.output
    axis = next((helper.get_attribute_value(stated) for stated in node.attribute if stated.name == "axis"), -1)
    element_type = x.type.tensor_type.elem_type
    element = onnx.TensorProto.DataType.Name(element_type).lower()
    if element not in ("float", "double"):
        return
    written = parser.parse_model(
        f"""<ir_version: {model.ir_version}, opset_import: ["" : {opset}]> g ({element} x) => ({element} y)
        <{element} one = {{1}}, {element} half = {{0.5}}, int64[1] axis = {{{axis}}}> {{ {CURVES[node.op_type]} }}"""
    )
    for value, original in ((written.graph.input[0], x), (written.graph.output[0], y)):
        sizes = [size.dim_value for size in original.type.tensor_type.shape.dim]  # the parser knows no scalar
        value.CopyFrom(helper.make_tensor_value_info(value.name, element_type, sizes))
    read = {name for step in written.graph.node for name in step.input}
    kept = [tensor for tensor in written.graph.initializer if tensor.name in read]
    del written.graph.initializer[:]
    written.graph.initializer.extend(kept)
    fed = {"x": case.inputs[x.name]}
    yield WITH_EXP, dataclasses.replace(case, model=bytes(written.SerializeToString(deterministic=True)), inputs=fed)
