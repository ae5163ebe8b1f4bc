"""The tables of the history. Whole values lie in `payload`; beside them only what is searched, sorted or counted.

Metrics have no table: a result has some twenty of them, and the trend of one job reads the payloads of that job by
index. So a metric that is invented tomorrow has a trend of two years on its first day.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

SCHEMA = 3
"""The version that this code reads and writes: the newest of `migrations/versions`."""

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
    Column("machine", String, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Index(None, "commit"),
)

run_models = Table(
    "run_models",
    metadata,
    Column("digest", String, primary_key=True),
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("name", String, primary_key=True),
    Index(None, "name", "run"),
)
"""Which models a run is about: the case's own, and the original that it is compared with."""

results = Table(
    "results",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("run", _Number, ForeignKey("runs.number"), nullable=False),
    Column("job_key", String, nullable=False),
    Column("case", String, nullable=False),
    Column("flow", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("stage", String, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    UniqueConstraint("run", "job_key"),
    Index(None, "case", "flow", "run"),
)

result_codes = Table(
    "result_codes",
    metadata,
    Column("code", String, primary_key=True),
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("job_key", String, primary_key=True),
    Column("about", String, primary_key=True),
)
"""What went wrong in a result: outcome, cause, signal, findings and warnings, as `assay.core.codes` names them."""

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
)

case_state = Table(
    "case_state",
    metadata,
    Column("job_key", String, primary_key=True),
    Column("case", String, nullable=False),
    Column("flow", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("word", String, nullable=False),
    Column("run", _Number, ForeignKey("runs.number"), nullable=False),
    Column("since", _Number, ForeignKey("runs.number"), nullable=False),
    Column("streak", Integer, nullable=False),
    Column("last_ok", _Number, ForeignKey("runs.number"), nullable=True),
    Index(None, "outcome"),
)
"""What is so now: the outcome of the newest `run` that had this job, `since` which run it has been that, for how many
runs in a row (`streak`), the verdict's `word` once that run was judged, and the `last_ok` run."""

alerts = Table(
    "alerts",
    metadata,
    Column("id", String, primary_key=True),
    Column("payload", LargeBinary, nullable=False),
)
"""Causes that people are told of, and messages that wait: a row for each that is open."""

kept_folders = Table(
    "kept_folders",
    metadata,
    Column("name", String, primary_key=True),
    Column("payload", LargeBinary, nullable=False),
)
"""Which files of which folder lie in the store of blobs: baselines, references, logs, traces."""
