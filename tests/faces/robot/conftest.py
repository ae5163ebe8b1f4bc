"""Databases to test against."""

from __future__ import annotations

from databases import location, postgresql, postgresql_server

__all__ = ["location", "postgresql", "postgresql_server"]
