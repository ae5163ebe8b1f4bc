"""A small model left for people: the file, its values, and the code that makes it from nothing but onnx and numpy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.dtype import dtype_name
from assay.ports import Tensor
from assay.worker.regions.build_region import Region
from assay.worker.regions.value_files import save_values

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

CODE = "model.py"
_LITERAL = 64
"""Elements up to which an array is written as a list."""
_NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4")


def save_region(folder: Path, region: Region, wide: Mapping[str, Tensor]) -> None:
    """As `save_values`, with the code beside it."""
    outputs = {name: np.asarray(wide[name]) for window in region.windows for name in window.outputs}
    inputs = {name: _wide(array) for name, array in region.feeds.items()}
    own = {name: dtype_name(array.dtype) for name, array in region.feeds.items()}
    own |= {value.name: _dtype(value) for value in region.model.graph.output}
    save_values(folder, region.model, {**inputs, **outputs}, own)
    (folder / CODE).write_text(code_of(region.model, region.feeds, outputs))


def _wide(array: Tensor) -> Tensor:
    return array if array.dtype.kind in "iub" else array.astype(np.float64)


def _dtype(value: ValueInfoProto) -> str:
    from onnx import helper

    return dtype_name(np.dtype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)))


def code_of(model: ModelProto, feeds: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> str:
    """Python that gives `model`, `inputs` and `expected`; large arrays are packed."""
    nodes = ",\n        ".join(_node(node) for node in model.graph.node)
    weights = [f"numpy_helper.from_array({_weight(tensor)}, {tensor.name!r})" for tensor in model.graph.initializer]
    opsets = ", ".join(f"helper.make_opsetid({entry.domain!r}, {entry.version})" for entry in model.opset_import)
    fed = ",\n    ".join(f"{name!r}: {array_code(array)}" for name, array in feeds.items())
    right = ",\n    ".join(f"{name!r}: {array_code(array)}" for name, array in outputs.items())
    return (
        "graph = helper.make_graph(\n"
        f"    [\n        {nodes},\n    ],\n"
        '    "smallest",\n'
        f"    [{_infos(model.graph.input)}],\n"
        f"    [{_infos(model.graph.output)}],\n"
        f"    [{', '.join(weights)}],\n"
        ")\n"
        f"model = helper.make_model(graph, opset_imports=[{opsets}], ir_version={_oldest_format(model)})\n"
        f"inputs = {{\n    {fed},\n}}\n"
        f"expected = {{\n    {right},\n}}\n"
    )


def _oldest_format(model: ModelProto) -> int:
    """So that old releases read it, too."""
    from onnx import helper

    if any(entry.domain not in ("", "ai.onnx", "ai.onnx.ml") for entry in model.opset_import):
        return int(model.ir_version)
    return int(helper.find_min_ir_version_for(list(model.opset_import)))


def _infos(values: Any) -> str:
    return ", ".join(
        f"helper.make_tensor_value_info({value.name!r}, {value.type.tensor_type.elem_type}, {_shape(value)})"
        for value in values
    )


def _shape(value: ValueInfoProto) -> list[int | str]:
    return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param for dim in value.type.tensor_type.shape.dim]


def _node(node: NodeProto) -> str:
    parts = [repr(node.op_type), repr(list(node.input)), repr(list(node.output))]
    if node.name:
        parts.append(f"name={node.name!r}")
    if node.domain:
        parts.append(f"domain={node.domain!r}")
    plain = [(attribute.name, _attribute(attribute)) for attribute in node.attribute]
    parts += [f"{name}={text}" for name, text in plain]
    return f"helper.make_node({', '.join(parts)})"


def _attribute(attribute: Any) -> str:
    from onnx import AttributeProto, helper

    if attribute.type == AttributeProto.TENSOR:
        return f"numpy_helper.from_array({_weight(attribute.t)}, {attribute.t.name!r})"
    if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
        return f"onnx.GraphProto.FromString({attribute.g.SerializeToString()!r})"
    value = helper.get_attribute_value(attribute)
    return repr(value.decode() if isinstance(value, bytes) else value)


def _weight(tensor: Any) -> str:
    from onnx import numpy_helper

    return array_code(numpy_helper.to_array(tensor))


def array_code(array: Tensor) -> str:
    """Python that gives it: a literal, or for a large one its bytes, packed."""
    name = dtype_name(np.asarray(array).dtype)
    kind = f"ml_dtypes.{name}" if name in _NARROW else f"np.{name if name != 'bool' else 'bool_'}"
    if array.size <= _LITERAL:
        listed = np.asarray(array, np.float64 if name in _NARROW else None).tolist()
        text = repr(listed).replace("nan", "np.nan").replace("inf", "np.inf")
        shaped = "" if array.size else f".reshape({list(array.shape)})"  # a list does not tell it
        return f"np.array({text}, {kind}){shaped}"
    import base64
    import zlib

    packed = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    return f"np.frombuffer(zlib.decompress(base64.b85decode({packed!r})), {kind}).reshape({list(array.shape)})"
