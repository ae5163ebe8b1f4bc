"""Core ML's quantizer in seconds instead of a quarter of an hour.

It looks for every activation behind every kind of layer, some 400 patterns, and traces each one with dynamo each time
(executorch 1.4.1: 1.5 s a pattern, whatever the model; its issues 21623 and 21695 tell of hours). An activation that the
program does not have matches nowhere, and a pattern traced without dynamo has the same nodes: so the annotations are the
same, and nearly all of the time is saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_TUPLES = ("_supported_activations", "_supported_activations_no_inplace")
_TRACER = "_get_aten_graph_module"


def quick_quantizer(config: Any) -> Any:
    """executorch's CoreMLQuantizer for that configuration."""
    from executorch.backends.apple.coreml.quantizer import CoreMLQuantizer

    class Quick(CoreMLQuantizer):  # type: ignore[misc]
        def annotate(self, model: Any) -> Any:
            with only_what_is_there(model):
                return super().annotate(model)

    return Quick(config)


@contextmanager
def only_what_is_there(program: Any) -> Iterator[None]:
    """Inside, executorch's patterns are of the activations of this program only, and traced quickly."""
    from executorch.backends.apple.coreml.quantizer import _coreml_quantizer_utils as utils

    before = {name: getattr(utils, name) for name in (*_TUPLES, _TRACER)}
    here = _operators(program)
    try:
        for name in _TUPLES:
            setattr(utils, name, tuple(pattern for pattern in before[name] if _operators(_alone(pattern)) <= here))
        setattr(utils, _TRACER, _traced)
        yield
    finally:
        for name, value in before.items():
            setattr(utils, name, value)


def _traced(pattern: Any, example: Sequence[Any], _is_cuda: bool = False) -> Any:
    """What torchao's `_get_aten_graph_module_for_pattern` makes, by torch.export without dynamo."""
    import torch

    module: Any = torch.export.export(pattern, tuple(example), strict=False).module()
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


def _alone(activation: Callable[..., Any]) -> Any:
    import torch

    class Alone(torch.nn.Module):
        def forward(self, tensor: Any) -> Any:
            return activation(tensor)

    return torch.export.export(Alone(), (torch.ones(2),), strict=False)


def _operators(program: Any) -> set[str]:
    """By name, an operator in place under that of the other."""
    called = (str(node.target) for node in program.graph.nodes if node.op == "call_function")
    return {name.partition(".default")[0].rstrip("_") for name in called}
