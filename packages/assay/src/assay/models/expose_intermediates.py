"""A model whose inner tensors are outputs, too; and a part of a model as a model of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.dtype import dtype_name
from assay.numerics.load_onnx import load_onnx

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

Array = np.ndarray[Any, Any]
_LARGEST_INSIDE = 2**30


def expose_intermediates(model: Path, folder: Path) -> tuple[Path, ModelProto, list[str]]:
    """Write the model with every inner tensor of its main graph as a further output, behind its own.

    Returns the file, the model without the taps, and their names. A tensor whose type is not known gets no tap: backends
    refuse such an output.
    """
    import onnx

    plain = load_onnx(str(model))
    shaped = onnx.shape_inference.infer_shapes(plain)
    known = {value.name: value.type.tensor_type for value in shaped.graph.value_info}
    output_names = {value.name for value in plain.graph.output}
    tapped = onnx.ModelProto()
    tapped.CopyFrom(plain)
    taps = []
    for node in plain.graph.node:
        for name in node.output:
            if name and name not in output_names and name in known and known[name].elem_type:
                kind = known[name]
                # The rank, as the checker demands, and no lengths: a transform may change them.
                shape = [None] * len(kind.shape.dim) if kind.HasField("shape") else None
                tapped.graph.output.append(onnx.helper.make_tensor_value_info(name, kind.elem_type, shape))
                taps.append(name)
    large = sum(len(tensor.raw_data) for tensor in tapped.graph.initializer) > _LARGEST_INSIDE
    path = folder / "instrumented.onnx"
    onnx.save(tapped, str(path), save_as_external_data=large, location="weights" if large else None)
    return path, plain, taps


def part(model: ModelProto, nodes: Sequence[NodeProto], values: Mapping[str, Array]) -> ModelProto:
    """These nodes (in the order of the graph) alone: what they read from elsewhere are its inputs, what they compute its
    outputs, in the types of `values`; weights come with it. Raises KeyError for a value that is not there."""
    from onnx import helper

    made = {name for node in nodes for name in node.output if name}
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    reads = dict.fromkeys(name for node in nodes for name in reads_of(node) if name and name not in made)
    used = {name for node in nodes for name in reads_of(node)}
    ends = [name for name in made if name in values and _leaves(model, name, nodes, used)]
    graph = helper.make_graph(
        list(nodes),
        "part",
        [_info(name, values[name]) for name in reads if name not in weights],
        [_info(name, values[name]) for name in ends],
        [weights[name] for name in reads if name in weights],
    )
    return helper.make_model(
        graph, opset_imports=list(model.opset_import), ir_version=model.ir_version, functions=list(model.functions)
    )


def _leaves(model: ModelProto, name: str, nodes: Sequence[NodeProto], used: set[str]) -> bool:
    """Whether anything outside of the part sees the value."""
    if name not in used or any(value.name == name for value in model.graph.output):
        return True
    inside = {tuple(node.output) for node in nodes}
    return any(name in reads_of(node) and tuple(node.output) not in inside for node in model.graph.node)


def reads_of(node: NodeProto) -> tuple[str, ...]:
    """The inputs of a node, and what its branches and bodies read from outside."""
    return (
        *node.input,
        *(name for attribute in node.attribute if attribute.HasField("g") for name in _free(attribute.g)),
    )


def _free(graph: GraphProto) -> list[str]:
    """What a body reads that it neither is given, nor holds, nor computes."""
    own = {value.name for value in (*graph.input, *graph.initializer)}
    own |= {name for node in graph.node for name in node.output}
    read = [name for node in graph.node for name in reads_of(node)]
    return [
        name for name in dict.fromkeys((*read, *(value.name for value in graph.output))) if name and name not in own
    ]


def _info(name: str, array: Array) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype), array.shape)


def is_number(array: Array) -> bool:
    """Whether a tap can be judged at all."""
    return dtype_name(np.asarray(array).dtype) not in ("string", "object")
