"""What torch does once instead of for each program: the same graphs, and operators that come later are seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch._export import utils

from assay.models.torch_patches import _once, _when_changed, overriding, quicken


def test_it_acts_again_when_something_changed() -> None:
    seen: list[int] = []
    state = [1]
    act = _when_changed(lambda: list(state), lambda: seen.append(len(state)))
    act()
    act()
    state.append(2)
    act()
    assert seen == [1, 2]


class Namespace(list[str]):
    name = "mine"


def test_a_namespace_is_looked_through_again_when_something_was_registered() -> None:
    looked: list[int] = []
    state = [1]
    namespace = Namespace(["one"])

    def found(members: Any) -> set[Any]:
        looked.append(len(members))
        return set(members)

    finding = _once(found, lambda: tuple(state))
    assert finding(namespace) == finding(namespace) == {"one"}
    state.append(2)
    finding(namespace)
    namespace.append("two")
    assert finding(namespace) == {"one", "two"}
    assert looked == [1, 1, 2]


class Operator:
    """As torch has them: kernels by key, and what was found in them before."""

    def __init__(self, **kernels: Any) -> None:
        self.py_kernels: dict[Any, Any] = dict(kernels)
        self._dispatch_cache: dict[Any, Any] = {}


def kernel(name: str) -> Any:
    def called() -> str:
        return name

    return called


class Overridden:
    """What torch does for each operator: kernels of all keys, a rule, and all taken away again."""

    def __init__(self) -> None:
        self.rules: dict[Any, Any] = {}
        self.asked: list[int] = []

    @contextmanager
    def __call__(self, wanted: Mapping[Any, Any]) -> Iterator[None]:
        self.asked.append(len(wanted))
        saved = {operator: dict(operator.py_kernels) for operator in wanted}
        for operator, replacement in wanted.items():
            operator.py_kernels = {"cpu": kernel("own"), **operator.py_kernels, "composite": replacement}
            self.rules.setdefault(operator, kernel("rule"))
        try:
            yield
        finally:
            for operator, before in saved.items():
                operator.py_kernels = before
                self.rules.pop(operator, None)


def test_an_operator_is_overridden_from_memory_and_left_as_it_was() -> None:
    plain = Overridden()
    override = overriding(plain, "composite", plain.rules)
    operator, other = Operator(), Operator(cuda=kernel("mine"))
    first, second = kernel("first"), kernel("second")
    for place, replacement in enumerate((first, second)):
        operator._dispatch_cache["stale"] = other._dispatch_cache["stale"] = True
        with override({operator: replacement, other: replacement}):
            assert operator.py_kernels["composite"] is other.py_kernels["composite"] is replacement
            assert set(operator.py_kernels) == {"cpu", "composite"}
            assert set(other.py_kernels) == {"cpu", "cuda", "composite"}
            assert set(plain.rules) == {operator, other}
            assert place == 0 or not operator._dispatch_cache
            operator._dispatch_cache["inside"] = True
        assert operator.py_kernels == {}
        assert set(other.py_kernels) == {"cuda"}
        assert not plain.rules
        assert place == 0 or not operator._dispatch_cache
    assert plain.asked == [2, 0]


def test_an_operator_that_changed_is_asked_for_again() -> None:
    plain = Overridden()
    override = overriding(plain, "composite", plain.rules)
    operator = Operator()
    wanted = {operator: kernel("first")}
    with override(wanted):
        pass
    operator.py_kernels["cuda"] = kernel("late")
    with override(wanted):
        assert operator.py_kernels["cuda"]() == "late"
    plain.rules[operator] = kernel("foreign")
    with override(wanted):
        assert plain.rules[operator]() == "foreign"
    assert plain.asked == [1, 1, 1]


def test_it_is_left_as_it_was_after_an_error_too() -> None:
    plain = Overridden()
    override = overriding(plain, "composite", plain.rules)
    operator = Operator()
    for _ in range(2):
        with pytest.raises(RuntimeError), override({operator: kernel("first")}):
            raise RuntimeError
        assert operator.py_kernels == {}
        assert not plain.rules


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(self.linear(x)).chunk(3, dim=-1)[1]


def composite() -> dict[str, tuple[Any, ...]]:
    """The kernels that each composite operator has in Python."""
    return {op.name(): tuple(op.py_kernels) for op in utils._collect_all_valid_cia_ops()}


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_programs_decompose_as_before_and_late_operators_are_named() -> None:
    program = torch.export.export(Small(), (torch.ones(2, 4),), strict=False)
    linear = torch.ops.aten.linear.default
    kept = torch.export.default_decompositions()
    kept.pop(linear)
    plain, before, left = program.run_decompositions().graph_module.code, composite(), program.run_decompositions(kept)
    assert plain != left.graph_module.code
    quicken()
    for _ in range(3):
        assert program.run_decompositions().graph_module.code == plain
        assert program.run_decompositions(kept).graph_module.code == left.graph_module.code
        assert composite() == before
    library = torch.library.Library("assay_late", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CompositeImplicitAutograd")
    assert "assay_late::twice" in {op.name() for op in utils._collect_all_valid_cia_ops()}
