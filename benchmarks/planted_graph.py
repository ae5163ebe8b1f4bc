"""A graph under a wrong rewrite, for `planted_rewrites`: what reads what, shapes, constants, and small changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Fault = Callable[["Graph"], None]
FAULTS: dict[str, tuple[Fault, tuple[str, ...]]] = {}
"""By name: the rewrite, and operators without which it does nothing."""


def fault(operators: str) -> Callable[[Fault], Fault]:
    """Of graphs that have all of these."""

    def add(rewrite: Fault) -> Fault:
        FAULTS[rewrite.__name__] = (rewrite, tuple(operators.split()))
        return rewrite

    return add


class Graph:
    """`changed` says whether the rewrite found its pattern."""

    def __init__(self, model: Any, shapes: dict[str, tuple[int, ...]]) -> None:
        self.model, self.shapes, self.changed = model, shapes, False
        self.nodes = model.graph.node
        self.producer = {name: node for node in self.nodes for name in node.output}
        self.outputs = {value.name for value in model.graph.output}
        self._stored = {tensor.name: tensor for tensor in model.graph.initializer}

    def pairs(self, first: str, second: str) -> Iterator[tuple[Any, Any, int]]:
        """A node whose only reader is the other, and at which place it reads it."""
        for node in [*self.nodes]:
            if node.op_type != second:
                continue
            for place, name in enumerate(node.input):
                before = self.producer.get(name)
                if before is not None and before.op_type == first and self.is_private(name):
                    yield before, node, place

    def is_private(self, name: str) -> bool:
        """Read once, and no output."""
        return name not in self.outputs and sum(list(node.input).count(name) for node in self.nodes) == 1

    def constant(self, node: Any, place: int) -> np.ndarray[Any, Any] | None:
        """What is stored for its input there."""
        if place >= len(node.input) or node.input[place] not in self._stored:
            return None
        return numpy_helper.to_array(self._stored[node.input[place]])

    def store(self, node: Any, place: int, array: Any) -> None:
        """Another constant for that input alone."""
        name = f"planted{len(self._stored)}"
        self._stored[name] = numpy_helper.from_array(np.asarray(array), name)
        self.model.graph.initializer.append(self._stored[name])
        while len(node.input) <= place:
            node.input.append("")
        node.input[place] = name
        self.changed = True

    def shape(self, name: str) -> tuple[int, ...]:
        return self.shapes.get(name, ())

    @staticmethod
    def get(node: Any, name: str, default: Any = None) -> Any:
        """An attribute's value."""
        return next(
            (helper.get_attribute_value(attribute) for attribute in node.attribute if attribute.name == name), default
        )

    def put(self, node: Any, name: str, value: Any) -> None:
        """An attribute of another value; None: none."""
        for attribute in [*node.attribute]:
            if attribute.name == name:
                node.attribute.remove(attribute)
        if value is not None:
            node.attribute.append(helper.make_attribute(name, value))
        self.changed = True

    def become(self, node: Any, operator: str, reads: list[str] | None = None, **attributes: Any) -> None:
        """Another operator in its place."""
        node.op_type = operator
        if reads is not None:
            node.input[:] = reads
        del node.attribute[:]
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items() if value != [])
        self.changed = True

    def follow(self, node: Any, operator: str, inner: str) -> None:
        """Another node behind it, whose output gets the old name."""
        after = helper.make_node(operator, [inner], [node.output[0]], name=f"{node.name}/planted")
        node.output[0] = inner
        self.nodes.insert([candidate.name for candidate in self.nodes].index(node.name) + 1, after)
        self.changed = True


def shapes_of(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Of every value whose shape is known."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        shapes[value.name] = tuple(axis.dim_value for axis in value.type.tensor_type.shape.dim)
    return shapes
