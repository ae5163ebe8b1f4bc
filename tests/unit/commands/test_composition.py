"""Adapters come in by their entry points: a third party's store is picked by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay import plugins
from assay.commands.composition import STORES, open_services
from assay.errors import RunNotFound, UsageError
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run


class Kept:
    """A store of a third party: what is told of it is where it lies."""

    def __init__(self, location: str) -> None:
        self.location, self.closed = location, False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> None:
    names, load = plugins.names, plugins.load

    def loaded(group: str, name: str) -> Any:
        return Kept if (group, name) == (STORES, "kept") else load(group, name)

    monkeypatch.setattr(plugins, "names", lambda group: [*names(group), *(["kept"] if group == STORES else [])])
    monkeypatch.setattr(plugins, "load", loaded)


@pytest.mark.usefixtures("third_party")
def test_a_store_is_picked_by_the_scheme_of_its_location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_services("kept://somewhere/history") as services:
        store: Any = services.store
        assert isinstance(store, Kept)
        assert store.location == "kept://somewhere/history"
    assert store.closed
    with open_services(str(tmp_path / "own")) as services:
        assert isinstance(services.store, SqlStore)
    with pytest.raises(UsageError), open_services("nobody://somewhere"):
        pass


def test_what_is_unrecorded_opens_no_database_and_shares_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STORE", str(tmp_path / "store"))
    with open_services(str(tmp_path / "own"), unrecorded=True) as services:
        run = make_run("r", (make_job(),))
        services.store.open_run(run)
        services.store.record("r", [make_result()])
        assert services.store.runs() == []
        assert services.store.run_before("s", {("digits-classifier", "onnxruntime")}) == ""
        assert not services.files
        for asked in (services.store.run, services.store.results):
            with pytest.raises(RunNotFound, match=r'no run "r" .* --unrecorded'):
                asked("r")
    assert not (tmp_path / "own" / "history.db").exists()
