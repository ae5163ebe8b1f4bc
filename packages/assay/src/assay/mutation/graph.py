"""An ONNX graph that can be asked about its values and changed in place, one small lie at a time."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, defs, helper, numpy_helper

from assay.numerics.operators.index import open_to, record_of
from assay.numerics.operators.record import LEARNING, MICROSOFT, OnnxOperator

Array = np.ndarray[Any, Any]

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
_DOMAINS = ("", "ai.onnx", MICROSOFT, LEARNING)
_TRANSPARENT = ("Identity",)
_FREE_INITIALIZERS = 4
_LARGEST_SHAPED = 2**30
"""Bytes of weights above which shapes are not inferred: protobuf would copy the whole model."""


class Graph:
    """The main graph of a model, its local functions inlined. Weights must be loaded (no external data).

    A node is named by its own name where that is unique, else by its first output, which always is.
    """

    def __init__(self, model: ModelProto) -> None:
        if model.functions:
            from onnx import inliner

            model = inliner.inline_local_functions(model)
        self.model = model
        self.opset = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=1)
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._infer()
        self._index()
        self._fresh = 0

    def copy(self) -> Graph:
        """A graph of its own, with the same weights; what is known of the values is not inferred again."""
        other = copy.copy(self)
        other.model = ModelProto()
        other.model.CopyFrom(self.model)
        other._types = dict(self._types)
        other._weights = {tensor.name: tensor for tensor in other.model.graph.initializer}
        other._index()
        return other

    def _infer(self) -> None:
        self._types: dict[str, tuple[int, tuple[int | None, ...] | None]] = {}
        shaped = self.model
        if sum(len(tensor.raw_data) for tensor in self.model.graph.initializer) < _LARGEST_SHAPED:
            try:
                shaped = onnx.shape_inference.infer_shapes(self.model, data_prop=True)
            except Exception:  # noqa: BLE001  of a foreign operator nothing is known: then nothing is told
                shaped = self.model
        for value in (*shaped.graph.input, *shaped.graph.value_info, *shaped.graph.output):
            kind = value.type.tensor_type
            shape = (
                tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim)
                if kind.HasField("shape")
                else None
            )
            self._types[value.name] = (kind.elem_type, shape)
        for tensor in self.model.graph.initializer:
            self._types[tensor.name] = (tensor.data_type, tuple(tensor.dims))

    def _index(self) -> None:
        self._producer = {name: node for node in self.nodes for name in node.output if name}
        self._consumers: dict[str, list[tuple[NodeProto, int]]] = {}
        for node in self.nodes:
            for place, name in enumerate(node.input):
                self._consumers.setdefault(name, []).append((node, place))
        names = [node.name for node in self.nodes]
        self._unique = {name for name in names if name and names.count(name) == 1} if len(names) < 5000 else set()

    @property
    def nodes(self) -> Sequence[NodeProto]:
        """In the order of the file, which is topological."""
        return list(self.model.graph.node)

    @property
    def outputs(self) -> list[str]:
        """Names of the graph's outputs."""
        return [value.name for value in self.model.graph.output]

    def of(self, *kinds: str) -> Iterator[NodeProto]:
        """The nodes of these operators that have an output, of the standard or of a domain whose records say what may be done."""
        for node in self.nodes:
            if node.op_type in kinds and node.domain in _DOMAINS and any(node.output):
                yield node

    def open_to(self, mutation: str) -> Iterator[NodeProto]:
        """The nodes at which this mutation may be made, by the records of their operators (`numerics.operators`)."""
        return self.of(*open_to(mutation))

    def key(self, node: NodeProto) -> str:
        """What a site at this node is called."""
        return node.name if node.name in self._unique else next(name for name in node.output if name)

    def at(self, key: str) -> NodeProto:
        """The node of that key. Raises KeyError."""
        for node in self.nodes:
            if node.name == key and node.name in self._unique:
                return node
        return self._producer[key]

    def dtype(self, name: str) -> int:
        """Element type of a value, 0 where unknown."""
        return self._types.get(name, (0, None))[0]

    def shape(self, name: str) -> tuple[int | None, ...] | None:
        """Dimensions of a value, None for an unknown one, None altogether where not even the rank is known."""
        return self._types.get(name, (0, None))[1]

    def is_float(self, name: str) -> bool:
        """Whether the value is known to be floating."""
        return self.dtype(name) in FLOATS

    def numpy_dtype(self, name: str) -> np.dtype[Any]:
        """Of a value; float32 where unknown."""
        kind = self.dtype(name)
        return np.dtype(helper.tensor_dtype_to_np_dtype(kind)) if kind else np.dtype(np.float32)

    def value(self, name: str) -> Array | None:
        """What is known of a value before any input is: initializers, Constant nodes, either behind Identity."""
        if not name:
            return None
        if name in self._weights:
            return np.asarray(numpy_helper.to_array(self._weights[name]))
        node = self._producer.get(name)
        if node is None:
            return None
        if node.op_type in _TRANSPARENT:
            return self.value(node.input[0])
        return _constant(node) if node.op_type == "Constant" else None

    def input_value(self, node: NodeProto, place: int) -> Array | None:
        """`value` of one input of a node, None where the node has no such input."""
        return self.value(node.input[place]) if place < len(node.input) else None

    def producer(self, name: str) -> NodeProto | None:
        """The node that computes a value, looking through Identity."""
        node = self._producer.get(name)
        while node is not None and node.op_type in _TRANSPARENT:
            node = self._producer.get(node.input[0])
        return node

    def place(self, node: NodeProto | None) -> int:
        """Of a node in the order of the graph; -1 for what no node computes."""
        return self._place(node) if node is not None else -1

    def consumers(self, name: str) -> list[tuple[NodeProto, int]]:
        """Who reads a value, and as which input."""
        return self._consumers.get(name, [])

    def get(self, node: NodeProto, name: str, default: Any = None) -> Any:
        """An attribute's value."""
        for attribute in node.attribute:
            if attribute.name == name:
                return helper.get_attribute_value(attribute)
        return default

    def attribute(self, node: NodeProto, name: str) -> Any:
        """An attribute's value, that of the standard where the node does not name it; None where the operator has no such default."""
        stated = self.get(node, name)
        if stated is not None or not defs.has(node.op_type):
            return stated
        version = self.opset if defs.has(node.op_type, self.opset) else defs.onnx_opset_version()
        attributes = defs.get_schema(node.op_type, version).attributes
        return helper.get_attribute_value(attributes[name].default_value) if name in attributes else None

    def set(self, node: NodeProto, name: str, value: Any) -> None:
        """Give the node this attribute; None takes it away."""
        kept = [attribute for attribute in node.attribute if attribute.name != name]
        del node.attribute[:]
        node.attribute.extend(kept)
        if value is not None:
            node.attribute.append(helper.make_attribute(name, value))

    def fresh(self, stem: str = "value") -> str:
        """A name that nothing has."""
        while True:
            self._fresh += 1
            name = f"mutant_{stem}_{self._fresh}"
            if name not in self._types and name not in self._producer and name not in self._weights:
                return name

    def constant(self, array: Array) -> str:
        """A new initializer; its name. Before version 4 of the format every initializer is an input, too: the mutant is of version 4,
        which asks for that no longer."""
        self.model.ir_version = max(self.model.ir_version, _FREE_INITIALIZERS)
        name = self.fresh("constant")
        tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(np.shape(array)), name)
        self.model.graph.initializer.append(tensor)
        return name

    def scalar(self, number: float, like: str) -> str:
        """A 0-d initializer of the type of the value `like`."""
        return self.constant(np.asarray(number).astype(self.numpy_dtype(like)))

    def replace_input(self, node: NodeProto, place: int, array: Array) -> None:
        """Give this input of this node another constant. Other readers of the old one keep it, wherever it lay."""
        while len(node.input) <= place:
            node.input.append("")
        node.input[place] = self.constant(array)

    def before(self, node: NodeProto, place: int) -> Chain:
        """New nodes between a node and one of its inputs."""
        return Chain(self, self._place(node), node.input[place], node, place)

    def after(self, node: NodeProto, place: int = 0) -> Chain:
        """New nodes between an output of a node and all that read it; the output's own name stays with the last."""
        public = node.output[place]
        hidden = self.fresh("hidden")
        self._types[hidden] = self._types.get(public, (0, None))
        node.output[place] = hidden
        return Chain(self, self._place(node) + 1, hidden, None, 0, public)

    def _place(self, node: NodeProto) -> int:
        for place, other in enumerate(self.model.graph.node):
            if other.output[:] == node.output[:] and other.op_type == node.op_type:
                return place
        raise KeyError(node.name)

    def _insert(self, place: int, node: NodeProto) -> None:
        self.model.graph.node.insert(place, node)

    def replace(self, node: NodeProto, kind: str, inputs: Sequence[str], **attributes: Any) -> None:
        """Turn a node into one of another operator with the same outputs."""
        new = helper.make_node(kind, list(inputs), list(node.output), name=node.name, **attributes)
        node.CopyFrom(new)


