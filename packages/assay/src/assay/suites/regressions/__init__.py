"""What was wrong once in a released backend, a few lines a case: seen while it lasts, and seen when it is fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import metadata

from assay.core.case import Case
from assay.core.digest import value_digest
from assay.models.code_digest import code_digest
from assay.suites.cache import INDEX, cache_folder
from assay.suites.regressions.declare import Regression, tables, texts
from assay.suites.subprocess_run import cases_made_once

MAKER = "assay.suites.regressions.build_regressions"


class Regressions:
    """Conformance: `assay.testing.check_suite`. The seed has no effect: inputs are stated, answers are what the standard says."""

    name = "regressions"
    about = "defects that were found in released backends (docs/findings), each as a model of a few nodes with its right answer"

    def cases(self, *, seed: int) -> Iterator[Case]:  # noqa: ARG002
        """Named `regressions/BACKEND-what`; from the cache, which is made again when a table changes."""
        index = cache_folder(self.name, _state()) / INDEX
        yield from cases_made_once(index, MAKER, "the cases of the suite of regressions cannot be made")

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:  # noqa: ARG002
        """Everything is there already."""
        for case in cases:
            yield case, ""


def _state() -> str:
    return value_digest((code_digest(MAKER), texts(), metadata.version("onnx")))[:32]


__all__ = ["Regression", "Regressions", "tables"]
