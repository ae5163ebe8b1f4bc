"""Databases to test against."""

from __future__ import annotations

from databases import location, postgresql, postgresql_server
from object_server import bucket, object_server

__all__ = ["bucket", "location", "object_server", "postgresql", "postgresql_server"]
