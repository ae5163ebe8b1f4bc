"""No collections while a library is imported, and none of it afterwards in a process that is there for it."""

from __future__ import annotations

import contextlib
import gc
import sys
from types import ModuleType

import pytest

from assay.models import import_without_gc as room
from assay.models.import_without_gc import import_without_gc, own_process


@pytest.fixture(autouse=True)
def _own_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests put aside stays there: gc.unfreeze would give the collector all modules of this process back."""
    monkeypatch.setattr(room, "_own", [])


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_rests_and_is_left_as_it_was(collecting: bool) -> None:
    (gc.enable if collecting else gc.disable)()
    try:
        with contextlib.suppress(ImportError), import_without_gc():
            assert not gc.isenabled()
            raise ImportError
        assert gc.isenabled() is collecting
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("own", "imported", "frozen"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_only_what_was_imported_in_a_process_of_its_own_is_put_aside(
    own: bool, imported: bool, frozen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if own:
        own_process()
    before = gc.get_freeze_count()
    with import_without_gc():
        if imported:
            monkeypatch.setitem(sys.modules, "assay_imported_here", ModuleType("assay_imported_here"))
    assert (gc.get_freeze_count() > before) is frozen
