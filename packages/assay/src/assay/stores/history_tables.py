"""The tables of the history. Whole values lie in `payload`; beside them only what is searched, sorted or counted.

Metrics are kept twice: in the payload with all that they were made from, and as plain numbers in `metric_values`, from which trends are
drawn without opening a payload.
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
    event,
    text,
)
from sqlalchemy.schema import DDLElement

from assay.stores import state_parts
from assay.stores.counting_triggers import COUNTING

SCHEMA = 9
"""The version that this code reads and writes: the newest of `migrations/versions`. It stands for the form of what payloads hold, too."""

FIRST_RELEASED = 5
"""Histories of an older one are those of trees that were never released."""

VERSION_TABLE = "assay_schema"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite gives numbers by itself only to a column that it knows as INTEGER.
_Number = BigInteger().with_variant(Integer(), "sqlite")

runs = Table(
    "runs",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("started_at", String, nullable=False),
    Column("status", String, nullable=False),
    Column("command", String, nullable=False),
    Column("commit", String, nullable=False),
    Column("branch", String, nullable=False),
    Column("machine", String, nullable=False),
    Index(None, "commit"),
    Index(None, "branch", "id"),
)

run_payloads = Table(
    "run_payloads",
    metadata,
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
    Column("jobs", LargeBinary, nullable=False),
)
"""The whole run, its jobs apart: of a large one they are most of it, and seldom asked for."""

run_models = Table(
    "run_models",
    metadata,
    Column("digest", String, primary_key=True),
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("name", String, primary_key=True),
    Index(None, "name", "run"),
)
"""Which models a run is about: the case's own, and the original that it is compared with."""


def _index_of(name: str, part: str, *columns: str) -> Index:
    """Of those rows alone."""
    return Index(f"ix_case_state_{name}", *columns, sqlite_where=text(part), postgresql_where=text(part))


