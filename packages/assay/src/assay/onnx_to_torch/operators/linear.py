"""Products of matrices."""

from __future__ import annotations

import torch
from torch.nn import functional

from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor


@operator("MatMul")
def matmul(node: Node, a: Tensor, b: Tensor) -> Tensor:
    return torch.matmul(a, b)


@operator("Gemm")
def gemm(node: Node, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    """A linear layer where it is one: backends look for those."""
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    a = a.t() if node.get("transA", 0) else a
    plain = alpha == 1.0 and (beta == 1.0 or c is None)
    if plain and node.get("transB", 0) and (c is None or c.ndim == 1):
        return functional.linear(a, b, c)
    b = b.t() if node.get("transB", 0) else b
    if plain and c is not None and c.ndim == 1 and a.is_floating_point():
        return torch.addmm(c, a, b)
    product = torch.matmul(a, b)
    product = product if alpha == 1.0 else _times(product, alpha)
    return product if c is None else product + (c if beta == 1.0 else _times(c, beta))


def _times(x: Tensor, factor: float) -> Tensor:
    return x * factor if x.is_floating_point() else x * int(factor)


@operator("Einsum")
def einsum(node: Node, *operands: Tensor) -> Tensor:
    return torch.einsum(node.get("equation").replace(" ", ""), *operands)


@operator("MatMulInteger")
def matmul_integer(
    node: Node, a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None
) -> Tensor:
    """int32 accumulators, exact. The zero point of `a` is per row, that of `b` per column."""
    left, right = a.to(torch.int32), b.to(torch.int32)
    if a_zero is not None:
        zero = a_zero.to(torch.int32)
        left = left - (zero.unsqueeze(-1) if zero.ndim == 1 and zero.numel() > 1 else zero)
    if b_zero is not None:
        right = right - b_zero.to(torch.int32)
    return torch.matmul(left, right)
