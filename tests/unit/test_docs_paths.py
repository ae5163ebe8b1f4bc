"""A file of this repository that the docs name is there: a move must not leave a dead name behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_generated" not in page.parts)
PAGES = [*DOCS, ROOT / "README.md", ROOT / "CHANGELOG.md"]
SOURCES = ("packages", "tests", "benchmarks", "docs", "examples", "tools")
NAMED = re.compile(r"`((?:[\w-]+/)+[\w-]*(?:\.py|\.c|\.toml)?)`")


@pytest.fixture(scope="module")
def present() -> set[str]:
    """Each file and folder of the sources, by every end of its path: numerics/ulp.py is one of packages/.../numerics/ulp.py."""
    paths = [
        path.relative_to(ROOT)
        for source in SOURCES
        for path in (ROOT / source).rglob("*")
        if "__pycache__" not in path.parts
    ]
    return {"/".join(path.parts[start:]) for path in paths for start in range(len(path.parts))}


def _dead(text: str, present: set[str]) -> list[str]:
    """Names of Python or C files, and of folders of tests, benchmarks or the package, that are not there."""
    named = [name.rstrip("/") for name in NAMED.findall(text)]
    ours = [name for name in named if name.endswith((".py", ".c")) or name.startswith((*SOURCES, "assay/"))]
    return [name for name in ours if name not in present]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_file_that_the_page_names_is_there(page: Path, present: set[str]) -> None:
    assert _dead(page.read_text(), present) == []


def test_a_dead_name_is_found(present: set[str]) -> None:
    assert _dead("see `numerics/ulp.py`, `tests/unit` and `models/NAME`", present) == []
    assert _dead("see `numerics/gone.py` and `tests/gone/`", present) == ["numerics/gone.py", "tests/gone"]
