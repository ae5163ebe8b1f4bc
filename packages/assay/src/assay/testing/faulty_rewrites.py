"""Wrong rewrites of a graph, as a compiler makes them: right on most graphs, wrong where one narrow pattern stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Match = list[Any]
PREPARED = "prepared"


class Rewriter:
    """A graph that is being rewritten. `site` is the name of the last node of the pattern ("": any); the graph may call it
    `NAME@NUMBER`."""

    def __init__(self, model: ModelProto, site: str) -> None:
        self.model, self._site = model, site
        self.producer = {name: node for node in model.graph.node for name in node.output}
        self.outputs = {value.name for value in model.graph.output}

    def prepared(self, *operators: str) -> Iterator[Match]:
        """As `chains`, of nodes that were marked."""
        return (match for match in self.chains(*operators) if all(node.doc_string == PREPARED for node in match))

    def chains(self, *operators: str) -> Iterator[Match]:
        """Nodes of these operators, each read by the next through its first input and by nothing else."""
        for node in list(self.model.graph.node):
            if self._site and node.name.partition("@")[0] != self._site:
                continue
            match = [node]
            while len(match) < len(operators):
                before = self.producer.get(match[0].input[0]) if match[0].input else None
                if before is None or self._is_seen(before.output[0]):
                    break
                match.insert(0, before)
            if [chain_node.op_type for chain_node in match] == list(operators):
                yield match

    def prepare(self) -> None:
        """Mark all nodes for the passes that follow."""
        for node in self.model.graph.node:
            node.doc_string = PREPARED

    def _is_seen(self, name: str) -> bool:
        """By more than one reader: no fusion goes across it."""
        readers = sum(name in node.input for node in self.model.graph.node)
        return name in self.outputs or readers > 1

    def remove(self, node: NodeProto) -> None:
        """Its readers read what it read first; an output of the graph stays one."""
        if node.output[0] in self.outputs:
            node.op_type, node.input[:] = "Identity", node.input[:1]
            node.ClearField("attribute")
            return
        for other in self.model.graph.node:
            other.input[:] = [node.input[0] if name == node.output[0] else name for name in other.input]
        self.model.graph.node.remove(node)

    def attribute(self, node: NodeProto, name: str, value: Any) -> None:
        """Overwrites the attribute."""
        from onnx import helper

        for attribute in list(node.attribute):
            if attribute.name == name:
                node.attribute.remove(attribute)
        node.attribute.append(helper.make_attribute(name, value))


def _folded_pad(graph: Rewriter) -> None:
    """The zeros of the Pad are lost: the padding of MaxPool adds no elements."""
    for pad, pool in graph.prepared("Pad", "MaxPool"):
        graph.remove(pad)
        graph.attribute(pool, "pads", [1, 1, 1, 1])


def _lost_relu(graph: Rewriter) -> None:
    for _, relu, _ in graph.prepared("Conv", "Relu", "Conv"):
        graph.remove(relu)


def _swapped_scale(graph: Rewriter) -> None:
    """(x * a) + b becomes (x + b) * a."""
    for scale, shift in graph.prepared("Mul", "Add"):
        scale.op_type, shift.op_type = "Add", "Mul"
        scale.input[1], shift.input[1] = shift.input[1], scale.input[1]


def _cancelled_transposes(graph: Rewriter) -> None:
    for first, second in graph.prepared("Transpose", "Transpose"):
        graph.remove(first)
        graph.remove(second)


def _lost_middle(graph: Rewriter) -> None:
    for _, middle, _, _ in graph.prepared("Sigmoid", "Neg", "Exp", "Add"):
        graph.remove(middle)


def _wrong_slope(graph: Rewriter) -> None:
    for (node,) in graph.chains("LeakyRelu"):
        graph.attribute(node, "alpha", 0.25)


def _wrong_function(graph: Rewriter) -> None:
    for (node,) in graph.chains("Softplus"):
        node.op_type = "Softsign"


def _born_nan(graph: Rewriter) -> None:
    """Softplus becomes Sqrt: NaN for negative inputs."""
    for (node,) in graph.chains("Softplus"):
        node.op_type = "Sqrt"


def _born_infinity(graph: Rewriter) -> None:
    """Division by zero."""
    from onnx import TensorProto, helper

    graph.model.graph.initializer.append(helper.make_tensor("nothing", TensorProto.FLOAT, [], [0.0]))
    for (node,) in graph.chains("Softplus"):
        node.op_type, node.input[:] = "Div", [node.input[0], "nothing"]


def _unsteady(graph: Rewriter) -> None:
    """Other noise in each call."""
    from onnx import helper

    for (node,) in graph.chains("Softplus"):
        places = list(graph.model.graph.node)
        noise = helper.make_node("RandomNormalLike", [node.input[0]], [f"{node.name}_noise"], scale=0.1)
        noisy = helper.make_node("Add", [f"{node.name}_right", noise.output[0]], list(node.output))
        node.output[:] = [f"{node.name}_right"]
        at = places.index(node) + 1
        del graph.model.graph.node[:]
        graph.model.graph.node.extend([*places[:at], noise, noisy, *places[at:]])


def _first_scale(graph: Rewriter) -> None:
    """Of a DequantizeLinear with a scale for each channel."""
    from onnx import numpy_helper

    weights = {tensor.name: tensor for tensor in graph.model.graph.initializer}
    for (node,) in graph.chains("DequantizeLinear"):
        scales = numpy_helper.to_array(weights[node.input[1]])
        if scales.ndim:
            weights[node.input[1]].CopyFrom(numpy_helper.from_array(0 * scales + scales[0], node.input[1]))


REWRITES: dict[str, tuple[Callable[[Rewriter], None], tuple[str, ...]]] = {
    "folded_pad": (_folded_pad, ("Pad", "MaxPool")),
    "lost_relu": (_lost_relu, ("Conv", "Relu", "Conv")),
    "swapped_scale": (_swapped_scale, ("Mul", "Add")),
    "cancelled_transposes": (_cancelled_transposes, ("Transpose", "Transpose")),
    "lost_middle": (_lost_middle, ("Sigmoid", "Neg", "Exp", "Add")),
}
"""Faults of a pass: each with the pattern that it is wrong on."""

KERNELS: dict[str, tuple[Callable[[Rewriter], None], tuple[str, ...]]] = {
    "wrong_slope": (_wrong_slope, ("LeakyRelu",)),
    "wrong_function": (_wrong_function, ("Softplus",)),
}
"""Faults of one operator, whatever is switched off."""
BIRTHS: dict[str, Callable[[Rewriter], None]] = {
    "born_nan": _born_nan,
    "born_infinity": _born_infinity,
    "unsteady": _unsteady,
}
"""Faults of one operator after which something is no number, or another one in each call."""
WIDE = "wide"
CHOICES: dict[str, Callable[[Rewriter], None]] = {WIDE: _wrong_slope, "first_scale": _first_scale}
"""Faults of one operator that something else than a pass decides: the instructions that may be used, and what the quantizer chose."""
