"""Inductor's own bisector names the step that brings a wrong answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.backends.torch.backend import Torch
from assay.backends.torch.bisector import NONE, by_bisection
from assay.core.flow import Flow
from assay.errors import Unsupported
from assay.models.program import save_program
from assay.plugins import find_flow


@pytest.fixture
def wrong_lowering() -> Iterator[None]:
    """Inductor computes the sine where a hyperbolic tangent is asked for."""
    import torch
    from torch._inductor.lowering import lowerings

    aten = torch.ops.aten
    before = lowerings[aten.tanh.default]
    lowerings[aten.tanh.default] = lowerings[aten.sin.default]
    yield
    lowerings[aten.tanh.default] = before


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Exponentials around one hyperbolic tangent."""
    import torch

    from assay.core.model import TensorSpec

    class Net(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.exp(torch.tanh(torch.exp(x).sum(1, keepdim=True)) * x)

    exported = torch.export.export(Net(), (torch.randn(4, 8),))
    return save_program(exported, tmp_path / "net.pt2", (TensorSpec("x", "float32", (4, 8)),), ["y"])


@pytest.mark.usefixtures("wrong_lowering")
def test_the_lowering_that_is_wrong_is_named(program: Path, tmp_path: Path) -> None:
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)
    backend = Torch()
    stages = backend.after_each_pass(program, find_flow("torch-inductor"), {"x": x}, tmp_path)
    right = np.exp(np.tanh(np.exp(x).sum(1, keepdims=True)) * x)
    off = [np.abs(given["y"] - right).max() for _, given in stages if given is not None]
    assert [stages[0][0], stages[1][0]] == ["", NONE]
    first = next(at for at, far in enumerate(off) if far > 1e-3)
    assert first > 1
    assert stages[first][0].startswith("lowering tanh")


def test_eager_torch_has_no_steps(program: Path, tmp_path: Path) -> None:
    with pytest.raises(Unsupported):
        Torch().after_each_pass(program, Flow(name="torch-eager", backend="torch"), {}, tmp_path)


def test_few_steps_are_evaluated_of_many() -> None:
    asked: list[int | None] = []

    def compiled(most: int | None, names: list[str]) -> dict[str, Any]:
        asked.append(most)
        names += [f"step {at}" for at in range(64)]
        return {"y": np.float32(1.0 if most is None or most >= 41 else 0.0)}

    stages = by_bisection({"y": np.float32(0.0)}, compiled)
    assert len(asked) <= 9
    wrong = [name for name, given in stages if given is not None and given["y"] == 1.0]
    assert wrong[0] == "step 40"
    assert stages[[name for name, _ in stages].index("step 40") - 1][0] == "step 39"
