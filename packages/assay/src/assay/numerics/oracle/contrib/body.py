"""The steps that an operator of com.microsoft is made of, written in the model's own opset of the standard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from assay.ports import Tensor

_GIVES = {"MatMulInteger": TensorProto.INT32, "Shape": TensorProto.INT64}
_TYPED_BY = {"DequantizeLinear": 1, "QuantizeLinear": 2, "Where": 1}
"""Steps that give another type than that of their first input: always the same, or that of the input of this number."""


class Unknown(Exception):
    """What the steps depend on (a rank, a stored number) is not known, or they need a newer opset, or nobody wrote steps for this form of
    the operator: it is evaluated as it is."""


@dataclass
class Known:
    """What is known of the values of a graph: declared or inferred element types and shapes (None: a size left open), and
    stored numbers."""

    version: int
    types: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    stored: dict[str, TensorProto] = field(default_factory=dict)


class Body:
    """Takes steps down in place of one node. Values are called by their names; "" is one that is left out."""

    def __init__(self, node: NodeProto, known: Known) -> None:
        self.node = node
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self._known = known
        self._prefix = f"{next(name for name in node.output if name)}/{node.op_type}/"
        self._given: dict[str, str] = {}

    @property
    def version(self) -> int:
        """The opset of the standard."""
        return self._known.version

    def needs(self, version: int) -> None:
        """Raises Unknown where the model's opset is an older one."""
        if self.version < version:
            raise Unknown

    def input(self, position: int) -> str:
        return self.node.input[position] if position < len(self.node.input) else ""

    def gives(self, position: int) -> bool:
        """Whether the node names that output."""
        return position < len(self.node.output) and bool(self.node.output[position])

    def attribute(self, name: str, default: Any = None) -> Any:
        for attribute in self.node.attribute:
            if attribute.name == name:
                value = helper.get_attribute_value(attribute)
                return value.decode() if isinstance(value, bytes) else value
        return default

    def attributes(self, *names: str) -> dict[str, Any]:
        """Those of these names that the node has."""
        values = {name: self.attribute(name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def shape(self, name: str) -> tuple[int | None, ...]:
        """Raises Unknown."""
        if name in self._known.stored:
            return tuple(self._known.stored[name].dims)
        if name not in self._known.shapes:
            raise Unknown
        return self._known.shapes[name]

    def rank(self, name: str) -> int:
        return len(self.shape(name))

    def size(self, name: str, axis: int) -> int:
        """Raises Unknown where it is left open."""
        size = self.shape(name)[axis]
        if size is None:
            raise Unknown
        return size

    def type_of(self, name: str) -> int:
        """float where nothing is known: that is what these operators are mostly of."""
        return self._known.types.get(name, TensorProto.FLOAT)

    def stored(self, name: str) -> Tensor:
        """Raises Unknown for what is computed."""
        if name not in self._known.stored:
            raise Unknown
        return np.asarray(numpy_helper.to_array(self._known.stored[name]))

    def tensor(self, array: Any) -> str:
        name = f"{self._prefix}{len(self.initializers)}:stored"
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def number(self, value: Any, like: str) -> str:
        """Stored in the type of another value."""
        return self.tensor(np.asarray(value, helper.tensor_dtype_to_np_dtype(self.type_of(like))))

    def whole(self, *values: int) -> str:
        return self.tensor(np.array(values, np.int64))

    def several(self, kind: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """A step with `count` results."""
        outputs = [f"{self._prefix}{len(self.nodes)}:{kind}{number or ''}" for number in range(count)]
        label = f"{self.node.name or self.node.op_type}/{kind}"
        given = list(inputs)
        while given and not given[-1]:
            given.pop()
        self.nodes.append(helper.make_node(kind, given, outputs, name=label, **attributes))
        return outputs

    def step(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """A step with one result, of the type of its first input unless it is one that changes it."""
        (name,) = self.several(kind, inputs, 1, **attributes)
        like = inputs[_TYPED_BY.get(kind, 0)] if inputs else ""
        dtype = attributes.get("to") or _GIVES.get(kind) or self._known.types.get(like)
        if dtype:
            self._known.types.setdefault(name, dtype)
        return name

    def give(self, value: str, position: int = 0) -> None:
        """That is what the node gives there; not asked for where it has no name."""
        if not self.gives(position):
            return
        output = self.node.output[position]
        made = any(value in node.output for node in self.nodes)
        if made and value not in self._given:
            self._given[value] = output
        else:
            self._given[self.step("Identity", value)] = output

    def finished(self) -> list[NodeProto]:
        """The steps, their results called as those of the node."""
        for node in self.nodes:
            node.input[:] = [self._given.get(name, name) for name in node.input]
            node.output[:] = [self._given.get(name, name) for name in node.output]
        return self.nodes

    # Forms that changed between opsets.

    def unsqueeze(self, value: str, *axes: int) -> str:
        if self.version < 13:
            return self.step("Unsqueeze", value, axes=axes)
        return self.step("Unsqueeze", value, self.whole(*axes))

    def mean(self, value: str, *axes: int) -> str:
        """The axes stay, of length 1."""
        if self.version < 18:
            return self.step("ReduceMean", value, axes=axes, keepdims=1)
        return self.step("ReduceMean", value, self.whole(*axes), keepdims=1)

    def total(self, value: str, *axes: int) -> str:
        """The axes are gone."""
        if self.version < 13:
            return self.step("ReduceSum", value, axes=axes, keepdims=0)
        return self.step("ReduceSum", value, self.whole(*axes), keepdims=0)

    def parts(self, value: str, sizes: Sequence[int], axis: int) -> list[str]:
        if self.version < 13:
            return self.several("Split", [value], len(sizes), axis=axis, split=sizes)
        return self.several("Split", [value, self.whole(*sizes)], len(sizes), axis=axis)

    def reshape(self, value: str, *sizes: int) -> str:
        return self.step("Reshape", value, self.whole(*sizes))

    def add(self, left: str, right: str) -> str:
        """The other one where one is left out."""
        return self.step("Add", left, right) if left and right else left or right

    def times(self, value: str, factor: float) -> str:
        """The value itself where the factor is 1."""
        return value if factor == 1.0 else self.step("Mul", value, self.number(factor, value))


Decomposition = Callable[[Body], None]
"""Takes down the steps of one node and says what it gives. Raises Unknown where that depends on what is not known."""
