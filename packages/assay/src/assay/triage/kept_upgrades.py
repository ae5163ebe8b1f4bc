"""What `assay upgrade` found, kept below the folder of the history: a file for each time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from assay.core.digest import value_digest
from assay.triage.cause import from_json, to_json
from assay.triage.upgrade import Upgrade


class KeptUpgrade(msgspec.Struct, frozen=True):
    """`at` is when it was found."""

    at: str
    found: Upgrade

    @property
    def id(self) -> str:
        """For its address."""
        return value_digest((self.at, self.found.backend, self.found.old, self.found.new))[:24]


def keep_upgrade(folder: Path, upgrade: Upgrade, at: datetime) -> None:
    """Beside the others, with the history in `folder`."""
    kept = KeptUpgrade(at.isoformat(timespec="seconds"), upgrade)
    place = folder / "upgrades"
    place.mkdir(parents=True, exist_ok=True)
    new = place / f".{kept.id}.new"
    new.write_bytes(to_json(kept))
    new.replace(place / f"{at:%Y%m%dT%H%M%S}-{kept.id}.json")


def read_upgrades(folder: Path) -> Iterator[KeptUpgrade]:
    """The newest first. What cannot be read is as if it were not there."""
    for path in sorted((folder / "upgrades").glob("*.json"), reverse=True):
        with suppress(OSError, msgspec.MsgspecError):
            yield from_json(path.read_bytes(), KeptUpgrade)
