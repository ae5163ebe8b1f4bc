"""Reductions over axes, and where the largest elements are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.operators.elementwise import in_int64
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import integer, ints

Tensor = torch.Tensor


def _reduction(name: str, function: Callable[[Tensor, list[int], bool], Tensor]) -> None:
    @operator(name, host=(1,))
    @in_int64
    def reduce(node: Node, x: Tensor, axes: Any = None) -> Tensor:
        where = node.get("axes") if axes is None else ints(axes)
        if not where:
            if node.get("noop_with_empty_axes", 0):
                return _noop(name, x)
            where = list(range(x.ndim))
        where = [axis % x.ndim for axis in where]
        return function(x, where, bool(node.get("keepdims", 1))) if where else function(x.reshape(1), [0], False)


def _noop(name: str, x: Tensor) -> Tensor:
    """Reduced over no axes: what comes before and after the sum still happens."""
    return {
        "ReduceL1": torch.abs,
        "ReduceL2": torch.abs,
        "ReduceLogSum": torch.log,
        "ReduceSumSquare": torch.square,
    }.get(name, lambda x: x)(x)


def _product(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, axis, keepdim=keep, dtype=x.dtype)
    return x


def _mean(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    if x.is_floating_point():
        return torch.mean(x, axes, keepdim=keep)
    total = torch.sum(x, axes, keepdim=keep)
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    return torch.div(total, count, rounding_mode="trunc").to(x.dtype)


def _extreme(function: Callable[..., Tensor], largest: bool) -> Callable[[Tensor, list[int], bool], Tensor]:
    def reduce(x: Tensor, axes: list[int], keep: bool) -> Tensor:
        if x.dtype == torch.bool:
            return reduce(x.to(torch.uint8), axes, keep).to(torch.bool)
        if any(isinstance(x.shape[axis], int) and x.shape[axis] == 0 for axis in axes):
            shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes]
            if x.is_floating_point():
                value = float("-inf") if largest else float("inf")
                return torch.full(shape, value, dtype=x.dtype, device=x.device)
            limits = torch.iinfo(x.dtype)
            return torch.full(shape, limits.min if largest else limits.max, dtype=x.dtype, device=x.device)
        return function(x, axes, keepdim=keep)

    return reduce


def _sum(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return torch.sum(x, axes, keepdim=keep, dtype=x.dtype)


for _name, _function in {
    "ReduceSum": _sum,
    "ReduceMean": _mean,
    "ReduceProd": _product,
    "ReduceMax": _extreme(torch.amax, True),
    "ReduceMin": _extreme(torch.amin, False),
    "ReduceL1": lambda x, axes, keep: _sum(torch.abs(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: _root(_sum(x * x, axes, keep)),
    "ReduceSumSquare": lambda x, axes, keep: _sum(x * x, axes, keep),
    "ReduceLogSum": lambda x, axes, keep: torch.log(_sum(x, axes, keep)).to(x.dtype),
    "ReduceLogSumExp": lambda x, axes, keep: torch.logsumexp(x, axes, keepdim=keep),
}.items():
    _reduction(_name, _function)


def _root(x: Tensor) -> Tensor:
    return torch.sqrt(x) if x.is_floating_point() else torch.sqrt(x.to(torch.float64)).to(x.dtype)


@operator("ArgMax", "ArgMin")
def arg_extreme(node: Node, x: Tensor) -> Tensor:
    """The first of equal ones, or with select_last_index the last."""
    axis, keep = node.get("axis", 0), bool(node.get("keepdims", 1))
    function = torch.argmax if node.operator == "ArgMax" else torch.argmin
    if not node.get("select_last_index", 0):
        return function(x, axis, keepdim=keep)
    return x.shape[axis] - 1 - function(torch.flip(x, [axis]), axis, keepdim=keep)


@operator("TopK", host=(1,))
def top_k(node: Node, x: Tensor, k: Any) -> Any:
    """Of equal ones the lower index comes first: a stable sort, which torch.topk is not."""
    axis = node.get("axis", -1)
    count = integer(k)
    largest = bool(node.get("largest", 1))
    unsigned = x.dtype in (torch.uint16, torch.uint32, torch.uint64)
    values, indices = torch.sort(x.to(torch.int64) if unsigned else x, dim=axis, descending=largest, stable=True)
    return values.narrow(axis, 0, count).to(x.dtype), indices.narrow(axis, 0, count)
