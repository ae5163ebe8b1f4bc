"""Image networks at reduced width and size: the shape of the original, seeded weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


def _conv(inputs: int, outputs: int, k: int = 3, stride: int = 1, groups: int = 1, act: Any = nn.ReLU) -> nn.Sequential:
    layers: list[nn.Module] = [
        nn.Conv2d(inputs, outputs, k, stride, k // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([act()] if act else []))


def _head(width: int, classes: int = 10) -> nn.Sequential:
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


class Add(nn.Module):
    """x + f(x), with a projection where shapes differ."""

    def __init__(self, body: nn.Module, shortcut: nn.Module | None = None, act: nn.Module | None = None) -> None:
        super().__init__()
        self.body, self.shortcut, self.act = body, shortcut or nn.Identity(), act or nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.body(x) + self.shortcut(x))


class Cat(nn.Module):
    """Branches side by side."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


class Gate(nn.Module):
    """Squeeze and excitation."""

    def __init__(self, width: int, act: Any = nn.Sigmoid) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width // 4, 1), nn.ReLU(), nn.Conv2d(width // 4, width, 1), act()
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.body(x)


def alexnet(w: int = 8) -> nn.Module:
    features = nn.Sequential(
        nn.Conv2d(3, w, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(w, 3 * w, 5, padding=2), nn.ReLU(),
        nn.MaxPool2d(3, 2), nn.Conv2d(3 * w, 4 * w, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(3),
    )  # fmt: skip
    return nn.Sequential(features, nn.Flatten(), nn.Dropout(), nn.Linear(36 * w, 32), nn.ReLU(), nn.Linear(32, 10))


def vgg(w: int = 8) -> nn.Module:
    layers: list[nn.Module] = []
    width = 3
    for out, count in ((w, 1), (2 * w, 1), (4 * w, 2)):
        for _ in range(count):
            layers += [nn.Conv2d(width, out, 3, padding=1), nn.ReLU()]
            width = out
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, _head(width))


def _residual(inputs: int, out: int, stride: int, kind: str, groups: int = 1) -> nn.Module:
    if kind == "basic":
        body = nn.Sequential(_conv(inputs, out, 3, stride), _conv(out, out, act=None))
    else:
        body = nn.Sequential(_conv(inputs, out, 1), _conv(out, out, 3, stride, groups), _conv(out, out, 1, act=None))
    same = stride == 1 and inputs == out
    return Add(body, None if same else _conv(inputs, out, 1, stride, act=None), nn.ReLU())


def resnet(kind: str = "basic", w: int = 8, groups: int = 1) -> nn.Module:
    """ResNet-18 (basic), ResNet-50 (bottleneck), ResNeXt (groups), Wide ResNet (w)."""
    stem = nn.Sequential(_conv(3, w, 7, 2), nn.MaxPool2d(3, 2, 1))
    blocks = [
        _residual(w, w, 1, kind, groups), _residual(w, 2 * w, 2, kind, groups), _residual(2 * w, 4 * w, 2, kind, groups)
    ]  # fmt: skip
    return nn.Sequential(stem, *blocks, _head(4 * w))


class _Dense(nn.Module):
    def __init__(self, width: int, growth: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, growth, 3, padding=1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.body(x)], 1)


