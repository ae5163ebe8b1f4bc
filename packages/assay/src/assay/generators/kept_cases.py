"""Cases that lie in files, in their order: they are screened again, or beside generated ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.generators.files import read_case
from assay.ports.generator import GeneratedCase


class KeptCases:
    """`places` are paths without their endings."""

    name = "kept"
    version = 0
    about = "cases in files"

    def __init__(self, places: Sequence[str]) -> None:
        self._places = places

    def make(self, seed: int, index: int) -> GeneratedCase | None:  # noqa: ARG002
        """See `ports.Generator`; the seed has no effect."""
        return read_case(Path(self._places[index])) if index < len(self._places) else None