case_state = Table(
    "case_state",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("job_key", String, nullable=False, unique=True),
    Column("case", String, nullable=False),
    Column("flow", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("word", String, nullable=False),
    Column("run", _Number, ForeignKey("runs.number"), nullable=False),
    Column("since", _Number, ForeignKey("runs.number"), nullable=False),
    Column("streak", Integer, nullable=False),
    Column("last_ok", _Number, ForeignKey("runs.number"), nullable=True),
    Column("was_not_ok", Integer, nullable=False, server_default="0"),
    Index(None, "case", "flow"),
    Index(None, "outcome", "since"),
    Index(None, "outcome", "word", "case", "flow"),
    Index(None, "flow", "outcome", "word"),
    _index_of("red", state_parts.RED, "since", "job_key"),
    _index_of("red_once_ok", state_parts.RED_ONCE_OK, "since", "job_key"),
    _index_of("inconclusive", state_parts.INCONCLUSIVE, "since", "job_key"),
    _index_of("was_not_ok", state_parts.WAS_NOT_OK, "outcome", "since", "job_key"),
    postgresql_with={"fillfactor": 50},
)
"""Every job that was ever done, by the `number` that its results go by, and what is so now: the outcome of the newest `run` that had this
job, `since` which run it has been that, for how many runs in a row (`streak`), the verdict's `word` once that run was judged, and the
`last_ok` run; `was_not_ok` is 1 where any run had another outcome than ok. A matrix of millions looks each case and each flow up in two
indexes; the first page reads its lists from those of a part.
Each row changes twice with each run: on PostgreSQL half of a page is free for what it becomes, or the table grows by all its rows with
each run until it is vacuumed, and every page of a dashboard reads them."""

state_counts = Table(
    "state_counts",
    metadata,
    Column("axis", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("outcome", String, primary_key=True),
    Column("word", String, primary_key=True),
    Column("jobs", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""How many jobs of each case and of each flow (`axis`) stand so: the first page would count all of them each time. Triggers keep it with
every change, in PostgreSQL by way of `state_changes`."""

state_changes = Table(
    "state_changes",
    metadata,
    Column("number", _Number, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("axis", "name", "outcome", "word")),
    Column("jobs", Integer, nullable=False),
    postgresql_with={"autovacuum_vacuum_scale_factor": 0, "autovacuum_vacuum_threshold": 5000},
)
"""In PostgreSQL, by how many jobs those counts changed since they were added up: writers who changed the counts themselves would wait for
one another. In SQLite it stays empty."""

for _kind, _statements in COUNTING.items():
    for _statement in _statements:
        _made: DDLElement = DDL(_statement)  # type: ignore[no-untyped-call]
        event.listen(metadata, "after_create", _made.execute_if(dialect=_kind))

results = Table(
    "results",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("run", _Number, ForeignKey("runs.number"), nullable=False),
    Column("job", _Number, ForeignKey("case_state.number"), nullable=False),
    Column("outcome", String, nullable=False),
    Column("word", String, nullable=False),
    Column("stage", String, nullable=False),
    Column("seconds", Float, nullable=False),
    UniqueConstraint("run", "job"),
    Index(None, "job", "run"),
)
"""One short row for each: a matrix, a comparison and a row of past outcomes read no payload. `word` is the verdict on the job, "" while
its run is not judged."""

result_payloads = Table(
    "result_payloads",
    metadata,
    Column("result", _Number, ForeignKey("results.number"), primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
)

constants = Table(
    "constants",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("payload", LargeBinary, nullable=False),
)
"""What many results have in common, once: names of metrics, versions of libraries. See `assay.stores.metric_values`."""

metric_values = Table(
    "metric_values",
    metadata,
    Column("job", _Number, nullable=False, autoincrement=False),
    Column("run", _Number, nullable=False, autoincrement=False),
    Column("names", _Number, nullable=False),
    Column("versions", _Number, nullable=False),
    Column("numbers", LargeBinary, nullable=False),
    Column("more_numbers", LargeBinary, nullable=True),
    PrimaryKeyConstraint("job", "run", postgresql_include=["names", "versions", "numbers"]),
    sqlite_with_rowid=False,
    postgresql_with={"autovacuum_vacuum_insert_scale_factor": 0, "autovacuum_vacuum_insert_threshold": 50_000},
)
"""All metrics of a result, as float64 in the order of their `names`, a constant as its `versions`. Those of one job lie beside one
another, so that on SQLite a trend of thousands of runs is one stretch of the file. On PostgreSQL, whose table has them in the order of
time, it is one of the key's index. That has the first numbers (`numbers`), not the others (`more_numbers`): a row of it holds 2,704
bytes, and all would be a quarter more for the history. An index is read alone only where the table was vacuumed: after so many rows, and
not after a fifth of all. Without foreign keys: each is written with the rows that it names, and four checks a row would be most of the
work."""

result_codes = Table(
    "result_codes",
    metadata,
    Column("code", String, primary_key=True),
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("job", _Number, ForeignKey("case_state.number"), primary_key=True, autoincrement=False),
    Column("about", String, primary_key=True),
    sqlite_with_rowid=False,
)
"""What went wrong in a result: outcome, cause, signal, findings and warnings, as `assay.stores.encoded_result.codes_of` names them."""

run_summary = Table(
    "run_summary",
    metadata,
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("jobs", Integer, nullable=False),
    Column("recorded", Integer, nullable=False),
    Column("word", String, nullable=False),
    Column("passed", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("other", Integer, nullable=False),
    Column("names", LargeBinary, nullable=True),
)
"""`names`: see `assay.stores.run_names`; none while results are added."""

run_cells = Table(
    "run_cells",
    metadata,
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("kind", Integer, primary_key=True, autoincrement=False),
    Column("cells", LargeBinary, nullable=False),
)
"""Which cells of a run have a job of one of the `kinds` of its names: see `assay.stores.run_names`."""

alerts = Table(
    "alerts",
    metadata,
    Column("id", String, primary_key=True),
    Column("payload", LargeBinary, nullable=False),
)
"""Causes that people are told of, and messages that wait: a row for each that is open."""

run_annotations = Table(
    "run_annotations",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("at", String, nullable=False),
    Column("who", String, nullable=False),
    Column("text", String, nullable=False),
    Column("run", _Number, ForeignKey("runs.number"), nullable=False),
    Column("case", String, nullable=False),
    Column("flow", String, nullable=False),
    Index(None, "run"),
    Index(None, "case", "flow"),
)
"""What people wrote: only ever appended to."""

kept_folders = Table(
    "kept_folders",
    metadata,
    Column("name", String, primary_key=True),
    Column("payload", LargeBinary, nullable=False),
)
"""Which files of which folder lie in the store of blobs: baselines, references, logs, traces."""
