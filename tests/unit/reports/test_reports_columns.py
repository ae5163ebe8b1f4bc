"""The table of columns: each is complete for the reports that it stands in."""

from __future__ import annotations

import pytest

from assay.reports import csv, suite_csv, terminal_table
from assay.reports.columns import EVERYWHERE, columns_of


@pytest.mark.parametrize("report", sorted(EVERYWHERE))
def test_names_are_there_and_unlike(report: str) -> None:
    columns = columns_of(report)  # type: ignore[arg-type]
    names = [column.field if report.endswith("csv") else column.header for column in columns]
    assert names
    assert all(names)
    assert len(set(names)) == len(names)


def test_the_page_explains_each() -> None:
    assert all(column.meaning and column.value is not None for column in columns_of("html"))


def test_a_narrow_screen_loses_the_least_important_first() -> None:
    assert terminal_table.OPTIONAL == ("Artifact", "p90", "Peak mem", "Max abs", "Reference")


def test_scripts_find_the_fields_where_they_were() -> None:
    assert ",".join(csv.COLUMNS[8:15]) == (
        "budget_used,max_abs,batch,latency_median_s,latency_p90_s,peak_memory_bytes,artifact_bytes"
    )
    ours = suite_csv.OURS
    place = ours.index("inputs")
    assert ours[place + 1 : place + 5] == ("budget_used", "max_abs", "rtol", "atol")
    place = ours.index("seconds")
    assert ours[place + 1 : place + 3] == ("peak_memory_bytes", "artifact_bytes")
