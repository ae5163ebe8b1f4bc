"""Speech, audio and time series: convolutions along one axis and recurrent layers, at reduced size, seeded weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from assay.suites.models.sequence import Attention, Block


class _Conformer(nn.Module):
    """Half feed forward, attention, gated depthwise convolution, half feed forward."""

    def __init__(self, width: int) -> None:
        super().__init__()

        def forward_part() -> nn.Module:
            return nn.Sequential(
                nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width)
            )

        self.first, self.last, self.norm, self.end = (
            forward_part(),
            forward_part(),
            nn.LayerNorm(width),
            nn.LayerNorm(width),
        )
        self.attention = Attention(width, 2)
        self.convolution = nn.Sequential(
            nn.Conv1d(width, 2 * width, 1), nn.GLU(1), nn.Conv1d(width, width, 7, padding=3, groups=width),
            nn.BatchNorm1d(width), nn.SiLU(), nn.Conv1d(width, width, 1),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        x = x + 0.5 * self.first(x)
        x = x + self.attention(self.norm(x))
        x = x + self.convolution(x.transpose(1, 2)).transpose(1, 2)
        return self.end(x + 0.5 * self.last(x))


def conformer(width: int = 16) -> nn.Module:
    return _Conformer(width)


def wav2letter(w: int = 16) -> nn.Module:
    return nn.Sequential(
        nn.Conv1d(1, w, 48, 8, 23),
        nn.ReLU(),
        nn.Conv1d(w, w, 7, padding=3),
        nn.ReLU(),
        nn.Conv1d(w, 12, 1),
        nn.LogSoftmax(1),
    )


class _Wav2vec(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, width, 10, 5), nn.GroupNorm(4, width), nn.GELU(), nn.Conv1d(width, width, 3, 2), nn.GELU()
        )
        self.place = nn.Conv1d(width, width, 5, padding=2, groups=4)
        self.block = Block(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        return self.block((x + functional.gelu(self.place(x))).transpose(1, 2))


def wav2vec(width: int = 16) -> nn.Module:
    return _Wav2vec(width)


def m5(w: int = 8) -> nn.Module:
    """Raw audio by convolutions alone, pooled to one answer (Dai et al., 2017)."""
    layers: list[nn.Module] = [nn.Conv1d(1, w, 80, 4, 38), nn.BatchNorm1d(w), nn.ReLU(), nn.MaxPool1d(4)]
    for wide, out in ((w, w), (w, 2 * w)):
        layers += [nn.Conv1d(wide, out, 3, padding=1), nn.BatchNorm1d(out), nn.ReLU(), nn.MaxPool1d(4)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(2 * w, 10), nn.LogSoftmax(-1))


class _Recurrent(nn.Module):
    def __init__(self, kind: str, width: int) -> None:
        super().__init__()
        self.layer = {"lstm": nn.LSTM, "gru": nn.GRU}[kind](4, width, 2, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layer(x)[0][:, -1])


def recurrent(kind: str = "lstm", width: int = 16) -> nn.Module:
    return _Recurrent(kind, width)


class _Causal(nn.Module):
    def __init__(self, inputs: int, width: int, dilation: int) -> None:
        super().__init__()
        self.pad, self.layer = 2 * dilation, nn.Conv1d(inputs, width, 3, dilation=dilation)
        self.same = nn.Conv1d(inputs, width, 1) if inputs != width else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.layer(functional.pad(x, (self.pad, 0)))) + self.same(x)


def tcn(width: int = 8) -> nn.Module:
    return nn.Sequential(
        _Causal(4, width, 1), _Causal(width, width, 2), _Causal(width, width, 4), nn.Conv1d(width, 1, 1)
    )


class _Tagger(nn.Module):
    """Words to tags: an embedding, a recurrent layer in both directions, a tag for each word."""

    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layer = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.layer(self.words(tokens))[0])


def tagger(width: int = 16, words: int = 50) -> nn.Module:
    return _Tagger(width, words)


class _Crnn(nn.Module):
    """A line of text in a picture: convolutions, then a recurrent layer along its width (Shi et al., 2015)."""

    def __init__(self, w: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, w, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(w, w, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d((4, 1)),
        )  # fmt: skip
        self.layer, self.head = nn.GRU(2 * w, w, batch_first=True), nn.Linear(w, 11)

    def forward(self, x: Tensor) -> Tensor:
        line = self.features(x).flatten(1, 2).transpose(1, 2)
        return torch.log_softmax(self.head(self.layer(line)[0]), -1)


def crnn(w: int = 8) -> nn.Module:
    return _Crnn(w)
