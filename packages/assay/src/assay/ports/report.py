"""What renders a judged run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict


class Report(Protocol):
    """A pure function from a judged run to text. Conformance: a golden of its text on the standard run."""

    name: str
    suffix: str

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str: ...
