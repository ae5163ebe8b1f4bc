"""Attention and what surrounds it in language models."""

from __future__ import annotations

import math
from typing import Any

import torch

from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor


@operator("Attention")
def attention(
    node: Node,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    lengths: Tensor | None = None,
) -> Any:
    """Scaled dot products with grouped heads, caches, causal and padding masks, and a soft cap."""
    flat = q.ndim == 3
    if flat:
        q = _heads(q, node.get("q_num_heads"))
        k, v = (_heads(tensor, node.get("kv_num_heads")) for tensor in (k, v))
    past = 0
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        k, v = torch.cat([past_key, k], 2), torch.cat([past_value, v], 2)
    present_key, present_value = k, v
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    kind = q.dtype
    wide = torch.float32 if kind in (torch.float16, torch.bfloat16) else kind
    scale = node.get("scale", 1.0 / math.sqrt(q.shape[-1]))
    root = math.sqrt(scale)
    scores = torch.matmul((q * root).to(wide), (k * root).to(wide).transpose(-1, -2))
    bias = _bias(node, q, k, mask, lengths, past, wide)
    cap, mode = node.get("softcap", 0.0), node.get("qk_matmul_output_mode", 0)
    capped = cap * torch.tanh(scores / cap) if cap else scores
    biased = capped if bias is None else capped + bias
    weights = torch.softmax(biased, -1)
    if bias is not None:
        # A row that may attend to nothing gives zeros, not NaN.
        nothing = torch.amax(bias, -1, keepdim=True) == float("-inf")
        weights = torch.where(nothing, torch.zeros_like(weights), weights)
    stages = [scores, capped, biased, weights]
    y = torch.matmul(weights.to(kind), v)
    if flat:
        y = y.transpose(1, 2).flatten(2)
    return y, present_key, present_value, stages[mode].to(kind)


def _heads(x: Tensor, count: int) -> Tensor:
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def _bias(
    node: Node, q: Tensor, k: Tensor, mask: Tensor | None, lengths: Tensor | None, past: Any, kind: torch.dtype
) -> Tensor | None:
    """What is added to the scores: 0 where attention is allowed, minus infinity where not, or the mask's own numbers."""
    rows, columns = q.shape[2], k.shape[2]
    bias: Tensor | None = None
    if mask is not None:
        bias = _excluded(~mask, kind) if mask.dtype == torch.bool else mask.to(kind)
        missing = columns - bias.shape[-1]
        if not isinstance(missing, int) or missing > 0:
            bias = torch.nn.functional.pad(bias, [0, missing], value=float("-inf"))
    column = torch.arange(columns, device=q.device)
    left, right = node.get("left_window_size", -1), node.get("right_window_size", -1)
    offset: Any = past
    if lengths is not None:
        offset = (lengths.to(torch.int64) - rows).reshape(-1, 1, 1, 1)
    place = torch.arange(rows, device=q.device)[:, None] + offset
    if node.get("is_causal", 0):
        bias = _sum(bias, _excluded(column > place, kind))
    if left >= 0:
        bias = _sum(bias, _excluded(column < place - left, kind))
    if right >= 0:
        bias = _sum(bias, _excluded(column > place + right, kind))
    if lengths is not None:
        bias = _sum(bias, _excluded(column >= lengths.reshape(-1, 1, 1, 1), kind))
    return bias


def _excluded(where: Tensor, kind: torch.dtype) -> Tensor:
    return torch.zeros(where.shape, dtype=kind, device=where.device).masked_fill(where, float("-inf"))


def _sum(tensor: Tensor | None, other: Tensor) -> Tensor:
    return other if tensor is None else tensor + other


@operator("RotaryEmbedding")
def rotary_embedding(node: Node, x: Tensor, cos: Tensor, sin: Tensor, positions: Tensor | None = None) -> Tensor:
    flat = x.ndim == 3
    x = x.reshape(x.shape[0], x.shape[1], node.get("num_heads"), -1) if flat else x.transpose(1, 2)
    size = node.get("rotary_embedding_dim", 0) or x.shape[-1]
    turned, rest = x[..., :size], x[..., size:]
    if positions is not None:
        cos, sin = cos[positions], sin[positions]
    cos, sin = cos[..., : size // 2].unsqueeze(2), sin[..., : size // 2].unsqueeze(2)
    if node.get("interleaved", 0):
        first, second = turned[..., 0::2], turned[..., 1::2]
    else:
        first, second = turned.chunk(2, -1)
    real, imaginary = cos * first - sin * second, sin * first + cos * second
    both = (
        torch.stack([real, imaginary], -1).flatten(-2)
        if node.get("interleaved", 0)
        else torch.cat([real, imaginary], -1)
    )
    y = torch.cat([both, rest], -1)
    return y.flatten(2) if flat else y.transpose(1, 2)
