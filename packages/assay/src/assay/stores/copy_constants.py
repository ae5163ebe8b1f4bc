"""Constants of one history by their numbers there, and those that they have in another one."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from sqlalchemy import Connection, select

from assay.stores.sql import SqlStore
from assay.stores.statements import chunks
from assay.stores.tables import constants


class Constants:
    """Each is read from the source once in a copy."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[bytes, bytes]] = {}

    def read(self, source: Connection, numbers: AbstractSet[int]) -> None:
        """Those with these numbers."""
        for some in chunks(sorted(numbers - self._known.keys())):
            for row in source.execute(select(constants).where(constants.c.number.in_(some))):
                self._known[row.number] = (row.digest, row.payload)

    def add(self, target: SqlStore, numbers: AbstractSet[int]) -> dict[int, int]:
        """The numbers that those have in the target, where they are added if they are new."""
        wanted = {number: self._known[number] for number in numbers}
        there = target.constants(dict(wanted.values()))
        return {number: there[digest] for number, (digest, _) in wanted.items()}
