"""The code that makes a case is part of its key: whatever it imports, however deep, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.core.case import Case
from assay.core.model import Model
from assay.models import code_digest as module
from assay.models.code_digest import code_digest, rooms_digest
from assay.pipeline.plan import reference_dir
from assay.pipeline.references.originals import ANSWERING_PROGRAMS, made_by

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
    monkeypatch.setattr(module, "__file__", str(tmp_path / "models" / "code_digest.py"))
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

    tables = {Path(str(var.__file__)) for var in vars(operators).values() if hasattr(var, "TABLE")}
    assert tables
    maker = Path(str(operators.__file__)).parents[1] / "build_torch.py"
    assert not re.search(r"suites\.operators", maker.read_text())


def _rooms(*rooms: str) -> str:
    rooms_digest.cache_clear()
    try:
        return rooms_digest(*rooms)
    finally:
        rooms_digest.cache_clear()


@pytest.mark.parametrize(
    ("name", "changes"), [("models/far/__init__.py", True), ("core/deep.py", True), ("suites/maker.py", False)]
)
def test_an_edit_in_a_room_is_another_code(services: Path, name: str, changes: bool) -> None:
    before = _rooms("models", "core/deep.py")
    with (services / name).open("a") as file:
        file.write("more = 1\n")
    assert (_rooms("models", "core/deep.py") != before) is changes


def test_a_room_that_is_not_there_is_no_empty_one(services: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _rooms("models", "worker/lower.py")


@pytest.mark.parametrize(
    ("edited", "form", "changes"),
    [
        ("models/input_plan/number_ranges.py", "onnx", True),
        ("backends/onnx_reference.py", "onnx", True),
        ("worker/reference/compute_reference.py", "onnx", True),
        ("worker/engine/sequences.py", "onnx", True),
        ("models/flatten.py", "torch", True),
        ("backends/torch/float64.py", "torch", True),
        ("backends/torch/float64.py", "onnx", False),
    ],
)
def test_answers_that_another_rule_or_oracle_would_give_are_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str, form: str, changes: bool
) -> None:
    real = Path(module.__file__).parents[1]
    for room in ANSWERING_PROGRAMS:
        copy = shutil.copytree if (real / room).is_dir() else shutil.copy
        (tmp_path / room).parent.mkdir(parents=True, exist_ok=True)
        copy(real / room, tmp_path / room)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "models" / "code_digest.py"))
    case = Case("one", Model("one", "one.onnx", "0", format=form))
    folders = []
    for _ in range(2):
        made_by.cache_clear()
        rooms_digest.cache_clear()
        folders.append(reference_dir(case, tmp_path))
        with (tmp_path / edited).open("a") as file:
            file.write("more = 1\n")
    made_by.cache_clear()
    rooms_digest.cache_clear()
    assert (folders[0] != folders[1]) is changes
