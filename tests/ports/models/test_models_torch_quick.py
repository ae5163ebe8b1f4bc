"""What torch does once instead of for each program: the same graphs, and operators that come later are seen."""

from __future__ import annotations

import pytest
import torch
from torch._export import utils

from assay.models.torch_quick import _when_changed, quicken


def test_it_acts_again_when_something_changed() -> None:
    seen: list[int] = []
    state = [1]
    act = _when_changed(lambda: list(state), lambda: seen.append(len(state)))
    act()
    act()
    state.append(2)
    act()
    assert seen == [1, 2]


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(self.linear(x)).chunk(3, dim=-1)[1]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_programs_decompose_as_before_and_late_operators_are_named() -> None:
    program = torch.export.export(Small(), (torch.ones(2, 4),), strict=False)
    before, named = program.run_decompositions().graph_module.code, utils._collect_all_valid_cia_ops()
    quicken()
    for _ in range(2):
        assert program.run_decompositions().graph_module.code == before
        assert named <= utils._collect_all_valid_cia_ops()
    library = torch.library.Library("assay_late", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CompositeImplicitAutograd")
    assert "assay_late::twice" in {one.name() for one in utils._collect_all_valid_cia_ops()}
