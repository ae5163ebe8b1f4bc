"""Who may do what with a history on PostgreSQL."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import make_url, text

from assay.commands.history_copy import grant_roles
from assay.core.annotation import Annotation
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import StoreError, UsageError
from assay.stores.sql import SqlStore
from assay.testing.builders import make_result, make_run


def test_a_writer_records_and_a_reader_looks(postgresql: str) -> None:
    reader, writer = (f"{name} {uuid4().hex[:8]}" for name in ("reader", "writer"))
    with closing(SqlStore(postgresql)) as owner, owner.engine.begin() as connection:
        for role in (reader, writer):
            connection.execute(text(f'CREATE ROLE "{role}" LOGIN'))
    grant_roles(postgresql, (reader,), (writer,))
    grant_roles(postgresql, (reader,), (writer,))
    as_role = {role: make_url(postgresql).set(username=role).render_as_string() for role in (reader, writer)}
    with closing(SqlStore(as_role[writer])) as store:
        store.open_run(make_run())
        store.record(make_run().id, [make_result("a"), make_result("b")])
        store.close_run(make_run().id, "complete", RunVerdict((), Verdict(VerdictStatus.PASS, ""), 0))
        store.write(lambda connection: connection.execute(text("DELETE FROM alerts")))
        store.add_annotation(Annotation("2026-11-26T10:00:00+00:00", "ann", "new compiler", make_run().id))
        assert [annotation.text for annotation in store.annotations()] == ["new compiler"]
        for refused in ("DELETE FROM results", "UPDATE run_annotations SET text = ''", "DELETE FROM run_annotations"):
            with pytest.raises(StoreError, match="does not let its user do that"):
                store.write(lambda connection, words=refused: connection.execute(text(words)))
    with closing(SqlStore(as_role[reader])) as store:
        assert [result.case for result in store.results("last")] == ["a", "b"]
        with pytest.raises(StoreError) as caught:
            store.record(make_run().id, [make_result("c")])
    assert str(caught.value) == (
        f"{store.name} does not let its user do that: ask its owner for the rights, with assay history grant"
    )


def test_rights_that_cannot_be_given(postgresql: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no role nobody-here in .*: make it first"):
        grant_roles(postgresql, ("nobody-here",), ())
    with pytest.raises(UsageError, match="is a file: who may read and write it, its folder says"):
        grant_roles(str(tmp_path), ("someone",), ())
    with pytest.raises(UsageError, match="nobody is named"):
        grant_roles(postgresql, (), ())
