"""Architectures at the size of the original, layer for layer, with seeded weights: `models:full`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from assay.suites.models.vision import Add, _conv

CLASSES = 1000


def _trainable(model: nn.Module) -> nn.Module:
    """Weights as these networks are begun with (He et al., 2015), which keep the size of what passes: by torch's own draw fifty
    layers without learned norms leave nothing of the image, and an output that no input decides proves nothing."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_in", nonlinearity="relu")
    return model


def alexnet() -> nn.Module:
    """Krizhevsky, "One weird trick", 2014."""
    features = nn.Sequential(
        nn.Conv2d(3, 64, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(),
        nn.MaxPool2d(3, 2), nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(), nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(),
        nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2),
    )  # fmt: skip
    head = nn.Sequential(
        nn.Dropout(), nn.Linear(9216, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(),
        nn.Linear(4096, CLASSES),
    )  # fmt: skip
    return nn.Sequential(features, nn.Flatten(), head)


def squeezenet() -> nn.Module:
    """Version 1.1 (Iandola et al., 2016)."""

    class Fire(nn.Module):
        def __init__(self, width: int, squeeze: int, out: int) -> None:
            super().__init__()
            self.squeeze = nn.Sequential(nn.Conv2d(width, squeeze, 1), nn.ReLU())
            self.one, self.three = nn.Conv2d(squeeze, out, 1), nn.Conv2d(squeeze, out, 3, padding=1)

        def forward(self, x: Tensor) -> Tensor:
            x = self.squeeze(x)
            return torch.cat([self.one(x), self.three(x)], 1).relu()

    net = nn.Sequential(
        nn.Conv2d(3, 64, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True), Fire(64, 16, 64), Fire(128, 16, 64),
        nn.MaxPool2d(3, 2, ceil_mode=True), Fire(128, 32, 128), Fire(256, 32, 128), nn.MaxPool2d(3, 2, ceil_mode=True),
        Fire(256, 48, 192), Fire(384, 48, 192), Fire(384, 64, 256), Fire(512, 64, 256), nn.Dropout(),
        nn.Conv2d(512, CLASSES, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    )  # fmt: skip
    return _trainable(net)


def resnet(counts: tuple[int, ...], kind: str = "bottleneck", groups: int = 1, base: int = 64) -> nn.Module:
    """ResNet (He et al., 2015), ResNeXt (groups, Xie et al., 2016), Wide ResNet (base 128, Zagoruyko et al., 2016); the
    stride of a bottleneck is in its 3x3 convolution."""
    expansion = 1 if kind == "basic" else 4
    blocks: list[nn.Module] = []
    width = 64
    for stage, count in enumerate(counts):
        for place in range(count):
            planes, stride = 64 * 2**stage, 2 if stage and not place else 1
            inner, out = planes * base // 64 * groups, planes * expansion
            body = (
                nn.Sequential(_conv(width, out, 3, stride), _conv(out, out, act=None))
                if kind == "basic"
                else nn.Sequential(
                    _conv(width, inner, 1), _conv(inner, inner, 3, stride, groups), _conv(inner, out, 1, act=None)
                )
            )
            same = stride == 1 and width == out
            blocks.append(Add(body, None if same else _conv(width, out, 1, stride, act=None), nn.ReLU()))
            width = out
    pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, CLASSES))
    return _trainable(nn.Sequential(_conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1), *blocks, pooled))


def mobilenet_v2() -> nn.Module:
    """Sandler et al., 2018, table 2: expansion, channels, repetitions, stride."""
    layers: list[nn.Module] = [_conv(3, 32, 3, 2, act=nn.ReLU6)]
    width = 32
    for expand, out, count, first in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for place in range(count):
            stride, inner = first if not place else 1, width * expand
            body = nn.Sequential(
                *([_conv(width, inner, 1, act=nn.ReLU6)] if expand > 1 else []),
                _conv(inner, inner, 3, stride, inner, nn.ReLU6), _conv(inner, out, 1, act=None),
            )  # fmt: skip
            layers.append(Add(body) if stride == 1 and width == out else body)
            width = out
    pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, CLASSES))
    return _trainable(nn.Sequential(*layers, _conv(width, 1280, 1, act=nn.ReLU6), pooled))


class _Bert(nn.Module):
    """Words, places and kinds of segment; twelve layers with the norm behind; the first token pooled."""

    def __init__(self, words: int = 30522, width: int = 768, layers: int = 12, heads: int = 12) -> None:
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(count, width) for count in (words, 512, 2))
        self.norm = nn.LayerNorm(width, 1e-12)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, activation="gelu", layer_norm_eps=1e-12, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.pool = nn.Linear(width, width)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        attended = self.words(tokens) + self.places.weight[: tokens.shape[1]] + self.kinds.weight[0]
        states = self.layers(self.norm(attended))
        return states, self.pool(states[:, 0]).tanh()


def bert_base() -> nn.Module:
    """Devlin et al., 2018."""
    return _Bert()


class _Vit(nn.Module):
    """Patches of 16, a class token, twelve layers with the norm before."""

    def __init__(self, width: int = 768) -> None:
        super().__init__()
        self.patches, self.token = nn.Conv2d(3, width, 16, 16), nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.places = nn.Parameter(torch.randn(1, 197, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, 12, 4 * width, activation="gelu", layer_norm_eps=1e-6, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 12, nn.LayerNorm(width, 1e-6), enable_nested_tensor=False)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(tokens.shape[0], -1, -1), tokens], 1) + self.places
        return self.head(self.layers(tokens)[:, 0])


def vit_b_16() -> nn.Module:
    """Dosovitskiy et al., 2020, base, 224 x 224."""
    return _Vit()
