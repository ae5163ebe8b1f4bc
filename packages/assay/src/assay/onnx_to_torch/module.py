"""An ONNX graph as a torch module: weights are its parameters and buffers, nodes run in their order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.errors import Lowering, Unsupported
from assay.onnx_to_torch.dtypes import Array, from_numpy
from assay.onnx_to_torch.graph import Graph
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import HOST, OPERATORS
from assay.onnx_to_torch.torch_messages import torch_message
from assay.onnx_to_torch.values import Constant, numbers, tensor

LARGEST_HOST = 4096
"""Elements. Arithmetic on more is the model's own, and stays in the graph."""

_FAILURES = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class TorchGraph(torch.nn.Module):
    """Takes the graph's inputs in its order, gives its outputs as a tuple in its order.

    Raises `Unsupported` while it is built for an operator that is not in the registry, and Lowering, with the node, for
    whatever torch refuses while it runs.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self._attributes: dict[int, str] = {}
        for name in graph.check():
            array = graph.constants[name]
            self._register(name, array)
        for inner in graph.subgraphs():
            for name in inner.check():
                self._register(name, inner.constants[name])

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values: dict[str, Any] = dict(zip(self.graph.inputs, inputs, strict=True))
        device = inputs[0].device if inputs else None
        results = self.evaluate(self.graph, values, device)
        outputs = []
        for name, result in zip(self.graph.outputs, results, strict=True):
            if not isinstance(result, torch.Tensor):
                raise Unsupported(
                    noted(
                        ConversionCode.OUTPUT_EMPTY_OPTIONAL if result is None else ConversionCode.OUTPUT_SEQUENCE,
                        output=name,
                    )
                )
            # A weight that is an output as well would be handed out itself.
            outputs.append(result.clone() if isinstance(result, torch.nn.Parameter) else result)
        return tuple(outputs)

    def evaluate(self, graph: Graph, values: Mapping[str, Any], device: torch.device | None) -> list[Any]:
        """The outputs of a graph or subgraph; `values` holds its inputs and what it sees from around it."""
        own = _Scope(values)
        for name, array in graph.constants.items():
            attribute = self._attributes.get(id(array))
            own[name] = Constant(array, getattr(self, attribute) if attribute else None)
        for node, dead in zip(graph.nodes, graph.dead, strict=True):
            results = self._step(node, [own[name] if name else None for name in node.inputs], own, device)
            own.update(zip(node.outputs, results, strict=False))
            for name in dead:
                own.pop(name, None)
        return [tensor(own[name], device) for name in graph.outputs]

    def _step(self, node: Node, inputs: list[Any], scope: Mapping[str, Any], device: torch.device | None) -> Any:
        try:
            known = _on_host(node, inputs)
            if known is not None:
                return known
            operator = OPERATORS[node.domain, node.operator]
            arguments = [
                value if index in operator.host and (value := numbers(operand)) is not None else tensor(operand, device)
                for index, operand in enumerate(inputs)
            ]
            if node.operator in ("If", "Loop", "Scan", "SequenceMap"):
                results = operator.function(node, self, scope, device, *arguments)
            else:
                results = operator.function(node, *arguments)
        except Lowering as error:
            error.node = error.node or node.label
            raise
        except NotImplementedError as error:
            raise Unsupported(
                noted(ConversionCode.TORCH_CANNOT, operator=node.operator, error=torch_message(error)), node=node.label
            ) from error
        except _FAILURES as error:
            raise Lowering(
                noted(ConversionCode.TORCH_FAILED, operator=node.operator, node=node.label, error=torch_message(error)),
                node=node.label,
            ) from error
        return results if isinstance(results, tuple) else (results,)

    def _register(self, name: str, array: Array) -> None:
        attribute = "w_" + re.sub(r"\W", "_", name)
        while hasattr(self, attribute):
            attribute += "_"
        value = from_numpy(array)
        if value.is_floating_point() and value.ndim > 0:
            self.register_parameter(attribute, torch.nn.Parameter(value, requires_grad=False))
        else:
            self.register_buffer(attribute, value)
        self._attributes[id(array)] = attribute


class _Scope(dict[str, Any]):
    """Own values over those of the graph around."""

    def __init__(self, outer: Mapping[str, Any]) -> None:
        super().__init__()
        self.outer = outer

    def __missing__(self, name: str) -> Any:
        return self.outer[name]


def _on_host(node: Node, inputs: Sequence[Any]) -> tuple[Any, ...] | None:
    """The results of a node whose inputs are all known and small, else None."""
    function = HOST.get(node.operator) if not node.domain else None
    if function is None or not inputs:
        return None
    if node.operator in ("Shape", "Size"):
        result = function(node, inputs[0])
    else:
        known = [numbers(value) if value is not None else None for value in inputs]
        if any(array is None and value is not None for array, value in zip(known, inputs, strict=True)):
            return None
        if sum(array.size for array in known if array is not None) > LARGEST_HOST:
            return None
        result = function(node, *known)
    if result is None:
        return None
    return result if isinstance(result, tuple) else (np.asarray(result),)
