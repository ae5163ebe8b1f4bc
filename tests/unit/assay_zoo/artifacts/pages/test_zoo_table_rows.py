"""Tables are read as a reader reads them: a cell with the first one of its row and the title of its column."""

from __future__ import annotations

import pytest

from assay_zoo.artifacts.pages.table_rows import table_rows
from assay_zoo.artifacts.rights.restricted_use import rights_in_page


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("- Terms\n\n  | Use | Allowed |\n  |---|---|\n  | commercial use | no |\n", 5),
        ("> 1. Terms\n>\n>    | Use | Granted |\n>    |:--|:-:|\n>    | Commercial | not allowed |\n", 5),
        ("| | Academic | Redistribution |\n|---|---|---|\n| weights | yes | no |\n", 1),
        ("<ul><li><table>\n<tr><th>Commercial use</th><td>\u2717</td></tr></table></li></ul>", 2),
    ],
)
def test_a_use_that_a_table_keeps_back(page: str, line: int) -> None:
    assert [(at, less) for at, _, less in rights_in_page(page)] == [(line, True)]


@pytest.mark.parametrize("page", ["* a\n  - | part | licence |\n    |---|---|\n    | weights | GPL-3.0 |\n"])
def test_a_licence_in_a_table(page: str) -> None:
    assert list(rights_in_page(page)) == [(4, "weights licence: GPL-3.0", False)]


@pytest.mark.parametrize(
    "page",
    [
        "| class | recall |\n|---|---|\n| commercial vehicle | 0.97 |\n",
        "| house | for sale |\n|---|---|\n| 1 | no |\n",
    ],
)
def test_a_table_that_keeps_nothing_back(page: str) -> None:
    assert list(rights_in_page(page)) == []


def test_rows_of_two_tables() -> None:
    page = "| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n"
    assert list(table_rows(page)) == [(3, "1 b: 2")]
