"""A program computed in float64 throughout: the oracle of torch models."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from assay.backends.torch.state import restoring

NARROW = (torch.float32, torch.float16, torch.bfloat16)


def widened_module(exported: Any) -> Any:
    """Weights and every type that the graph names become float64; what it asserts about types is dropped."""
    module = exported.module(check_guards=False)
    graph = module.graph
    for node in list(graph.nodes):
        if "_assert_tensor_metadata" in str(node.target):
            graph.erase_node(node)
        elif node.op == "call_function":
            node.args = tuple(_wide(arg) for arg in node.args)
            node.kwargs = {name: _wide(arg) for name, arg in node.kwargs.items()}
    module.recompile()
    for inner in module.modules():
        for name, weight in list(inner.named_parameters(recurse=False)):
            setattr(inner, name, torch.nn.Parameter(_wide_tensor(weight.detach()), requires_grad=False))
        for name, buffer in list(inner.named_buffers(recurse=False)):
            inner._buffers[name] = _wide_tensor(buffer)
        for name, value in list(vars(inner).items()):
            # Constants that tracing lifted are plain attributes.
            if isinstance(value, torch.Tensor):
                setattr(inner, name, _wide_tensor(value))

    restored = restoring(module, exported)

    def call(*args: Any, **kwargs: Any) -> Any:
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            return module(*args, **kwargs)
        finally:
            torch.set_default_dtype(before)

    return restored(call)


def _wide(value: Any) -> Any:
    if isinstance(value, Node):
        return value
    if isinstance(value, torch.dtype):
        return torch.float64 if value in NARROW else value
    if isinstance(value, list | tuple):
        return type(value)(_wide(element) for element in value)
    return value


def _wide_tensor(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.float64) if tensor.dtype in NARROW else tensor
