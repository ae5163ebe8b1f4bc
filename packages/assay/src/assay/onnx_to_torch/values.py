"""Values while a graph is evaluated: tensors, and numbers that are known without running the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from assay.onnx_to_torch.dtypes import Array, from_numpy


@dataclass(frozen=True)
class Constant:
    """A constant of the graph: its numbers, and the parameter or buffer that holds them where some node needs a tensor."""

    numbers: Array
    tensor: torch.Tensor | None = None


Value = torch.Tensor | Array | Constant | list[torch.Tensor] | None


def numbers(value: Any) -> Array | None:
    """The numpy array of a value that is known while tracing, else None."""
    if isinstance(value, Constant):
        return value.numbers
    return value if isinstance(value, np.ndarray) else None


def tensor(value: Any, device: torch.device | None = None) -> Any:
    """The tensor of a value; sequences pass. An array of symbolic numbers is int64."""
    if isinstance(value, Constant):
        return value.tensor if value.tensor is not None else from_numpy(value.numbers).to(device)
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype != object:
        return from_numpy(value).to(device)
    if all(isinstance(element, int) for element in value.flat):
        return from_numpy(value.astype(np.int64)).to(device)
    parts = [torch.scalar_tensor(element, dtype=torch.int64, device=device) for element in value.flat]
    return torch.stack(parts).reshape(value.shape)


def ints(value: Any) -> list[Any]:
    """The elements as Python integers or torch.SymInt. A tensor is read, which torch.export may refuse."""
    if isinstance(value, torch.Tensor):
        # Of a tensor without elements an unbind would be exported, which torch.export.load cannot read (torch 2.13).
        if any(isinstance(size, int) and size == 0 for size in value.shape):
            return []
        return [int(number) if isinstance(number, float) else number for number in value.reshape(-1).tolist()]
    return [number if isinstance(number, torch.SymInt) else int(number) for number in np.asarray(value).reshape(-1)]


def integer(value: Any) -> Any:
    """The one element of a value."""
    (integer_value,) = ints(value)
    return integer_value


def scalar(value: Any) -> Any:
    """The one element as a Python number, or the tensor itself where the value is not known."""
    if isinstance(value, torch.Tensor):
        return value
    element = np.asarray(value).reshape(-1)[0]
    return element.item() if isinstance(element, np.generic) else element
