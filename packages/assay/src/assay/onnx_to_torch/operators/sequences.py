"""Sequences of tensors as Python lists: they exist only while the graph is traced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import integer, ints

if TYPE_CHECKING:
    from assay.onnx_to_torch.module import TorchGraph

Tensor = torch.Tensor


@operator("SequenceConstruct")
def construct(node: Node, *tensors: Tensor) -> list[Tensor]:
    return list(tensors)


@operator("SequenceEmpty")
def empty(node: Node) -> list[Tensor]:
    return []


@operator("SequenceInsert", host=(2,))
def insert(node: Node, sequence: list[Tensor], tensor: Tensor, position: Any = None) -> list[Tensor]:
    at = len(sequence) if position is None else integer(position)
    return [*sequence[:at], tensor, *sequence[at:]]


@operator("SequenceErase", host=(1,))
def erase(node: Node, sequence: list[Tensor], position: Any = None) -> list[Tensor]:
    at = (len(sequence) - 1 if position is None else integer(position)) % len(sequence)
    return [*sequence[:at], *sequence[at + 1 :]]


@operator("SequenceAt", host=(1,))
def at(node: Node, sequence: list[Tensor], position: Any) -> Tensor:
    return sequence[integer(position)]


@operator("SequenceLength")
def length(node: Node, sequence: list[Tensor]) -> Tensor:
    return torch.tensor(len(sequence))


@operator("ConcatFromSequence")
def concat(node: Node, sequence: list[Tensor]) -> Tensor:
    function = torch.stack if node.get("new_axis", 0) else torch.cat
    return function(sequence, node.get("axis"))


@operator("SplitToSequence", host=(1,))
def split(node: Node, x: Tensor, sizes: Any = None) -> list[Tensor]:
    axis = node.get("axis", 0)
    if sizes is None:
        parts = torch.split(x, 1, axis)
        return list(parts) if node.get("keepdims", 1) else [part.squeeze(axis) for part in parts]
    each = ints(sizes)
    return list(torch.split(x, each[0] if sizes.ndim == 0 else each, axis))


@operator("SequenceMap")
def sequence_map(
    node: Node, module: TorchGraph, scope: Mapping[str, Any], device: torch.device | None, *inputs: Any
) -> Any:
    from assay.onnx_to_torch.operators.control import _all

    body = node.get("body")
    outputs: list[list[Tensor]] = [[] for _ in body.outputs]
    for i in range(len(inputs[0])):
        operands = [operand[i] if isinstance(operand, list) else operand for operand in inputs]
        results = module.evaluate(body, {**_all(scope), **dict(zip(body.inputs, operands, strict=True))}, device)
        for kept, value in zip(outputs, results, strict=True):
            kept.append(value)
    return tuple(outputs)


@operator("Optional")
def optional(node: Node, value: Any = None) -> Any:
    return value


@operator("OptionalHasElement")
def has_element(node: Node, value: Any = None) -> Tensor:
    return torch.tensor(value is not None)


@operator("OptionalGetElement")
def get_element(node: Node, value: Any) -> Any:
    return value