def densenet(growth: int = 4) -> nn.Module:
    layers: list[nn.Module] = [_conv(3, 8, 7, 2), nn.MaxPool2d(3, 2, 1)]
    width = 8
    for _ in range(2):
        for _ in range(3):
            layers.append(_Dense(width, growth))
            width += growth
        layers += [_conv(width, width // 2, 1), nn.AvgPool2d(2)]
        width //= 2
    return nn.Sequential(*layers, _head(width))


def inception(w: int = 8) -> nn.Module:
    def block(width: int) -> nn.Module:
        return Cat(
            _conv(width, w, 1), nn.Sequential(_conv(width, w, 1), _conv(w, w, 3)),
            nn.Sequential(_conv(width, w, 1), _conv(w, w, 5)), nn.Sequential(nn.AvgPool2d(3, 1, 1), _conv(width, w, 1)),
        )  # fmt: skip

    return nn.Sequential(_conv(3, w, 3, 2), nn.MaxPool2d(3, 2), block(w), block(4 * w), _head(4 * w))


def _inverted(inputs: int, out: int, stride: int, expand: int, act: Any = nn.ReLU6, gate: bool = False) -> nn.Module:
    inner = inputs * expand
    parts = [_conv(inputs, inner, 1, act=act), _conv(inner, inner, 3, stride, inner, act)]
    parts += [nn.Sequential(Gate(inner, nn.Hardsigmoid))] if gate else []
    body = nn.Sequential(*parts, _conv(inner, out, 1, act=None))
    return Add(body) if stride == 1 and inputs == out else body


def mobilenet(version: int = 2, w: int = 8) -> nn.Module:
    """V2 (ReLU6), V3 (hard swish and gates), EfficientNet-like is version 4 (SiLU and gates), MNASNet version 1 (ReLU)."""
    act: Any = {1: nn.ReLU, 2: nn.ReLU6, 3: nn.Hardswish, 4: nn.SiLU}[version]
    gate = version >= 3
    blocks = [
        _inverted(w, w, 1, 2, act, gate),
        _inverted(w, 2 * w, 2, 4, act, gate),
        _inverted(2 * w, 2 * w, 1, 4, act, gate),
    ]
    return nn.Sequential(_conv(3, w, 3, 2, act=act), *blocks, _head(2 * w))


class _Shuffle(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        half = width // 2
        self.body = nn.Sequential(_conv(half, half, 1), _conv(half, half, 3, 1, half, None), _conv(half, half, 1))

    def forward(self, x: Tensor) -> Tensor:
        left, right = x.chunk(2, 1)
        joined = torch.cat([left, self.body(right)], 1)
        n, c, h, v = joined.shape
        return joined.view(n, 2, c // 2, h, v).transpose(1, 2).reshape(n, c, h, v)


def shufflenet(w: int = 16) -> nn.Module:
    return nn.Sequential(_conv(3, w, 3, 2), nn.MaxPool2d(3, 2, 1), _Shuffle(w), _Shuffle(w), _head(w))


def squeezenet(w: int = 8) -> nn.Module:
    def fire(width: int) -> nn.Module:
        squeeze = nn.Sequential(nn.Conv2d(width, w, 1), nn.ReLU())
        expand = Cat(nn.Conv2d(w, 2 * w, 1), nn.Conv2d(w, 2 * w, 3, padding=1))
        return nn.Sequential(squeeze, expand, nn.ReLU())

    return nn.Sequential(nn.Conv2d(3, 4 * w, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True), fire(4 * w), fire(4 * w),
                         nn.Conv2d(4 * w, 10, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())  # fmt: skip


def regnet(w: int = 8) -> nn.Module:
    block = nn.Sequential(
        _conv(w, 2 * w, 1), _conv(2 * w, 2 * w, 3, 2, 2), Gate(2 * w), _conv(2 * w, 2 * w, 1, act=None)
    )
    return nn.Sequential(_conv(3, w, 3, 2), Add(block, _conv(w, 2 * w, 1, 2, act=None), nn.ReLU()), _head(2 * w))


class _Last(nn.Module):
    """A module over channels last."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def convnext(w: int = 16) -> nn.Module:
    def block() -> nn.Module:
        inner = nn.Sequential(nn.LayerNorm(w, 1e-6), nn.Linear(w, 4 * w), nn.GELU(), nn.Linear(4 * w, w))
        return Add(nn.Sequential(nn.Conv2d(w, w, 7, padding=3, groups=w), _Last(inner)))

    return nn.Sequential(nn.Conv2d(3, w, 4, 4), _Last(nn.LayerNorm(w, 1e-6)), block(), block(), _head(w))


class _Unet(nn.Module):
    def __init__(self, w: int) -> None:
        super().__init__()
        self.down, self.middle = (
            _conv(3, w),
            nn.Sequential(nn.MaxPool2d(2), _conv(w, 2 * w), nn.ConvTranspose2d(2 * w, w, 2, 2)),
        )
        self.up = nn.Sequential(_conv(2 * w, w), nn.Conv2d(w, 4, 1))

    def forward(self, x: Tensor) -> Tensor:
        first = self.down(x)
        return self.up(torch.cat([first, self.middle(first)], 1))


def unet(w: int = 8) -> nn.Module:
    return _Unet(w)


class _Segmenter(nn.Module):
    """Atrous pyramid and bilinear upsampling (DeepLab)."""

    def __init__(self, w: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(_conv(3, w, 3, 2), _conv(w, 2 * w, 3, 2))
        self.pyramid = Cat(*(nn.Conv2d(2 * w, w, 3, padding=rate, dilation=rate) for rate in (1, 2, 4)))
        self.head = nn.Conv2d(3 * w, 5, 1)

    def forward(self, x: Tensor) -> Tensor:
        small = self.head(functional.relu(self.pyramid(self.stem(x))))
        return functional.interpolate(small, size=x.shape[-2:], mode="bilinear", align_corners=False)


def deeplab(w: int = 8) -> nn.Module:
    return _Segmenter(w)


class _Detector(nn.Module):
    """A feature pyramid with a class and a box head on each level."""

    def __init__(self, w: int) -> None:
        super().__init__()
        self.c3, self.c4 = nn.Sequential(_conv(3, w, 3, 2), _conv(w, w, 3, 2)), _conv(w, w, 3, 2)
        self.lateral, self.classes, self.boxes = (
            nn.Conv2d(w, w, 1),
            nn.Conv2d(w, 3, 3, padding=1),
            nn.Conv2d(w, 4, 3, padding=1),
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.c3(x)
        coarse = self.c4(fine)
        levels = (self.lateral(fine) + functional.interpolate(coarse, scale_factor=2.0, mode="nearest"), coarse)
        return (
            torch.cat([self.classes(level).flatten(2) for level in levels], 2),
            torch.cat([functional.relu(self.boxes(level)).flatten(2) for level in levels], 2),
        )


def detector(w: int = 8) -> nn.Module:
    return _Detector(w)


class _Diffusion(nn.Module):
    """One block of a diffusion network: group norm, SiLU, a time embedding and self-attention."""

    def __init__(self, w: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(4, w), nn.SiLU(), nn.Conv2d(w, w, 3, padding=1))
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(8, w))
        self.second = nn.Sequential(nn.GroupNorm(4, w), nn.SiLU(), nn.Conv2d(w, w, 3, padding=1))
        self.norm, self.qkv, self.out = nn.GroupNorm(4, w), nn.Conv2d(w, 3 * w, 1), nn.Conv2d(w, w, 1)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        x = x + self.second(self.first(x) + self.time(t)[:, :, None, None])
        n, c, h, v = x.shape
        q, k, value = (part.flatten(2).transpose(1, 2)[:, None] for part in self.qkv(self.norm(x)).chunk(3, 1))
        attended = functional.scaled_dot_product_attention(q, k, value)[:, 0]
        return x + self.out(attended.transpose(1, 2).reshape(n, c, h, v))


def diffusion_block(w: int = 16) -> nn.Module:
    return _Diffusion(w)


def autoencoder(w: int = 8) -> nn.Module:
    return nn.Sequential(_conv(3, w, 3, 2), _conv(w, 2 * w, 3, 2), nn.ConvTranspose2d(2 * w, w, 4, 2, 1), nn.LeakyReLU(0.2),
                         nn.ConvTranspose2d(w, 3, 4, 2, 1), nn.Tanh())  # fmt: skip


def super_resolution(w: int = 16) -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, w, 5, padding=2), nn.Tanh(), nn.Conv2d(w, 12, 3, padding=1), nn.PixelShuffle(2))
