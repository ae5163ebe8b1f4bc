"""Operators, authored once as torch modules and declared in tables: elementwise, binary, reductions, linear, windows, layout, types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from assay.core.case import Case
from assay.suites.build_cases import build_cases
from assay.suites.operators import binary, casting, elementwise, layout, linear, reductions, windows
from assay.suites.operators.declare import Operator
from assay.suites.torch_case import TorchCase, listed

TABLES: tuple[Operator, ...] = tuple(
    operator
    for table in (elementwise, binary, reductions, linear, windows, layout, casting)
    for operator in table.TABLE
)


class Operators:
    """Conformance: `assay.testing.check_suite`."""

    name = "operators"
    about = f"{len(TABLES)} operators as torch modules: types, shapes, attributes, orders of memory; tiers smoke, sample, edge, dynamic"

    def cases(self, *, seed: int) -> Iterator[Case]:
        """Named `operators/OPERATOR-TYPE-TIER-SHAPES-ATTRIBUTES`."""
        for torch_case in _authored().values():
            yield listed(torch_case, seed)

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:
        """Exported by torch, with the module itself in float64 as the reference."""
        seed = cases[0].inputs.seed if cases else 0
        return build_cases(self.name, [_authored()[case.name] for case in cases], seed=seed, workers=workers)


@cache
def _authored() -> dict[str, TorchCase]:
    cases: dict[str, TorchCase] = {}
    for operator in TABLES:
        for case in operator.cases():
            assert case.name not in cases, f"two cases are called {case.name}"
            cases[case.name] = case
    return cases
