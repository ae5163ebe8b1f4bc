"""Values that are the same on every run, computed where they are small: trip counts, shapes, indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.models.examination.types import Shape, shape_of
from assay.models.examination.walk import Scope, domain_of

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

_MOST = 100_000
"""Elements of a constant that is computed."""
_RESHAPING = {"Concat", "Reshape", "Gather", "Slice", "Unsqueeze", "Squeeze", "Transpose", "Flatten"}
_ELEMENTWISE = {
    "Identity", "Cast", "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Abs", "Sign", "Min", "Max", "Sum", "Pow", "Sqrt",
    "Floor", "Ceil", "Round", "And", "Or", "Not", "Xor", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual",
    "Where", "BitShift", "CastLike", "Clip",
}  # fmt: skip
_REDUCING = {"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}
Array = np.ndarray[Any, Any]
Types = Mapping[str, tuple[int, Shape]]


@dataclass(frozen=True)
class Known:
    """What is known of the values that a scope sees: constants, and element type with shape of the others; `trips` is how
    often the scope runs in one run of the model, as far as that is constant."""

    scope: Scope
    constants: Mapping[str, Array]
    types: Types
    trips: int = 1

    def ints(self, name: str) -> list[int] | None:
        """A constant of whole numbers, flat; None where it is none."""
        array = self.constants.get(name)
        return (
            None if array is None or array.dtype.kind not in "iub" else [int(element) for element in array.reshape(-1)]
        )

    def number(self, name: str) -> float | None:
        """A constant of one element; None where it is none."""
        array = self.constants.get(name)
        if array is None or array.size != 1 or array.dtype.kind not in "iubf":
            return None
        value: float = array.reshape(-1)[0].item()
        return value

    def shape(self, name: str) -> Shape | None:
        """Of a tensor; None where its rank is not known."""
        if name in self.constants:
            return tuple(int(size) for size in self.constants[name].shape)
        return self.types[name][1] if name in self.types else None


def known_in(scope: Scope, around: Known | None = None, trips: int = 1) -> Known:
    """Everything that the nodes of this scope can see."""
    from onnx import TensorProto

    constants: dict[str, Array] = dict(around.constants) if around else {}
    types: dict[str, tuple[int, Shape]] = dict(around.types) if around else {}
    for value in (*scope.graph.input, *scope.graph.value_info, *scope.graph.output):
        shape = shape_of(value.type) if value.type.WhichOneof("value") == "tensor_type" else None
        if shape is not None:
            types[value.name] = (value.type.tensor_type.elem_type, shape)
    for tensor in scope.graph.initializer:
        types[tensor.name] = (tensor.data_type, tuple(tensor.dims))
        if tensor.data_location != TensorProto.EXTERNAL:
            _keep(constants, tensor.name, tensor)
    for node in scope.graph.node:
        if not domain_of(node.domain) and node.output and node.output[0]:
            _fold(node, constants, types, scope.opsets)
    return Known(scope, constants, types, trips)


def _keep(constants: dict[str, Array], name: str, tensor: TensorProto) -> None:
    from onnx import numpy_helper

    if prod(tensor.dims) <= _MOST:
        try:
            constants[name] = np.asarray(numpy_helper.to_array(tensor))
        except (ValueError, TypeError):
            return


def _fold(node: NodeProto, constants: dict[str, Array], types: Types, opsets: dict[str, int]) -> None:
    match node.op_type:
        case "Constant":
            _constant(node, constants)
        case "Shape" | "Size":
            _measure(node, constants, types)
        case "ConstantOfShape":
            sizes = constants.get(node.input[0]) if node.input else None
            if sizes is not None and not (sizes < 0).any() and prod(sizes.tolist()) <= _MOST:
                _run(node, constants, opsets)
        case operator if operator in _RESHAPING | _ELEMENTWISE | _REDUCING:
            names = [name for name in node.input if name]
            if names and all(name in constants for name in names) and _small(operator, names, constants):
                _run(node, constants, opsets)


def _constant(node: NodeProto, constants: dict[str, Array]) -> None:
    for attribute in node.attribute:
        match attribute.name:
            case "value":
                _keep(constants, node.output[0], attribute.t)
            case "value_int" | "value_ints":
                constants[node.output[0]] = np.asarray(
                    attribute.i if attribute.name == "value_int" else list(attribute.ints), np.int64
                )
            case "value_float" | "value_floats":
                number = attribute.f if attribute.name == "value_float" else list(attribute.floats)
                constants[node.output[0]] = np.asarray(number, np.float32)


def _measure(node: NodeProto, constants: dict[str, Array], types: Types) -> None:
    if not node.input or node.input[0] not in types:
        return
    shape = types[node.input[0]][1]
    ends = {attribute.name: attribute.i for attribute in node.attribute}
    part = shape if node.op_type == "Size" else shape[ends.get("start", 0) : ends.get("end", len(shape))]
    if all(isinstance(size, int) for size in part):
        value = part if node.op_type == "Shape" else prod(int(size) for size in part)
        if not isinstance(value, int) or value < 2**63:
            constants[node.output[0]] = np.asarray(value, np.int64)


def _small(operator: str, names: list[str], constants: Mapping[str, Array]) -> bool:
    """Whether the result is small as well: broadcasting may grow it."""
    if sum(constants[name].size for name in names) > _MOST:
        return False
    if operator == "Gather":
        return constants[names[0]].size * max(constants[names[-1]].size, 1) <= 10 * _MOST
    if operator not in _ELEMENTWISE:
        return True
    try:
        return prod(np.broadcast_shapes(*(constants[name].shape for name in names))) <= _MOST
    except ValueError:
        return False


def _run(node: NodeProto, constants: dict[str, Array], opsets: dict[str, int]) -> None:
    """One node by the standard's own definition."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    names = [name for name in dict.fromkeys(node.input) if name]
    untyped = helper.make_tensor_type_proto(1, None)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_value_info(name, untyped) for name in names],
        [helper.make_value_info(node.output[0], untyped)],
    )
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    try:
        with np.errstate(all="ignore"):
            evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=imports))
            (value,) = evaluator.run(None, {name: constants[name] for name in names})
    except Exception:  # noqa: BLE001  a value that cannot be computed is not known, whatever the model made this raise
        return
    if isinstance(value, np.ndarray | np.generic):
        constants[node.output[0]] = np.asarray(value)
