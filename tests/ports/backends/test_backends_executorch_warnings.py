"""What ExecuTorch warns of while it lowers, as the worker reads it."""

from __future__ import annotations

from pathlib import Path

import torch

from assay.backends.executorch.backend import ExecuTorch
from assay.core.native_warning import WarningCode
from assay.worker.engine.capture_warnings import capture_warnings
from assay.worker.native_log import warned_by
from assay.worker.stages import Stages


class _Counts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.full((4,), 3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1.0)
        return x + self.count


def test_a_first_value_that_it_does_not_keep_is_named(tmp_path: Path) -> None:
    """A buffer that the graph changes begins with anything: ExecuTorch (1.4) saves its shape alone, and says so by `warnings`."""
    torch.export.save(torch.export.export(_Counts(), (torch.ones(4),)), tmp_path / "counts.pt2")
    flow = next(flow for flow in ExecuTorch.flows if flow.name == "executorch-xnnpack")
    with warned_by(), capture_warnings(ExecuTorch(), Stages(lambda stage: None)) as said:
        ExecuTorch().lower(tmp_path / "counts.pt2", flow)
    (warning,) = [warning for warning in said.native if warning.code is WarningCode.INITIALIZER_DROPPED]
    assert warning.text.startswith("Mutation on a buffer in the model is detected.")
