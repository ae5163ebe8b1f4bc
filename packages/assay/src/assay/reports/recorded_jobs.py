"""How many jobs of a run were recorded, and how many of them did not have a process of their own."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.result import Result
from assay.core.run import Run


def recorded(run: Run, results: Sequence[Result]) -> str:
    """`10 of 12 jobs recorded, 6 of them in a process that had done other jobs before`."""
    shared = sum(result.jobs_before > 0 for result in results)
    text = f"{len(results):,} of {len(run.jobs):,} jobs recorded"
    return f"{text}, {shared:,} of them in a process that had done other jobs before" if shared else text
