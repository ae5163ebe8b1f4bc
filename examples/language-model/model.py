"""Two small causal language models with a cache: rotary positions and grouped queries, and learned positions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

Cache = list[Tensor]
"""Keys and values of each layer in turn, (batch, heads, positions, width of a head)."""


@dataclass(frozen=True)
class Shape:
    """`base` is that of the rotary positions (Su et al. 2021); 0 means that positions are learned, up to `most`."""

    vocabulary: int = 512
    width: int = 64
    layers: int = 2
    heads: int = 4
    key_heads: int = 2
    inner: int = 192
    most: int = 256
    base: float = 10000.0


SHAPES = {"rotary": Shape(), "learned": Shape(key_heads=4, base=0.0)}


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape, self.head = shape, shape.width // shape.heads
        self.query = nn.Linear(shape.width, shape.width, bias=False)
        self.key = nn.Linear(shape.width, self.head * shape.key_heads, bias=False)
        self.value = nn.Linear(shape.width, self.head * shape.key_heads, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)

    def forward(self, x: Tensor, positions: Tensor, hidden: Tensor, past: Cache) -> tuple[Tensor, Cache]:
        """`hidden` (batch, 1, new, all) is added to the scores; what is returned beside the answer is the cache with the new."""
        query, key, value = (
            layer(x).unflatten(-1, (-1, self.head)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        if self.shape.base:
            query, key = (rotated(projected, positions, self.shape.base) for projected in (query, key))
        keys, values = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        group = self.shape.heads // self.shape.key_heads
        wide, held = keys.repeat_interleave(group, 1), values.repeat_interleave(group, 1)
        scores = query @ wide.transpose(2, 3) * self.head**-0.5 + hidden
        answer = (torch.softmax(scores, -1) @ held).transpose(1, 2).flatten(2)
        return self.out(answer), [keys, values]


def rotated(x: Tensor, positions: Tensor, base: float) -> Tensor:
    half = x.shape[-1] // 2
    angles = positions[:, None, :, None].to(x.dtype) * base ** (-torch.arange(half, dtype=x.dtype) / half)
    first, other = x[..., :half], x[..., half:]
    return torch.cat([first * angles.cos() - other * angles.sin(), other * angles.cos() + first * angles.sin()], -1)


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.before, self.between = nn.RMSNorm(shape.width, eps=1e-5), nn.RMSNorm(shape.width, eps=1e-5)
        self.attention = Attention(shape)
        self.gate, self.up = (nn.Linear(shape.width, shape.inner, bias=False) for _ in range(2))
        self.down = nn.Linear(shape.inner, shape.width, bias=False)

    def forward(self, x: Tensor, positions: Tensor, hidden: Tensor, past: Cache) -> tuple[Tensor, Cache]:
        attended, cache = self.attention(self.before(x), positions, hidden, past)
        x = x + attended
        inner = self.between(x)
        return x + self.down(functional.silu(self.gate(inner)) * self.up(inner)), cache


class LanguageModel(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        if not shape.base:
            self.positions = nn.Embedding(shape.most, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.last = nn.RMSNorm(shape.width, eps=1e-5)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor, *past: Tensor
    ) -> tuple[Tensor, ...]:
        """`input_ids` and `position_ids` (batch, new), `attention_mask` (batch, past + new): 1 for a token, 0 for padding.
        Answers the logits (batch, new, vocabulary), then keys and values of each layer with the new ones behind."""
        x = self.tokens(input_ids)
        if not self.shape.base:
            x = x + self.positions(position_ids)
        new, every = input_ids.shape[1], attention_mask.shape[1]
        here = torch.arange(every)
        seen = (here[None, :] <= here[every - new :, None])[None, None] & (attention_mask[:, None, None, :] > 0)
        hidden = torch.where(seen, 0.0, -1e4)
        present: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            x, cache = layer(x, position_ids, hidden, list(past[2 * number : 2 * number + 2]))
            present += cache
        return (functional.linear(self.last(x), self.tokens.weight), *present)

    def empty(self, batch: int) -> list[Tensor]:
        shape = (batch, self.shape.key_heads, 0, self.shape.width // self.shape.heads)
        return [torch.zeros(shape) for _ in range(2 * self.shape.layers)]