class Chain:
    """Nodes appended one after another at one edge of a graph; `done` connects the end."""

    def __init__(
        self, graph: Graph, place: int, start: str, reader: NodeProto | None, reader_place: int, public: str = ""
    ) -> None:
        self.graph = graph
        self.start = start
        self._place = place
        self._reader, self._reader_place = reader, reader_place
        self._public = public

    def add(self, kind: str, inputs: Sequence[str], *, outputs: int = 1, **attributes: Any) -> str:
        """One node; the name of its first output (the others follow in the node)."""
        names = [self.graph.fresh(kind.lower()) for _ in range(outputs)]
        self.graph._insert(self._place, helper.make_node(kind, list(inputs), names, **attributes))
        self._place += 1
        return names[0]

    def done(self, value: str) -> None:
        """`value` takes the place of what was read, or of what was computed."""
        if self._reader is not None:
            self._reader.input[self._reader_place] = value
            return
        self.graph._insert(self._place, helper.make_node("Identity", [value], [self._public]))


def known(node: NodeProto) -> OnnxOperator:
    """The record of its operator; an empty one where there is none."""
    return record_of(node.op_type)


def _constant(node: NodeProto) -> Array | None:
    for attribute in node.attribute:
        if attribute.name == "value":
            return np.asarray(numpy_helper.to_array(attribute.t))
        if attribute.name in ("value_float", "value_floats"):
            return np.asarray(helper.get_attribute_value(attribute), np.float32)
        if attribute.name in ("value_int", "value_ints"):
            return np.asarray(helper.get_attribute_value(attribute), np.int64)
    return None
