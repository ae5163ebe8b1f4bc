"""A package that is imported without some of its modules, and has them as soon as anybody might need them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from assay.models.lazy_import import lazy_import

_PACKAGE = {
    "__init__.py": "made = []\nfrom large import rules\nimport large.inner.rules",
    "tables.py": "import large\nlarge.made.append('tables')\nknown = {}",
    "rules.py": "import large\nimport large.tables\nlarge.made.append('rules')\nlarge.tables.known['rule'] = 1",
    "other.py": "import large\nlarge.made.append('other')",
    "inner/__init__.py": "",
    "inner/rules.py": "import large.rules\nlarge.made.append('inner')",
}
_ALL = ("large.inner.rules", "large.rules")


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in _PACKAGE.items():
        path = tmp_path / "large" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    finders = list(sys.meta_path)
    yield
    sys.meta_path[:] = finders
    for name in [module for module in sys.modules if module.partition(".")[0] == "large"]:
        del sys.modules[name]


def test_it_comes_without_them() -> None:
    with lazy_import("large", _ALL):
        large = import_module("large")
    assert large.made == []
    assert not {*_ALL, "large.tables"} & set(sys.modules)
    assert not hasattr(large, "rules")


@pytest.mark.parametrize("wanted", ["other", "tables", "rules", "inner.rules"])
def test_whichever_module_is_imported_next_has_them_before_it_and_each_is_made_once(wanted: str) -> None:
    with lazy_import("large", _ALL):
        large = import_module("large")
    module = import_module(f"large.{wanted}")
    assert large.made == ["tables", "rules", "inner", *(["other"] if wanted == "other" else [])]
    assert import_module("large.tables").known == {"rule": 1}
    assert module.__spec__ is not None
    assert Path(str(module.__spec__.origin)).name == Path(str(module.__file__)).name
    assert import_module("large").inner.rules is sys.modules["large.inner.rules"]


def test_a_package_that_is_there_stays_as_it_is() -> None:
    large = import_module("large")
    finders = list(sys.meta_path)
    with lazy_import("large", _ALL):
        assert sys.modules["large.rules"] is large.rules
    assert large.made == ["tables", "rules", "inner"]
    assert sys.meta_path == finders


def test_a_package_that_does_not_come_leaves_nothing_behind() -> None:
    finders = list(sys.meta_path)
    with pytest.raises(ModuleNotFoundError, match="larger"), lazy_import("larger", ("larger.rules",)):
        import_module("larger")
    assert "larger.rules" not in sys.modules
    assert sys.meta_path == finders
