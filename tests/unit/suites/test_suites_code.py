"""The code that makes a case is part of its key: whatever it imports, however deep, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.suites import code
from assay.suites.code import code_digest

SOURCES = {
    "suites/maker.py": "from assay.suites import random_tensors, names\nfrom assay.models.far import (\n    thing,\n    other as it,\n)\n",
    "suites/random_tensors.py": "def draw():\n    import assay.core.deep\n    return assay.core.deep.value\n",
    "suites/names.py": "",
    "models/far/__init__.py": "from numpy import array as thing\n",
    "core/deep.py": "value = 1\n",
    "suites/table.py": "from assay.suites import maker\n",
}


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(code, "__file__", str(tmp_path / "suites" / "code.py"))
    return tmp_path


def _digest() -> str:
    code_digest.cache_clear()
    try:
        return code_digest("assay.suites.maker")
    finally:
        code_digest.cache_clear()


@pytest.mark.parametrize("name", [name for name in SOURCES if "table" not in name])
def test_an_edit_of_what_the_maker_imports_is_another_code(services: Path, name: str) -> None:
    before = _digest()
    with (services / name).open("a") as file:
        file.write("more = 1\n")
    assert _digest() != before


def test_an_edit_of_what_imports_the_maker_is_not(services: Path) -> None:
    before = _digest()
    (services / "suites/table.py").write_text("from assay.suites import maker\nTABLE = ()\n")
    assert _digest() == before


def test_a_table_of_operators_does_not_make_its_cases() -> None:
    """A case holds its own line of the table: an edited line changes the key of its cases, and the maker's code that of all."""
    import re

    from assay.suites import operators

    tables = {Path(str(one.__file__)) for one in vars(operators).values() if hasattr(one, "TABLE")}
    assert tables
    maker = Path(str(operators.__file__)).parents[1] / "build_torch.py"
    assert not re.search(r"suites\.operators", maker.read_text())
