"""Transformers, text and recommendation at reduced size, seeded weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Multi-head self-attention; `causal` sees the past only; `rotary` turns pairs by their position."""

    def __init__(self, width: int, heads: int, *, causal: bool = False, rotary: bool = False) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.causal, self.rotary = heads, causal, rotary

    def forward(self, x: Tensor) -> Tensor:
        n, t, c = x.shape
        q, k, v = (part.view(n, t, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if self.rotary:
            q, k = _turned(q), _turned(k)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(attended.transpose(1, 2).reshape(n, t, c))


def _turned(x: Tensor) -> Tensor:
    """Rotary embedding (Su et al., RoFormer)."""
    half = x.shape[-1] // 2
    place = torch.arange(x.shape[-2], dtype=x.dtype)[:, None]
    angle = place * torch.exp(-math.log(10000.0) / half * torch.arange(half, dtype=x.dtype))
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


class Block(nn.Module):
    """Norm first, attention, feed forward; `gated` is SwiGLU with RMS norm (Llama)."""

    def __init__(self, width: int, heads: int, *, causal: bool = False, gated: bool = False) -> None:
        super().__init__()
        norm = nn.RMSNorm if gated else nn.LayerNorm
        self.n1, self.n2 = norm(width), norm(width)
        self.attention = Attention(width, heads, causal=causal, rotary=gated)
        self.up, self.gate, self.down = (
            nn.Linear(width, 2 * width),
            nn.Linear(width, 2 * width),
            nn.Linear(2 * width, width),
        )
        self.gated = gated

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.n1(x))
        y = self.n2(x)
        inner = functional.silu(self.gate(y)) * self.up(y) if self.gated else functional.gelu(self.up(y))
        return x + self.down(inner)


class _Vit(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.patches, self.token = nn.Conv2d(3, width, 8, 8), nn.Parameter(torch.randn(1, 1, width))
        self.place = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        self.blocks, self.head = nn.Sequential(Block(width, 2), Block(width, 2)), nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(tokens.shape[0], -1, -1), tokens], 1) + self.place
        return self.head(self.blocks(tokens)[:, 0])


def vit(width: int = 32) -> nn.Module:
    return _Vit(width)


class _Swin(nn.Module):
    """Attention in shifted windows, patch merging."""

    def __init__(self, width: int, window: int = 4) -> None:
        super().__init__()
        self.patches, self.merge = nn.Conv2d(3, width, 4, 4), nn.Linear(4 * width, 2 * width)
        self.first, self.second, self.head = Block(width, 2), Block(width, 2), nn.Linear(2 * width, 10)
        self.window = window

    def _windows(self, x: Tensor, block: nn.Module) -> Tensor:
        n, h, v, c = x.shape
        s = self.window
        cut = x.view(n, h // s, s, v // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)
        attended = block(cut).view(n, h // s, v // s, s, s, c)
        return attended.permute(0, 1, 3, 2, 4, 5).reshape(n, h, v, c)

    def forward(self, x: Tensor) -> Tensor:
        x = self._windows(self.patches(x).permute(0, 2, 3, 1), self.first)
        x = torch.roll(self._windows(torch.roll(x, (-2, -2), (1, 2)), self.second), (2, 2), (1, 2))
        parts = [x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)]
        return self.head(self.merge(torch.cat(parts, -1)).mean((1, 2)))


def swin(width: int = 16) -> nn.Module:
    return _Swin(width)


class _Maxvit(nn.Module):
    """Attention in blocks, then over a grid, after a gated convolution."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 4, 4), nn.BatchNorm2d(width), nn.GELU())
        self.local, self.grid, self.head = Block(width, 2), Block(width, 2), nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x).permute(0, 2, 3, 1)
        n, h, v, c = x.shape
        blocks = x.view(n, h // 4, 4, v // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        x = self.local(blocks).view(n, h // 4, v // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, v, c)
        grid = x.view(n, 4, h // 4, 4, v // 4, c).permute(0, 2, 4, 1, 3, 5).reshape(-1, 16, c)
        return self.head(self.grid(grid).mean(1).view(n, -1, c).mean(1))


def maxvit(width: int = 16) -> nn.Module:
    return _Maxvit(width)


class _Encoder(nn.Module):
    """BERT: token, position and segment embeddings, attention with a padding mask, a pooled answer."""

    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(64, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 2, 2 * width, activation="gelu", batch_first=True) for _ in range(2)
        )
        self.pool = nn.Linear(width, width)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        x = self.norm(self.words(tokens) + self.places(torch.arange(tokens.shape[1])))
        for layer in self.layers:
            x = layer(x)
        return x, torch.tanh(self.pool(x[:, 0]))


def bert(width: int = 32, words: int = 50) -> nn.Module:
    return _Encoder(width, words)


class _Decoder(nn.Module):
    def __init__(self, width: int, words: int, gated: bool) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(64, width)
        self.blocks = nn.Sequential(*(Block(width, 2, causal=True, gated=gated) for _ in range(2)))
        self.norm, self.head, self.gated = nn.LayerNorm(width), nn.Linear(width, words, bias=False), gated

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens)
        if not self.gated:
            x = x + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def llama(width: int = 32, words: int = 50) -> nn.Module:
    return _Decoder(width, words, gated=True)


def gpt(width: int = 32, words: int = 50) -> nn.Module:
    return _Decoder(width, words, gated=False)


class _Cached(nn.Module):
    """One step of a decoder with the keys and values of the past given and returned."""

    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.words, self.qkv, self.out = (
            nn.Embedding(words, width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, words),
        )

    def forward(self, token: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        n, heads, _, size = keys.shape
        q, k, v = (part.view(n, 1, heads, size).transpose(1, 2) for part in self.qkv(self.words(token)).chunk(3, -1))
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        attended = functional.scaled_dot_product_attention(q, keys, values)
        return self.out(attended.transpose(1, 2).reshape(n, 1, heads * size)), keys, values


def llama_cached(width: int = 16, words: int = 50) -> nn.Module:
    return _Cached(width, words)


class _T5(nn.Module):
    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.encoder = nn.TransformerEncoderLayer(width, 2, 2 * width, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(width, 2, 2 * width, batch_first=True)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.head(self.decoder(self.words(target), self.encoder(self.words(source))))


def t5(width: int = 32, words: int = 50) -> nn.Module:
    return _T5(width, words)


class _Recommender(nn.Module):
    """DLRM: embedding bags, a bottom MLP, pairwise products, a top MLP."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(20, width, mode="sum") for _ in range(2))
        self.bottom = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, width))
        self.top = nn.Sequential(nn.Linear(width + 9, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, dense: Tensor, first: Tensor, second: Tensor) -> Tensor:
        bottom = self.bottom(dense)
        parts = torch.stack([bottom, self.bags[0](first), self.bags[1](second)], 1)
        return self.top(torch.cat([bottom, (parts @ parts.transpose(1, 2)).flatten(1)], 1))


def recommender(width: int = 8) -> nn.Module:
    return _Recommender(width)


def mlp(width: int = 32) -> nn.Module:
    return nn.Sequential(
        nn.Linear(16, width), nn.ReLU(), nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 4)
    )


class _Mixer(nn.Module):
    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.across = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.along = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.across(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.along(self.n2(x))


def mixer(width: int = 16) -> nn.Module:
    return nn.Sequential(_Mixer(9, width), _Mixer(9, width))
