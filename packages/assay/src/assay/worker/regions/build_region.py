"""Parts of a graph as one model: what they read from elsewhere are its inputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.models.expose_intermediates import reads_of
from assay.ports import Tensor
from assay.worker.regions.value_files import GraphValues

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto


@dataclass
class Window:
    """One part of the model: its nodes, the names of its outputs, and of each new name the one in the whole graph."""

    nodes: list[NodeProto]
    outputs: list[str]
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Region:
    """A model of unconnected parts. `feeds` are its inputs, in the types that it declares."""

    model: ModelProto
    windows: list[Window]
    feeds: dict[str, Tensor]

    def alone(self, window: Window) -> ModelProto:
        """One of its parts, without inputs: what is asked of each is not to grow with the number of all."""
        if len(self.windows) == 1:
            return self.model
        from onnx import helper

        read = dict.fromkeys(name for node in window.nodes for name in reads_of(node))
        ends = [self._ends[name] for name in window.outputs]
        graph = helper.make_graph(
            window.nodes, "part", [], ends, [self._weights[name] for name in read if name in self._weights]
        )
        whole = self.model
        return helper.make_model(
            graph, opset_imports=list(whole.opset_import), ir_version=whole.ir_version, functions=list(whole.functions)
        )

    @cached_property
    def _ends(self) -> Mapping[str, ValueInfoProto]:
        return {value.name: value for value in self.model.graph.output}

    @cached_property
    def _weights(self) -> Mapping[str, TensorProto]:
        return {tensor.name: tensor for tensor in self.model.graph.initializer}


def build_region(
    values: GraphValues, windows: Sequence[Sequence[int]], outputs: Sequence[str] = (), taps: Sequence[str] = ()
) -> Region:
    """One part for each window, the places of its nodes in the graph of `values`. Without `outputs` it gives whatever leaves a part;
    names are kept where there is one part. Raises Lowering where a value that a part reads was not evaluated."""
    from onnx import helper

    whole = values.model
    weights = {tensor.name: tensor for tensor in whole.graph.initializer}
    inputs: dict[str, Any] = {}
    used: dict[str, None] = {}
    feeds: dict[str, Tensor] = {}
    built: list[Window] = []
    ends: list[Any] = []
    for number, places in enumerate(windows):
        nodes = [values.nodes[place] for place in sorted(places)]
        gives = [*(outputs or leaving(values, places)), *taps]
        own = {name for node in nodes for name in node.output if name}
        read = [
            name
            for name in dict.fromkeys(name for node in nodes for name in reads_of(node))
            if name and name not in own
        ]
        used |= dict.fromkeys(name for name in read if name in weights)
        entering = [name for name in read if name not in weights]
        suffix = f"@{number}" if len(windows) > 1 else ""
        new = {name: f"{name}{suffix}" for name in (*entering, *own)} if suffix else {}
        nodes = [_renamed(node, new, suffix) for node in nodes] if suffix else nodes
        for name in entering:
            feeds[new.get(name, name)] = _value(values, name)
            inputs[new.get(name, name)] = _described(whole, name, feeds[new.get(name, name)], new.get(name, name))
        built.append(
            Window(nodes, [new.get(give, give) for give in gives], {new.get(give, give): give for give in gives})
        )
        ends += [_described(whole, name, _value(values, name), new.get(name, name)) for name in gives]
    graph = helper.make_graph(
        [node for window in built for node in window.nodes],
        "part",
        [*inputs.values()],
        ends,
        [weights[name] for name in used],
    )
    model = helper.make_model(
        graph, opset_imports=list(whole.opset_import), ir_version=whole.ir_version, functions=list(whole.functions)
    )
    return Region(model, built, feeds)


def leaving(values: GraphValues, places: Collection[int]) -> list[str]:
    """What the nodes at these places compute that anything else sees; where nothing is, what nothing reads. A second output that nobody
    asks for stays away: as an output of the part it may make the first one right."""
    inside = frozenset(places)
    ends = {value.name for value in values.model.graph.output}
    made = [name for place in sorted(inside) for name in values.nodes[place].output if name in values]
    readers = {name: values.readers.get(name, frozenset()) for name in made}
    leaving_values = [name for name in made if name in ends or readers[name] - inside]
    return leaving_values or [name for name in made if not readers[name]]


def _value(values: GraphValues, name: str) -> Tensor:
    try:
        return values[name]
    except KeyError:
        raise Lowering(noted(NoteCode.VALUE_NOT_EVALUATED, value=name)) from None


def _described(whole: ModelProto, name: str, array: Tensor, new: str) -> Any:
    """With the sizes of the value; an input or output of the whole model as that declares it, symbolic sizes included."""
    from onnx import ValueInfoProto, helper

    for value in (*whole.graph.input, *whole.graph.output):
        if value.name == name and value.type.tensor_type.HasField("shape"):
            copy = ValueInfoProto()
            copy.CopyFrom(value)
            copy.name = new
            return copy
    return helper.make_tensor_value_info(new, helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype), array.shape)


def _renamed(node: NodeProto, new: Mapping[str, str], suffix: str) -> NodeProto:
    from onnx import NodeProto

    copy = NodeProto()
    copy.CopyFrom(node)
    copy.name = f"{node.name}{suffix}" if node.name else ""
    copy.input[:] = [new.get(name, name) for name in node.input]
    copy.output[:] = [new.get(name, name) for name in node.output]
    for attribute in copy.attribute:
        if attribute.HasField("g"):
            _rename_free(attribute.g, new)
    return copy


def _rename_free(graph: GraphProto, new: Mapping[str, str]) -> None:
    """What a body reads from outside, under its new name."""
    own = {info.name for info in (*graph.input, *graph.initializer)}
    own |= {name for node in graph.node for name in node.output}
    free = {name: other for name, other in new.items() if name not in own}
    for node in graph.node:
        node.input[:] = [free.get(name, name) for name in node.input]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename_free(attribute.g, free)
    for value in graph.output:
        value.name = free.get(value.name, value.name)
