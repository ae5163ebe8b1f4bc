"""Networks at the depth of the original, reduced in width only: errors add up along their layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from assay.suites.models.sequence import Block
from assay.suites.models.vision import _conv, _head, _residual


def _kept(net: nn.Module) -> nn.Module:
    """He's initialisation (2015): torch's own loses two thirds of the signal's variance in each convolution, and after
    thirty of them nothing of the input is left."""
    for part in net.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
    return net


def resnet50(w: int = 8) -> nn.Module:
    """All 16 bottlenecks in four stages: 53 convolutions and a linear layer (He et al., 2015)."""
    blocks: list[nn.Module] = []
    width = w
    for stage, count in enumerate((3, 4, 6, 3)):
        for place in range(count):
            out = w * 2**stage
            blocks.append(_residual(width, out, 2 if stage and not place else 1, "bottleneck"))
            width = out
    return nn.Sequential(_conv(3, w, 7, 2), nn.MaxPool2d(3, 2, 1), *blocks, _head(width))


def mobilenet(w: int = 8) -> nn.Module:
    """V1: 13 depthwise convolutions, each with one across channels behind it (Howard et al., 2017)."""
    layers: list[nn.Module] = [_conv(3, w, 3, 2)]
    width = w
    for out, stride in ((2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2), *[(16, 1)] * 5, (16, 2), (16, 1)):
        layers += [_conv(width, width, 3, stride, width), _conv(width, out * w, 1)]
        width = out * w
    return _kept(nn.Sequential(*layers, _head(width)))


class _Layers(nn.Module):
    """Twelve layers over the embeddings of words and places, a word for each place."""

    def __init__(self, width: int, words: int, gated: bool) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(0.02 * torch.randn(12, width))
        self.blocks = nn.Sequential(*(Block(width, 4, causal=gated, gated=gated) for _ in range(12)))
        self.norm, self.head, self.gated = nn.LayerNorm(width), nn.Linear(width, words, bias=False), gated

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens)
        return self.head(self.norm(self.blocks(x if self.gated else x + self.places)))


def transformer12(width: int = 32, words: int = 50) -> nn.Module:
    """An encoder that sees all (BERT base: twelve layers)."""
    return _Layers(width, words, gated=False)


def rotary12(width: int = 32, words: int = 50) -> nn.Module:
    """A decoder that sees the past, with rotary embeddings, RMS norm and SwiGLU."""
    return _Layers(width, words, gated=True)


class _Unet(nn.Module):
    """Four levels down and up again, a skip at each (Ronneberger et al., 2015)."""

    def __init__(self, w: int) -> None:
        super().__init__()
        widths = [w * 2**level for level in range(4)]
        self.down = nn.ModuleList(
            nn.Sequential(_conv(before, after), _conv(after, after))
            for before, after in zip([3, *widths[:-1]], widths, strict=True)
        )
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * width, width, 2, 2) for width in reversed(widths[:-1]))
        self.join = nn.ModuleList(_conv(2 * width, width) for width in reversed(widths[:-1]))
        self.head = nn.Conv2d(w, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for place, level in enumerate(self.down):
            x = level(functional.max_pool2d(x, 2) if place else x)
            skips.append(x)
        for up, join, skip in zip(self.up, self.join, skips[-2::-1], strict=True):
            x = join(torch.cat([skip, up(x)], 1))
        return self.head(x)


def unet4(w: int = 6) -> nn.Module:
    return _Unet(w)


class _Warp(nn.Module):
    """A spatial transformer: what it sees decides how it turns the picture, which is sampled again (Jaderberg et al., 2015)."""

    def __init__(self, w: int) -> None:
        super().__init__()
        self.where = nn.Sequential(_conv(3, w, 5, 2), _conv(w, w, 3, 2), _head(w, 6))
        self.body = nn.Sequential(_conv(3, w), _conv(w, 2 * w, 3, 2), _head(2 * w))

    def forward(self, x: Tensor) -> Tensor:
        turn = self.where(x).view(-1, 2, 3) * 0.2 + torch.eye(2, 3)
        grid = functional.affine_grid(turn, [x.shape[0], 3, 32, 32], align_corners=False)
        return self.body(functional.grid_sample(x, grid, align_corners=False, padding_mode="border"))


def spatial_transformer(w: int = 8) -> nn.Module:
    return _Warp(w)
