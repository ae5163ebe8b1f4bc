"""onnx.reference with its failures named, its memory bounded, and a variant that computes in double throughout."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops._quant_utils import reshape_input

from assay.numerics.oracle.convolution import FAST_OPERATORS
from assay.numerics.oracle.widen import widen
from assay.core.dtype import dtype_name
from assay.errors import Lowering, Unsupported
from assay.ports import Tensor, Tensors

_NARROW = ("float32", "float16", "bfloat16")
# These compute in float32 inside, whatever they are given, and cast back (onnx 1.23.2).
_NARROW_INSIDE = ("LinearAttention", "CausalConvWithState", "BitCast")
_PYTHON = (ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RuntimeError)


class Evaluator(ReferenceEvaluator):
    """Evaluates a graph node by node, dropping each value after its last use. Convolution and pooling are our own."""

    wide = False

    def __init__(self, proto: Any, *, new_ops: list[type[OpRun]] | None = None, **arguments: Any) -> None:
        operators = [*FAST_OPERATORS, *(_WIDE_OPERATORS if self.wide else ())]
        super().__init__(proto, new_ops=[*(new_ops or ()), *operators], **arguments)

    def evaluate(self, tensors: Tensors) -> list[Tensor]:
        """Outputs in the model's order. Raises Unsupported or Lowering that names the node; MemoryError as it comes."""
        values: dict[str, Any] = {"": None, **self.rt_inits_, **tensors}
        last_use = self._last_uses()
        for position, node in enumerate(self.rt_nodes_):
            for name, value in zip(node.output, self._step(node, values), strict=False):
                values[name] = value
            for name in last_use.get(position, ()):
                values.pop(name, None)
        return [values[name] for name in self.output_names]

    def _step(self, node: OpRun, values: dict[str, Any]) -> tuple[Any, ...]:
        context = {"context": values} if node.need_context() else {}
        label = node.onnx_node.name or f"{node.op_type} -> {', '.join(node.output)}"
        try:
            results: tuple[Any, ...] = node.run(*[values[name] for name in node.input], **context)
        except NotImplementedError as error:
            raise Unsupported(f"onnx.reference cannot do {node.op_type}: {error}", node=label) from error
        except (*_PYTHON, TypeError, ValueError) as error:
            # onnx.reference wraps a TypeError in a list of attributes; the cause says what happened.
            raise Lowering(
                f"onnx.reference failed in {node.op_type}: {error.__cause__ or error}", node=label
            ) from error
        if self.wide and any(isinstance(one, np.ndarray) and dtype_name(one.dtype) in _NARROW for one in results):
            raise Unsupported(f"onnx.reference does not compute {node.op_type} in float64.", node=label)
        return results

    def _last_uses(self) -> dict[int, list[str]]:
        last: dict[str, int] = {}
        for position, node in enumerate(self.rt_nodes_):
            for name in (*node.output, *_names_read(node.onnx_node)):
                last[name] = position
        freed: dict[int, list[str]] = {}
        for name, position in last.items():
            if name and name not in self.output_names:
                freed.setdefault(position, []).append(name)
        return freed


class WideEvaluator(Evaluator):
    """The same in float64: every graph it is given, subgraphs and function bodies too, is widened first, in place."""

    wide = True

    def __init__(self, proto: Any, **arguments: Any) -> None:
        for node in getattr(getattr(proto, "graph", proto), "node", ()):
            if node.op_type in _NARROW_INSIDE or _is_cubic(node):
                raise Unsupported(f"onnx.reference does not compute {node.op_type} in float64.", node=node.name)
        widen(proto)
        super().__init__(proto, **arguments)


class DequantizeLinear(OpRun):
    """(x - zero_point) * scale; onnx.reference goes through float32, which int32 does not fit into."""

    op_domain = ""

    def _run(
        self,
        x: Tensor,
        scale: Tensor,
        zero_point: Tensor | None = None,
        axis: int = 1,
        block_size: int = 0,
        output_dtype: int = 0,
    ) -> tuple[Tensor]:
        del output_dtype  # Widened or absent: either way the answer is float64.
        wide = x.astype(np.float64)
        if zero_point is not None:
            wide = wide - reshape_input(zero_point, x.shape, axis, block_size).astype(np.float64)
        return (wide * reshape_input(scale, x.shape, axis, block_size),)


_WIDE_OPERATORS: list[type[OpRun]] = [DequantizeLinear]


def _names_read(node: onnx.NodeProto) -> Iterator[str]:
    """Inputs of the node and of every node in its subgraphs: those may read values of the graph around them."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                yield from _names_read(inner)
            yield from (output.name for output in graph.output)


def _is_cubic(node: onnx.NodeProto) -> bool:
    """GridSample keeps its cubic coefficients in float32 (onnx 1.23.2)."""
    modes = [attribute.s for attribute in node.attribute if attribute.name == "mode"]
    return bool(node.op_type == "GridSample" and modes and b"cubic" in modes[0])
