"""An If whose condition is not known before the program runs: both branches are computed, and the condition chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.errors import Lowering, Unsupported
from assay.onnx_to_torch.dtypes import name_of
from assay.onnx_to_torch.graph import Graph
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.values import numbers

if TYPE_CHECKING:
    from assay.onnx_to_torch.module import TorchGraph

INDEX_INPUT = {
    "Gather": 1, "GatherElements": 1, "GatherND": 1, "Scatter": 1, "ScatterElements": 1, "ScatterND": 1, "OneHot": 1, "TensorScatter": 2,
}  # fmt: skip
"""Operators that refuse some values of this input: in the branch that is not taken they would end a right program."""


def both_branches(
    node: Node, module: TorchGraph, scope: Mapping[str, Any], device: torch.device | None, condition: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Raises `Unsupported` where the branches cannot both be computed for the same inputs, or their results differ in shape or type."""
    answers = []
    for attribute in ("then_branch", "else_branch"):
        graph: Graph = node.get(attribute)
        if doubtful := _may_refuse(graph, scope):
            raise node.unsupported(noted(ConversionCode.BRANCH_MAY_REFUSE, branch=attribute, index=doubtful))
        try:
            answers.append(module.evaluate(graph, scope, device))
        except Unsupported:
            raise
        except Lowering as error:
            # At other sizes it may be possible: so this is not a refusal.
            raise node.failed(
                noted(ConversionCode.BRANCH_NOT_COMPUTED, branch=attribute, error=error.reason)
            ) from error
    chosen = condition.reshape(())
    return tuple(_chosen(node, chosen, yes, no) for yes, no in zip(*answers, strict=True))


def _chosen(node: Node, condition: torch.Tensor, yes: Any, no: Any) -> torch.Tensor:
    if not (isinstance(yes, torch.Tensor) and isinstance(no, torch.Tensor)):
        raise node.unsupported(noted(ConversionCode.BRANCH_GIVES_NO_TENSOR))
    alike = yes.ndim == no.ndim and all(statically_known_true(a == b) for a, b in zip(yes.shape, no.shape, strict=True))
    if yes.dtype != no.dtype or not alike:
        raise node.unsupported(
            noted(
                ConversionCode.BRANCHES_DIFFER,
                dtype=name_of(yes.dtype),
                shape=tuple(map(str, yes.shape)),
                other_dtype=name_of(no.dtype),
                other_shape=tuple(map(str, no.shape)),
            )
        )
    return torch.where(condition, yes, no)


def _may_refuse(graph: Graph, scope: Mapping[str, Any]) -> str:
    """The first node, of the branch or of one within, whose index is not a constant; empty without one."""
    graphs = (graph, *graph.subgraphs())
    constants = {name for inner in graphs for name in inner.constants}
    for node in (node for inner in graphs for node in inner.nodes):
        place = INDEX_INPUT.get(node.operator) if not node.domain else None
        if place is not None and node.inputs[place] not in constants and not _is_known(node.inputs[place], scope):
            return f"{node.operator} ({node.label})"
    return ""


def _is_known(name: str, scope: Mapping[str, Any]) -> bool:
    """Whether the graph around the branch has that value as a number."""
    try:
        return numbers(scope[name]) is not None
    except KeyError:
        return False
