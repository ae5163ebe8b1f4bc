"""Exception scenarios: the specified answer for odd values, a clear error for a wrong use, and a usable engine afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata

from assay.core.case import Case
from assay.core.digest import value_digest
from assay.models.code_digest import code_digest
from assay.suites.cache import INDEX, cache_folder
from assay.suites.edge import error_cases, numbers, values
from assay.suites.edge.declare import Edge
from assay.suites.subprocess_run import cases_made_once

MAKER = "assay.suites.edge.build_edge"


@cache
def tables() -> tuple[Edge, ...]:
    """Every line, each name once."""
    edges = (*values.table(), *numbers.table(), *error_cases.table())
    assert len({edge.name for edge in edges}) == len(edges), "two cases of the edge suite have one name"
    return edges


class EdgeCases:
    """Conformance: `assay.testing.check_suite`. The seed has no effect: values and answers are specified."""

    name = "edge"
    about = "exception scenarios: NaN, infinity, -0, subnormal, overflow, empty; wrong inputs, indices, sizes, models"

    def cases(self, *, seed: int) -> Iterator[Case]:  # noqa: ARG002
        """Named `edge/OPERATOR-what`; from the cache, which is made again when a table changes."""
        index = cache_folder(self.name, _state()) / INDEX
        yield from cases_made_once(index, MAKER, "the cases of the edge suite cannot be made")

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:  # noqa: ARG002
        """Everything is there already."""
        for case in cases:
            yield case, ""


def _state() -> str:
    return value_digest((code_digest(MAKER), metadata.version("onnx")))[:32]
