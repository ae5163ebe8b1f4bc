"""What the robot remembers, as tables: in SQLite, or in PostgreSQL where several robots share the work.

Times are seconds since 1970, UTC, of the robot's clock. Lists are JSON texts.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

SCHEMA = 2
UPGRADES = {2: ("ALTER TABLE robot_deliveries ADD COLUMN sha VARCHAR NOT NULL DEFAULT ''",)}
"""What makes of the version before the one that is the key."""
metadata = MetaData()

meta = Table("robot_meta", metadata, Column("name", String, primary_key=True), Column("value", String, nullable=False))

submissions = Table(
    "robot_submissions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("repository", String, nullable=False),
    Column("sha", String, nullable=False),
    Column("name", String, nullable=False),
    Column("branch", String, nullable=False),
    Column("ref", String, nullable=False),
    Column("number", Integer, nullable=False),
    Column("author", String, nullable=False),
    Column("title", String, nullable=False),
    Column("url", String, nullable=False),
    Column("state", String, nullable=False),
    Column("answer", String, nullable=False, default=""),
    Column("promoted", String, nullable=False, default=""),
    Column("trouble", Text, nullable=False, default=""),
    Column("received_at", Float, nullable=False),
    UniqueConstraint("repository", "sha", "name"),
    Index("robot_submissions_branch", "repository", "branch", "name"),
)

jobs = Table(
    "robot_jobs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("submission_id", ForeignKey("robot_submissions.id"), nullable=False),
    Column("round", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("worker", String, nullable=False, default=""),
    Column("fence", Integer, nullable=False, default=0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("taken", Integer, nullable=False, default=0),
    Column("queued_at", Float, nullable=False),
    Column("not_before", Float, nullable=False, default=0.0),
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("started_at", Float, nullable=False, default=0.0),
    Column("ended_at", Float, nullable=False, default=0.0),
    UniqueConstraint("submission_id", "round"),
    Index("robot_jobs_state", "state", "queued_at"),
)

decisions = Table(
    "robot_decisions",
    metadata,
    # The primary key is what makes a second decision of a job impossible, whatever the code around it does.
    Column("job_id", ForeignKey("robot_jobs.id"), primary_key=True, autoincrement=False),
    Column("submission_id", ForeignKey("robot_submissions.id"), nullable=False, index=True),
    Column("fence", Integer, nullable=False),
    Column("worker", String, nullable=False),
    Column("answer", String, nullable=False),
    Column("reasons", Text, nullable=False),
    Column("checks", Text, nullable=False),
    Column("digest", String, nullable=False),
    Column("base", String, nullable=False),
    Column("record", Text, nullable=False),
    Column("inspection", Text, nullable=False),
    Column("at", Float, nullable=False),
)

deliveries = Table(
    "robot_deliveries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("delivery", String, nullable=False, unique=True),
    Column("body_sha256", String, nullable=False, unique=True),
    Column("branch", String, nullable=False),
    Column("number", Integer, nullable=False),
    Column("sha", String, nullable=False, server_default=""),
    Column("state", String, nullable=False, index=True),
    Column("attempts", Integer, nullable=False, default=0),
    Column("not_before", Float, nullable=False, default=0.0),
    Column("received_at", Float, nullable=False),
)

outbox = Table(
    "robot_outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("submission_id", ForeignKey("robot_submissions.id"), nullable=False),
    Column("kind", String, nullable=False),
    Column("wanted", Integer, nullable=False),
    Column("done", Integer, nullable=False, default=0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("not_before", Float, nullable=False, default=0.0),
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("error", Text, nullable=False, default=""),
    UniqueConstraint("submission_id", "kind"),
)

events = Table(
    "robot_events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("submission_id", Integer, nullable=False, index=True),
    Column("at", Float, nullable=False),
    Column("level", String, nullable=False),
    Column("text", Text, nullable=False),
)
