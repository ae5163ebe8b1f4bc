"""Three small models with seeded weights, beside the three of digits: an encoder, a depthwise net, a recurrent one."""

from __future__ import annotations

import warnings
from pathlib import Path

import onnx
import torch
from torch import nn

HERE = Path(__file__).parent / "models"


class Encoder(nn.Module):
    """Two transformer layers over 12 tokens of width 32, four heads."""

    def __init__(self) -> None:
        super().__init__()
        self.place = nn.Parameter(torch.randn(1, 12, 32) * 0.1)
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "before": nn.LayerNorm(32),
                    "qkv": nn.Linear(32, 96),
                    "out": nn.Linear(32, 32),
                    "after": nn.LayerNorm(32),
                    "up": nn.Linear(32, 64),
                    "down": nn.Linear(64, 32),
                }
            )
            for _ in range(2)
        )
        self.head = nn.Linear(32, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = tokens + self.place
        for layer in self.layers:
            q, k, v = layer["qkv"](layer["before"](x)).reshape(-1, 12, 3, 4, 8).permute(2, 0, 3, 1, 4)
            weights = torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, -1)
            x = x + layer["out"]((weights @ v).transpose(1, 2).reshape(-1, 12, 32))
            x = x + layer["down"](nn.functional.gelu(layer["up"](layer["after"](x))))
        return self.head(x.mean(1))


def depthwise() -> nn.Module:
    """Depthwise and pointwise convolutions on 24x24 images, as mobile nets have them."""
    parts: list[nn.Module] = [nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.Hardswish()]
    for width, stride in ((16, 1), (16, 2), (16, 1)):
        parts += [nn.Conv2d(width, width, 3, stride, 1, groups=width), nn.BatchNorm2d(width), nn.ReLU6()]
        parts += [nn.Conv2d(width, width, 1), nn.BatchNorm2d(width)]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Recurrent(nn.Module):
    """An LSTM over 16 steps of 8 numbers; the last state decides."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 24, batch_first=True)
        self.head = nn.Linear(24, 5)

    def forward(self, steps: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(steps)[0][:, -1])


def save(model: onnx.ModelProto, path: Path) -> None:
    """Without the exporter's notes, which name files of the machine."""
    for holder in (
        model,
        model.graph,
        *model.graph.node,
        *model.graph.value_info,
        *model.graph.input,
        *model.graph.output,
    ):
        holder.ClearField("metadata_props")
        holder.ClearField("doc_string")
    onnx.save(model, path)


def main() -> None:
    HERE.mkdir(exist_ok=True)
    torch.manual_seed(0)
    made = {
        "encoder": (Encoder(), torch.randn(1, 12, 32), "tokens"),
        "depthwise": (depthwise(), torch.randn(1, 3, 24, 24), "image"),
        "recurrent": (Recurrent(), torch.randn(1, 16, 8), "steps"),
    }
    for name, (module, sample, input_name) in made.items():
        for part in module.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.running_mean.normal_(0, 0.1)
                part.running_var.uniform_(0.5, 1.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module.eval(), (sample,), dynamo=True, opset_version=18, verbose=False,
                input_names=[input_name], output_names=["scores"], dynamic_shapes=({0: torch.export.Dim("batch")},),
            )  # fmt: skip
        save(program.model_proto, HERE / f"{name}.onnx")
        print(name, (HERE / f"{name}.onnx").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
