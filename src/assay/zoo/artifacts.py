"""Group `artifacts`: whether a submission has every part that it needs, and whether the parts agree."""

from __future__ import annotations

from assay.zoo.check import Check, CheckOutcome
from assay.zoo.place import Place, Tools


def check_artifacts(place: Place, tools: Tools) -> list[Check]:
    """All that is missing at once."""
    del tools
    return [_there(place, name) for name in ("metadata.toml", "README.md")]


def _there(place: Place, name: str) -> Check:
    if (place.folder / name).is_file():
        return Check(name="artifacts.parts", outcome=CheckOutcome.PASSED, sentence=f"{name} is there", executed=1)
    return Check(name="artifacts.parts", outcome=CheckOutcome.FAILED, sentence=f"{name} is missing", path=name)
