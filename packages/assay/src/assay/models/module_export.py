"""A torch module or function of a person's own program, as an ONNX file: it is in this process already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def export_module(function: Any, arrays: Sequence[Any], names: Sequence[str], path: Path) -> None:
    """Traced with these inputs, which fix its shapes; they are called `names` in the file."""
    import torch

    module = function if isinstance(function, torch.nn.Module) else _as_module(function)
    tensors = tuple(torch.from_numpy(np.asarray(array)) for array in arrays)
    with torch.no_grad():
        program = torch.export.export(module.eval(), tensors, strict=False)
        exported = torch.onnx.export(program, (), dynamo=True, verbose=False, verify=False, input_names=list(names))
    assert exported is not None
    exported.save(str(path))


def _as_module(function: Any) -> Any:
    import torch

    class Called(torch.nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return function(*inputs)

    return Called()
