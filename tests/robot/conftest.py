"""Databases to test against."""

from __future__ import annotations

from queues import clock, database, queue

from databases import location, postgresql, postgresql_server

__all__ = ["clock", "database", "location", "postgresql", "postgresql_server", "queue"]
