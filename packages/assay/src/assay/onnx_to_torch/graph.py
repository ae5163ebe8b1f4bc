"""The graph of an ONNX file read once: constants, nodes with their opsets, and when each value is dead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.errors import Unsupported
from assay.onnx_to_torch.dtypes import NARROW, Array, onnx_dtype
from assay.onnx_to_torch.nodes import Node, read_node
from assay.onnx_to_torch.registry import HOST, OPERATORS

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


@dataclass(frozen=True)
class Graph:
    """`dead` lists for each node the values that nobody reads after it."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: dict[str, Array]
    nodes: tuple[Node, ...]
    dead: tuple[tuple[str, ...], ...]

    def check(self) -> list[str]:
        """The constants that some node needs as a tensor. Raises Unsupported for an operator that is not there."""
        needed = {name for name in self.outputs if name in self.constants}
        for node in self.nodes:
            operator = OPERATORS.get((node.domain, node.operator))
            if operator is None:
                if node.operator in HOST and not node.domain:
                    continue
                name = f"{node.domain}.{node.operator}" if node.domain else node.operator
                raise Unsupported(
                    noted(ConversionCode.NO_SUCH_OPERATOR, operator=name, node=node.label), node=node.label
                )
            _check_narrow(node, self.constants)
            known = node.operator in HOST and all(name in self.constants for name in node.inputs if name)
            for index, name in enumerate(node.inputs):
                if name in self.constants and index not in operator.host and not known:
                    needed.add(name)
            for inner in _inner(node):
                needed |= inner.free & self.constants.keys()
        return [name for name in self.constants if name in needed]

    def subgraphs(self) -> Iterator[Graph]:
        """Of all nodes, and theirs."""
        for node in self.nodes:
            for inner in _inner(node):
                yield inner
                yield from inner.subgraphs()

    @cached_property
    def free(self) -> frozenset[str]:
        """What the graph reads from around it."""
        read = {name for node in self.nodes for name in reads(node)} | set(self.outputs)
        made = {name for node in self.nodes for name in node.outputs}
        return frozenset(read - made - set(self.inputs) - set(self.constants) - {""})


def read_graph(proto: GraphProto, opsets: Mapping[str, int], folder: str = "") -> Graph:
    """Initializers and Constant nodes become constants; sparse ones and texts are refused."""
    from onnx import numpy_helper

    if proto.sparse_initializer:
        raise Unsupported(noted(ConversionCode.SPARSE_INITIALIZERS))
    _check_types(proto)
    constants = {tensor.name: numpy_helper.to_array(tensor, folder) for tensor in proto.initializer}
    nodes = []
    for node_proto in proto.node:
        node = read_node(node_proto, opsets.get(node_proto.domain, opsets.get("", 1)))
        if node.operator == "Constant" and not node.domain:
            constants[node.outputs[0]] = _constant(node)
        else:
            nodes.append(_with_subgraphs(node, node_proto, opsets, folder))
    outputs = tuple(value.name for value in proto.output)
    return Graph(
        inputs=tuple(value.name for value in proto.input if value.name not in constants),
        outputs=outputs,
        constants=constants,
        nodes=tuple(nodes),
        dead=dead_values(nodes, set(outputs)),
    )


def missing_operators(proto: GraphProto) -> set[tuple[str, str]]:
    """(domain, name) of the operators that are not there."""
    missing = set()
    for node in proto.node:
        domain = node.domain if node.domain != "ai.onnx" else ""
        if (domain, node.op_type) not in OPERATORS and node.op_type not in (*HOST, "Constant"):
            missing.add((domain, node.op_type))
        for attribute in node.attribute:
            if attribute.HasField("g"):
                missing |= missing_operators(attribute.g)
    return missing


def reads(node: Node) -> set[str]:
    """Names of the values a node reads, by its subgraphs included."""
    names = set(filter(None, node.inputs))
    for inner in _inner(node):
        names |= inner.free
    return names


def _with_subgraphs(node: Node, proto: NodeProto, opsets: Mapping[str, int], folder: str) -> Node:
    for attribute in proto.attribute:
        if attribute.HasField("g"):
            node.attributes[attribute.name] = read_graph(attribute.g, opsets, folder)
    return node


def _check_narrow(node: Node, constants: Mapping[str, Array]) -> None:
    """torch has no four-bit integers: as weights they are widened, everywhere else their range would be lost."""
    narrow = [name for name in node.inputs if name in constants and constants[name].dtype.name in NARROW]
    if narrow and node.operator != "DequantizeLinear":
        raise node.unsupported(noted(ConversionCode.NO_TENSORS_OF, type=constants[narrow[0]].dtype.name))


def _check_types(proto: GraphProto) -> None:
    for value in (*proto.input, *proto.output):
        if value.type.HasField("tensor_type") and value.type.tensor_type.elem_type:
            onnx_dtype(value.type.tensor_type.elem_type)


def _inner(node: Node) -> list[Graph]:
    return [value for value in node.attributes.values() if isinstance(value, Graph)]


def dead_values(nodes: Sequence[Node], kept: set[str]) -> tuple[tuple[str, ...], ...]:
    """For each node the values that nobody reads after it; `kept` never die."""
    seen = set(kept)
    dead: list[tuple[str, ...]] = []
    for node in reversed(nodes):
        names = reads(node) | set(filter(None, node.outputs))
        dead.append(tuple(sorted(names - seen)))
        seen |= names
    return tuple(reversed(dead))


def _constant(node: Node) -> Array:
    from onnx import numpy_helper

    if "value" in node.attributes:
        return numpy_helper.to_array(node.attributes["value"])
    kinds: dict[str, Any] = {
        "value_int": np.int64,
        "value_ints": np.int64,
        "value_float": np.float32,
        "value_floats": np.float32,
    }
    for name, kind in kinds.items():
        if name in node.attributes:
            return np.asarray(node.attributes[name], kind)
    raise Unsupported(noted(ConversionCode.KIND_OF_CONSTANT, node=node.label), node=node.label)
