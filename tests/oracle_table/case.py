"""One node with its inputs, and the model that is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TypeProto, helper

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class OpCase:
    """`inputs` are arrays, lists of arrays (sequences), or None where an optional one is left out. `outputs` is how many the node
    names. `random`: only dtype and shape say anything. `unordered`: what comes out has no order."""

    operator: str
    version: int
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    domain: str = ""
    outputs: int = 1
    random: bool = False

    def __str__(self) -> str:
        shown = ", ".join(_shown(value) for value in self.inputs)
        named = ", ".join(f"{name}={_short(value)}" for name, value in self.attributes.items())
        return f"{self.operator}-{self.version}({shown}) <{named}>" + (f" x{self.outputs}" if self.outputs != 1 else "")

    @property
    def names(self) -> list[str]:
        return ["" if value is None else f"x{position}" for position, value in enumerate(self.inputs)]

    def feeds(self) -> dict[str, Any]:
        return {name: value for name, value in zip(self.names, self.inputs, strict=True) if name}

    def model(self, version: int = 0, constant: Sequence[str] = ()) -> onnx.ModelProto:
        """At another version of the operator set, or with some inputs as initializers."""
        made = [f"y{position}" for position in range(self.outputs)]
        node = helper.make_node(self.operator, self.names, made, name="node", domain=self.domain)
        for name, value in self.attributes.items():
            node.attribute.append(
                value if isinstance(value, onnx.AttributeProto) else helper.make_attribute(name, value)
            )
        given = [_info(name, value) for name, value in self.feeds().items() if name not in constant]
        stored = [onnx.numpy_helper.from_array(self.feeds()[name], name) for name in constant]
        graph = helper.make_graph([node], "g", given, [onnx.ValueInfoProto(name=name) for name in made], stored)
        imports = [helper.make_opsetid(self.domain, version or self.version)]
        if self.domain:
            imports.append(helper.make_opsetid("", 18))
        return helper.make_model(graph, opset_imports=imports, ir_version=10)


def _info(name: str, value: Any) -> onnx.ValueInfoProto:
    kind = _type(value)
    return helper.make_value_info(name, kind)


def _type(value: Any) -> TypeProto:
    if isinstance(value, list):
        return helper.make_sequence_type_proto(_type_of(value[0].dtype, None))
    if isinstance(value, dict):
        key, item = next(iter(value.items()))
        keys = onnx.TensorProto.STRING if isinstance(key, str) else onnx.TensorProto.INT64
        kind = onnx.TensorProto.STRING if isinstance(item, str) else onnx.TensorProto.FLOAT
        return helper.make_map_type_proto(keys, helper.make_tensor_type_proto(kind, []))
    return _type_of(value.dtype, value.shape)


def _type_of(dtype: Any, shape: tuple[int, ...] | None) -> TypeProto:
    code = onnx.TensorProto.STRING if dtype.kind in "OUT" else helper.np_dtype_to_tensor_dtype(dtype)
    return helper.make_tensor_type_proto(code, shape)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        small = value.size <= 6 and value.dtype.kind in "iub"
        return f"{value.dtype.name}{list(value.shape)}" + (f"={value.tolist()}" if small else "")
    if isinstance(value, list):
        return f"seq({', '.join(map(_shown, value))})"
    return "-" if value is None else str(value)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) < 40 else text[:37] + "..."
