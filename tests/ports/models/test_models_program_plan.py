"""Inputs of exported programs: sizes inside of what torch.export proved, values inside of the tables that they index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim, export, save

from assay.core.input_plan import InputPlan, RangeSource
from assay.judge.words.constraint_text import constraint_text
from assay.models.input_plan.draw_plan import plan_of
from assay.models.sources import open_source


def _plan(tmp_path: Path, module: torch.nn.Module, *examples: Any, dims: Any = None) -> InputPlan:
    path = tmp_path / "m.pt2"
    save(export(module, examples, dynamic_shapes=dims), path)
    return plan_of(open_source(path), batch=1, fixed={}, stated={})


class Tagger(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.kinds, self.places = (torch.nn.Embedding(size, 8) for size in (50, 2, 12))

    def forward(self, ids: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        place = torch.arange(ids.shape[1])
        return self.words(ids) + self.kinds(kinds) + self.places(place)


def _ids() -> torch.Tensor:
    return torch.ones(2, 6, dtype=torch.long)


def test_places_in_tables_and_ranges_of_sizes(tmp_path: Path) -> None:
    shared = {0: Dim("batch"), 1: Dim("steps", max=12)}
    plan = _plan(tmp_path, Tagger(), _ids(), _ids(), dims=(shared, shared))
    assert {name: (interval.low, interval.high) for name, interval in plan.ranges.items()} == {
        "ids": (0, 49),
        "kinds": (0, 1),
    }
    assert list(plan.sizes.values()) == [1, 12]
    key = next(name for name, size in plan.sizes.items() if size == 12)
    stated = plan_of(open_source(tmp_path / "m.pt2"), batch=1, fixed={key: 64}, stated={})
    assert stated.unmet is not None
    assert (
        constraint_text(stated.unmet) == f"torch.export made the program for sizes 1 to 12 of '{key}', and 64 is stated"
    )


class Strided(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0], x.shape[1] // 4, 4).sum(-1)


def test_sizes_of_a_form(tmp_path: Path) -> None:
    plan = _plan(tmp_path, Strided(), torch.randn(2, 24), dims=({0: Dim("batch"), 1: 4 * Dim("quarter", max=32)},))
    (size,) = [size for name, size in plan.sizes.items() if "*" in name]
    assert size % 4 == 0


class Places(torch.nn.Module):
    def forward(self, x: torch.Tensor, rows: torch.Tensor, each: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        return x[rows].sum() + torch.gather(x, 1, each).sum() + x.index_select(1, columns).clamp(min=1e-3).log().sum()


def test_indexing_operators(tmp_path: Path) -> None:
    zeros = [torch.zeros(size, dtype=torch.long) for size in ((4,), (5, 2), (2,))]
    plan = _plan(tmp_path, Places(), torch.rand(5, 3), *zeros)
    assert {name: interval.high for name, interval in plan.ranges.items() if name != "x"} == {
        "rows": 4,
        "each": 2,
        "columns": 2,
    }


@pytest.mark.parametrize("classes", [3, 7])
def test_one_hot(tmp_path: Path, classes: int) -> None:
    class Hot(torch.nn.Module):
        def forward(self, kind: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.one_hot(kind, classes).float()

    plan = _plan(tmp_path, Hot(), torch.zeros(3, dtype=torch.long))
    assert plan.ranges["kind"].high == classes - 1


class Branching(torch.nn.Module):
    """`ids` is read in one branch, `kinds` in both, `steps` in the body of a loop, `later` behind what a branch gives."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.kinds, self.few = (torch.nn.Embedding(size, 4) for size in (50, 9, 5))

    def forward(
        self, x: torch.Tensor, ids: torch.Tensor, kinds: torch.Tensor, steps: torch.Tensor, later: torch.Tensor
    ) -> torch.Tensor:
        def yes(
            x: torch.Tensor, ids: torch.Tensor, kinds: torch.Tensor, later: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            return self.words(ids) + self.kinds(kinds) + x, later + 1

        def no(
            x: torch.Tensor, ids: torch.Tensor, kinds: torch.Tensor, later: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            return self.few(kinds) - x, later * 1

        y, places = torch.cond(x.sum() > 0, yes, no, (x, ids, kinds, later))

        def goes_on(count: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            return count < 3

        def turn(count: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return count + 1, value + self.kinds(steps)

        _, y = torch._higher_order_ops.while_loop(goes_on, turn, (torch.tensor(0), y))
        return y + self.words(places)


def test_what_branches_and_loops_read(tmp_path: Path) -> None:
    whole = [torch.ones(3, dtype=torch.long) for _ in range(4)]
    plan = _plan(tmp_path, Branching().requires_grad_(False), torch.randn(3, 4), *whole)
    by_name = {name: (interval.low, interval.high) for name, interval in plan.ranges.items()}
    assert by_name == {"ids": (0, 49), "kinds": (0, 4), "steps": (0, 8), "later": (0, 48)}
    assert plan.ranges["kinds"].node.startswith("cond/1/")


class Applied(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function, self.table = function, torch.nn.Embedding(10, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


@pytest.mark.parametrize(
    ("dtype", "function", "held"),
    [
        (torch.int64, torch.abs, (-32767, 32767)),
        (torch.int32, lambda x: torch.where(x < 0, x, x * 2), (-9, 9)),
        (torch.int64, lambda x: x.clamp(min=0) + 1, (-32767, 32767)),
        (torch.int64, lambda x: x.float().sum(), (-255, 255)),
        (torch.int64, lambda x: x * 2.5, (-255, 255)),
        (torch.int32, lambda x: x.float().sqrt(), None),
        (torch.uint8, lambda x: x.float() / 255, (0, 255)),
        (torch.uint8, lambda x: x / 255, (0, 255)),
        (torch.int8, lambda x: torch.nn.functional.softmax(x.transpose(0, 1).float(), -1), (-128, 127)),
        (torch.uint8, lambda x: x + 1, None),
        (torch.int8, lambda x: -x, (-9, 9)),
        (torch.int64, lambda x: torch.arange(6) < x[:, :1], None),
        (torch.int64, lambda x: torch.randn(3, 3).matmul(torch.ones(3, 6)) * x[:1].float(), None),
        (torch.int64, lambda x: torch.ones(2, 6).masked_fill(x == 0, 0.5), None),
        (torch.int64, lambda x: torch.sort(x)[0], None),
        (torch.int64, lambda x: torch.ones(9)[(x.abs() + x.abs()).float().long()], None),
        (torch.int64, lambda x: torch.ones(6)[x[0] > 3], None),
        (torch.int64, lambda x: torch.ones(6).repeat(x.abs().max().item()), None),
    ],
)  # fmt: skip
def test_whole_numbers_that_are_numbers(
    tmp_path: Path, dtype: torch.dtype, function: Any, held: tuple[float, float] | None
) -> None:
    input_range = _plan(tmp_path, Applied(function), torch.ones(2, 6, dtype=dtype)).ranges.get("x")
    numbers = input_range is not None and input_range.source in (RangeSource.TYPE, RangeSource.NUMBERS)
    assert ((input_range.low, input_range.high) if input_range is not None and numbers else None) == held
