"""One case of an operator beside the standard, and the tensors that cases are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper, numpy_helper

from assay.ports import Tensor

RANDOM = np.random.default_rng(20)


@dataclass(frozen=True)
class Case:
    """`fed` are inputs of the model, `stored` its initializers, None one that is left out; in the order of `order`."""

    operator: str
    inputs: tuple[Tensor | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    stored: tuple[int, ...] = ()
    outputs: tuple[str, ...] = ("Y",)
    opset: int = 17
    domain: str = "com.microsoft"
    declared: bool = False
    """Whether the model says its sizes; else they are left open."""

    def feeds(self) -> dict[str, Tensor]:
        return {f"x{at}": array for at, array in enumerate(self.inputs) if array is not None and at not in self.stored}

    def model(self) -> ModelProto:
        names = ["" if array is None else f"x{at}" for at, array in enumerate(self.inputs)]
        node = helper.make_node(self.operator, names, list(self.outputs), domain=self.domain, **self.attributes)
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(feed.dtype), feed.shape if self.declared else [None] * feed.ndim
            )
            for name, feed in self.feeds().items()
        ]
        stored = [
            numpy_helper.from_array(operand, f"x{at}") for at in self.stored if (operand := self.inputs[at]) is not None
        ]
        outputs = [onnx.ValueInfoProto(name=name) for name in self.outputs if name]
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        graph = helper.make_graph([node], "case", inputs, outputs, stored)
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def real(*shape: int) -> Tensor:
    return RANDOM.standard_normal(shape).astype(np.float32)


def whole(*shape: int, dtype: type = np.uint8) -> Tensor:
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max + 1, shape).astype(dtype)


def one(value: float, dtype: type = np.float32) -> Tensor:
    return np.array(value, dtype)
