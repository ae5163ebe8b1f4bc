"""What the robot remembers, as tables: in SQLite, or in PostgreSQL where several robots share the work.

Times are seconds since 1970, UTC, of the robot's clock. Lists are JSON texts.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text, UniqueConstraint
from sqlalchemy.types import TypeEngine

SCHEMA = 5
UPGRADES = {
    2: (),
    3: ("ALTER TABLE robot_submissions ADD COLUMN approved VARCHAR NOT NULL DEFAULT ''",),
    4: ("DELETE FROM robot_outbox WHERE kind IN ('mail', 'chat')",),
    5: ("DROP TABLE robot_deliveries",),
}
"""What makes of the version before the one that is the key."""
metadata = MetaData()


def _filled(name: str, kind: type[TypeEngine[Any]] = String, **more: Any) -> Column[Any]:
    """A column without holes."""
    return Column(name, kind, nullable=False, **more)


meta = Table("robot_meta", metadata, Column("name", String, primary_key=True), _filled("value"))

submissions = Table(
    "robot_submissions",
    metadata,
    Column("id", Integer, primary_key=True),
    _filled("repository"),
    _filled("sha"),
    _filled("name"),
    _filled("branch"),
    _filled("ref"),
    _filled("number", Integer),
    _filled("author"),
    _filled("title"),
    _filled("url"),
    _filled("state"),
    _filled("answer", String, default=""),
    _filled("promoted", String, default=""),
    _filled("trouble", Text, default=""),
    _filled("approved", String, default="", server_default=""),
    _filled("received_at", Float),
    UniqueConstraint("repository", "sha", "name"),
    Index("robot_submissions_branch", "repository", "branch", "name"),
)

jobs = Table(
    "robot_jobs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("submission_id", ForeignKey("robot_submissions.id"), nullable=False),
    _filled("round", Integer),
    _filled("state"),
    _filled("worker", String, default=""),
    _filled("fence", Integer, default=0),
    _filled("attempts", Integer, default=0),
    _filled("taken", Integer, default=0),
    _filled("queued_at", Float),
    _filled("not_before", Float, default=0.0),
    _filled("lease_until", Float, default=0.0),
    _filled("started_at", Float, default=0.0),
    _filled("ended_at", Float, default=0.0),
    UniqueConstraint("submission_id", "round"),
    Index("robot_jobs_state", "state", "queued_at"),
)

decisions = Table(
    "robot_decisions",
    metadata,
    # The primary key is what makes a second decision of a job impossible, whatever the code around it does.
    Column("job_id", ForeignKey("robot_jobs.id"), primary_key=True, autoincrement=False),
    Column("submission_id", ForeignKey("robot_submissions.id"), nullable=False, index=True),
    _filled("fence", Integer),
    _filled("worker"),
    _filled("answer"),
    _filled("reasons", Text),
    _filled("checks", Text),
    _filled("digest"),
    _filled("base"),
    _filled("record", Text),
    _filled("inspection", Text),
    _filled("at", Float),
)

outbox = Table(
    "robot_outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("submission_id", ForeignKey("robot_submissions.id"), nullable=False),
    _filled("kind"),
    _filled("wanted", Integer),
    _filled("done", Integer, default=0),
    _filled("attempts", Integer, default=0),
    _filled("not_before", Float, default=0.0),
    _filled("lease_until", Float, default=0.0),
    _filled("error", Text, default=""),
    UniqueConstraint("submission_id", "kind"),
)

events = Table(
    "robot_events",
    metadata,
    Column("id", Integer, primary_key=True),
    _filled("submission_id", Integer, index=True),
    _filled("at", Float),
    _filled("level"),
    _filled("text", Text),
)
