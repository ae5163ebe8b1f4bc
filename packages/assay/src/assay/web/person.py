"""Who asks, and that they may not."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import UsageError


class Forbidden(UsageError):
    """Who asks may not do that."""


@dataclass(frozen=True)
class Person:
    """As the proxy or the provider names them. Groups are known of the provider's people alone."""

    name: str
    groups: frozenset[str] = frozenset()


NOBODY = Person("")
