"""Subgraphs: branches decided while tracing or both computed, loops unrolled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from assay.onnx_to_torch.both_branches import both_branches
from assay.onnx_to_torch.graph import Graph
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator

if TYPE_CHECKING:
    from assay.onnx_to_torch.module import TorchGraph

Tensor = torch.Tensor
Scope = Mapping[str, Any]


@operator("If", host=(0,))
def branch(node: Node, module: TorchGraph, scope: Scope, device: torch.device | None, condition: Any) -> Any:
    """A condition that is known while tracing decides; else a program has both branches and chooses between their results."""
    if isinstance(condition, torch.Tensor) and torch.compiler.is_exporting():
        return both_branches(node, module, scope, device, condition)
    taken = node.get("then_branch") if bool(condition.reshape(-1)[0]) else node.get("else_branch")
    return tuple(module.evaluate(taken, scope, device))


@operator("Loop", host=(0, 1))
def loop(
    node: Node,
    module: TorchGraph,
    scope: Scope,
    device: torch.device | None,
    count: Any = None,
    condition: Any = None,
    *state: Any,
) -> Any:
    """Unrolled, as many times as the numbers say."""
    body: Graph = node.get("body")
    carried = list(state)
    scans: list[list[Tensor]] = [[] for _ in range(len(body.outputs) - 1 - len(carried))]
    limit = None if count is None else int(count.reshape(-1)[0])
    going = condition is None or bool(condition.reshape(-1)[0])
    step = 0
    while going and (limit is None or step < limit):
        inputs = [torch.tensor(step, device=device), torch.tensor(True, device=device), *carried]
        results = module.evaluate(body, {**_all(scope), **dict(zip(body.inputs, inputs, strict=True))}, device)
        going = bool(results[0])
        carried = results[1 : 1 + len(carried)]
        for scan, value in zip(scans, results[1 + len(carried) :], strict=True):
            scan.append(value)
        step += 1
    return (*carried, *(torch.stack(scan) if scan else torch.zeros(0, device=device) for scan in scans))


@operator("Scan")
def scan(node: Node, module: TorchGraph, scope: Scope, device: torch.device | None, *inputs: Any) -> Any:
    """Unrolled over the scanned axis. Until opset 8 there is a batch in front."""
    body: Graph = node.get("body")
    if node.opset < 9:
        return _scan_batched(node, module, scope, device, body, *inputs[1:])
    count = node.get("num_scan_inputs")
    return _scan(node, module, scope, device, body, list(inputs[:-count]), list(inputs[-count:]))


def _scan(
    node: Node,
    module: TorchGraph,
    scope: Scope,
    device: torch.device | None,
    body: Graph,
    carried: list[Tensor],
    scanned: list[Tensor],
) -> tuple[Any, ...]:
    axes = node.get("scan_input_axes", [0] * len(scanned))
    backwards = node.get("scan_input_directions", [0] * len(scanned))
    outputs: list[list[Tensor]] = [[] for _ in range(len(body.outputs) - len(carried))]
    steps = scanned[0].shape[axes[0]]
    for t in range(steps):
        slices = [
            torch.select(tensor, axis, steps - 1 - t if back else t)
            for tensor, axis, back in zip(scanned, axes, backwards, strict=True)
        ]
        values = dict(zip(body.inputs, [*carried, *slices], strict=True))
        results = module.evaluate(body, {**_all(scope), **values}, device)
        carried = results[: len(carried)]
        for kept, value in zip(outputs, results[len(carried) :], strict=True):
            kept.append(value)
    out_axes = node.get("scan_output_axes", [0] * len(outputs))
    out_back = node.get("scan_output_directions", [0] * len(outputs))
    stacks = [
        torch.stack(output[::-1] if back else output, axis)
        for output, axis, back in zip(outputs, out_axes, out_back, strict=True)
    ]
    return (*carried, *stacks)


def _scan_batched(
    node: Node, module: TorchGraph, scope: Scope, device: torch.device | None, body: Graph, *inputs: Any
) -> tuple[Any, ...]:
    count = node.get("num_scan_inputs")
    rows = []
    for row in range(inputs[0].shape[0]):
        values = [tensor[row] for tensor in inputs]
        rows.append(_scan(node, module, scope, device, body, values[:-count], values[-count:]))
    return tuple(torch.stack(parts) for parts in zip(*rows, strict=True))


def _all(scope: Scope) -> dict[str, Any]:
    """What a body sees: its own graph's values and those around."""
    outer = getattr(scope, "outer", None)
    return {**(_all(outer) if outer is not None else {}), **dict(scope)}
