"""What litert-torch would convert to another type is refused before it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from assay.backends.litert.convert import converted
from assay.core.flow import Flow
from assay.errors import Unsupported
from assay.models.program import open_program


class Widened(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x.double())


class Narrowed(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x.float())


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("module", "kind", "tensor"), [(Widened, torch.float32, "output"), (Narrowed, torch.float64, "x")]
)
def test_inputs_and_outputs_in_double_are_refused(
    module: type[torch.nn.Module], kind: torch.dtype, tensor: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(module(), (torch.zeros(2, 3, dtype=kind),)), path)
    with pytest.raises(Unsupported) as refused:
        converted(open_program(path), Flow(name="litert-f32", backend="litert"), "float32")
    assert str(refused.value) == f'"{tensor}" is of type float64, which does not pass through litert-torch.'
