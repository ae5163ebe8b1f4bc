"""LiteRT 2.3.0, models converted by litert-torch (0.10.0): an upsampling takes other elements, and three programs cannot run.

upsample_nearest2d: output i comes from input floor(i * 6 / 9), as torch says. Got: floor((i + 0.5) * 6 / 9), the element whose middle is
nearest (torch's "nearest-exact"): no error, other numbers. flip along axes that are not beside one another, scatter_add and index_add are
converted, and the interpreter refuses what the converter wrote: REVERSE_V2 of axes 0 and 2, and a STABLEHLO_SCATTER that adds. flip along
two axes that are neighbours is right. Found by `assay run operators --flow litert-f32`. Wants the environment of LiteRT (`assay env build
litert`, and that environment's interpreter).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import litert_torch
import numpy as np
import torch
from ai_edge_litert.interpreter import Interpreter
from torch.nn.functional import interpolate


class Called(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        return self.function(*tensors)


def answer(function: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> np.ndarray[Any, Any]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.tflite"
        litert_torch.convert(Called(function).eval(), tensors).export(str(path))
        interpreter = Interpreter(str(path))
        interpreter.allocate_tensors()
        for place, tensor in zip(interpreter.get_input_details(), tensors, strict=True):
            interpreter.set_tensor(place["index"], tensor.numpy())
        interpreter.invoke()
        numbers: np.ndarray[Any, Any] = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        return numbers


def flipped(*axes: int) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: torch.flip(x, axes)


picture, box = torch.arange(30.0).reshape(1, 1, 5, 6), torch.arange(60.0).reshape(3, 4, 5)
rows, places, values = torch.zeros(4, 5), torch.tensor([0, 1, 2, 3, 0, 1]), torch.ones(6, 5)
wide = places[:, None].repeat(1, 5)
cases: dict[str, tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]] = {
    "upsample_nearest2d": (lambda x: interpolate(x, size=(7, 9), mode="nearest"), (picture,)),
    "flip, axes 0 and 1": (flipped(0, 1), (box,)),
    "flip, axes 0 and 2": (flipped(0, 2), (box,)),
    "scatter_add": (lambda x, index, y: torch.scatter_add(x, 0, index, y), (rows, wide, values)),
    "index_add": (lambda x, index, y: torch.index_add(x, 0, index, y), (rows, places, values)),
}
wrong = 0
for name, (function, tensors) in cases.items():
    expected = function(*tensors).numpy()
    try:
        off = int(np.sum(answer(function, *tensors) != expected))
        said = f"{off} of {expected.size} elements are wrong"
        wrong += off > 0
    except RuntimeError as error:
        said = f"refused: {str(error).splitlines()[0][:110]}"
        wrong += 1
    print(f"{name}: {said}", flush=True)
sys.exit(int(wrong > 0))
