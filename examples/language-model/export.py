"""Write both models as ONNX files, with the cache as inputs and outputs.

python examples/language-model/export.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import onnx
import torch
from model import SHAPES, LanguageModel
from safetensors.torch import load_file

HERE = Path(__file__).parent
CACHED = 3
"""Positions in the cache of the call that is traced; their number stays free."""


def export(name: str, folder: Path) -> Path:
    model = LanguageModel(SHAPES[name]).eval()
    model.load_state_dict({key: value.float() for key, value in load_file(HERE / f"{name}.safetensors").items()})
    layers = range(model.shape.layers)
    parts = [f"{layer}.{part}" for layer in layers for part in ("key", "value")]
    past = [
        empty_cache.new_zeros(2, empty_cache.shape[1], CACHED, empty_cache.shape[3]) for empty_cache in model.empty(2)
    ]
    inputs = (torch.zeros(2, 4, dtype=torch.int64), torch.ones(2, 4 + CACHED, dtype=torch.int64))
    positions = torch.arange(CACHED, 4 + CACHED).expand(2, -1).contiguous()
    batch, new = torch.export.Dim("batch"), torch.export.Dim("sequence")
    every, cached = torch.export.Dim.DYNAMIC, torch.export.Dim.DYNAMIC
    shapes = ({0: batch, 1: new}, {0: batch, 1: every}, {0: batch, 1: new}, tuple({0: batch, 2: cached} for _ in past))
    file = folder / f"{name}.onnx"
    torch.onnx.export(
        model,
        (*inputs, positions, *past),
        file,
        input_names=["input_ids", "attention_mask", "position_ids", *(f"past_key_values.{part}" for part in parts)],
        output_names=["logits", *(f"present.{part}" for part in parts)],
        dynamic_shapes=shapes,
        dynamo=True,
        external_data=False,
        verbose=False,
    )
    proto = onnx.load(file)
    for part in (
        *proto.graph.node,
        *proto.graph.value_info,
        *proto.graph.input,
        *proto.graph.output,
    ):
        del part.metadata_props[:]  # lines of source, with the folders of this machine
    onnx.save(proto, file)
    return file


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHAPES:
        print(f"wrote {export(name, folder)}")


if __name__ == "__main__":
    main()
