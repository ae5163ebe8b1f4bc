"""The report says how many jobs did not have a process of their own."""

from __future__ import annotations

from msgspec.structs import replace

from assay.reports.recorded_jobs import recorded
from assay.testing import standard_run


def test_jobs_that_shared_a_process_are_counted() -> None:
    run, results = standard_run.run(), standard_run.results()
    assert recorded(run, results) == "10 of 10 jobs recorded"
    shared = [replace(result, jobs_before=place) for place, result in enumerate(results[:4])]
    assert recorded(run, shared) == "4 of 10 jobs recorded, 3 of them in a process that had done other jobs before"
