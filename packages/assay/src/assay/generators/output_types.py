"""What a node gives: element type and shape of its outputs, as onnx infers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import helper, numpy_helper

from assay.core.dtype import dtype_name, numpy_dtype
from assay.generators.schemas import NotMade
from assay.ports import Tensor

Known = tuple[str, tuple[int, ...]]
"""Element type and shape."""


class Read(Protocol):
    """What a node reads."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    constant: Tensor | None


def inferred(schema: Any, node: Any, reads: Sequence[Read], opset: int) -> dict[str, Known]:
    """By name, of those outputs that are tensors of known shape. Raises NotMade where the form is not valid."""
    types = {read.name: declared(read.name, numpy_dtype(read.dtype), read.shape) for read in reads}
    data = {read.name: numpy_helper.from_array(read.constant, read.name) for read in reads if read.constant is not None}
    imports = [helper.make_opsetid("", opset)]
    try:
        inferred_types = onnx.shape_inference.infer_node_outputs(
            schema,
            node,
            {name: type_proto.type for name, type_proto in types.items()},
            data,
            opset_imports=imports,
            ir_version=ir_of(opset),
        )
        if schema.has_function and any(_known(type_proto) is None for type_proto in inferred_types.values()):
            graph = helper.make_graph(
                [node], "one", [*types.values()], [helper.make_empty_tensor_value_info(name) for name in node.output]
            )
            whole = helper.make_model(graph, opset_imports=imports, ir_version=ir_of(opset))
            shaped = onnx.shape_inference.infer_shapes(whole, strict_mode=True).graph
            inferred_types = {value.name: value.type for value in shaped.output}
    except Exception as error:  # whatever inference raises of a form that is not valid
        raise NotMade from error
    return {name: known for name, type_proto in inferred_types.items() if (known := _known(type_proto)) is not None}


def ir_of(opset: int) -> int:
    """The format of a file of that opset that released engines read."""
    return 10 if opset >= 21 else 8


def declared(name: str, dtype: Any, shape: Sequence[int]) -> Any:
    """An input or an output of a graph."""
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), list(shape))


def _known(value_type: Any) -> Known | None:
    tensor = value_type.tensor_type
    if tensor.elem_type in (0, onnx.TensorProto.STRING) or not tensor.HasField("shape"):
        return None
    if any(not dim.HasField("dim_value") for dim in tensor.shape.dim):
        return None
    dtype = dtype_name(np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type)))
    return dtype, tuple(int(dim.dim_value) for dim in tensor.shape.dim)
