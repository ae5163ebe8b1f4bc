"""One fault is told once: what could only stumble over a finding of another check waits for that check, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from assay_zoo.check import Check, CheckOutcome

_CLOSED = {
    "files": (CheckOutcome.FAILED, CheckOutcome.INFRASTRUCTURE, CheckOutcome.UNDECIDED),
    "artifacts": (CheckOutcome.FAILED,),
    "artifacts.author": (CheckOutcome.UNDECIDED,),
    "compliance": (CheckOutcome.FAILED, CheckOutcome.INFRASTRUCTURE),
    "functionality": (CheckOutcome.FAILED,),
}
"""Outcomes by which a group, or a check, holds up those that need it."""
_NEEDS = {
    "compliance": ("files",),
    "functionality": ("artifacts.author", "files", "artifacts.samples", "compliance"),
    "accuracy": (
        "artifacts.author",
        "files",
        "artifacts.parts",
        "artifacts.samples",
        "artifacts.sources",
        "compliance",
        "functionality",
    ),
    "performance": ("artifacts.author", "files", "artifacts.samples", "compliance", "functionality"),
}
"""The groups that open the model, and the groups or single checks that must have found nothing wrong before."""
_READ_ALL_THE_SAME = ("files.secrets", "files.external_data")
"""Findings in a file that can be read: what else is wrong with it is another fault."""


def waits_for(group: str, before: Sequence[Check]) -> str:
    """The group or check whose finding comes first; "" where nothing holds `group` up."""
    return next((name for name in _NEEDS.get(group, ()) if any(_closes(one, name) for one in before)), "")


def _closes(one: Check, name: str) -> bool:
    return name in (one.group, one.name) and one.outcome in _CLOSED.get(name, _CLOSED[one.group])


def drop_consequential_failures(found: Sequence[Check], before: Sequence[Check]) -> list[Check]:
    """What is wrong with a part because its file was not taken, or cannot be read at all, as skipped: that is a finding of
    `files` already. Checks of later groups have no such findings: they wait as a whole."""
    unread = {
        PurePosixPath(one.path): one.name
        for one in before
        if one.group == "files" and one.path and one.outcome in _CLOSED["files"] and one.name not in _READ_ALL_THE_SAME
    }
    kept: list[Check] = []
    for one in (_skipped_after(one, unread) for one in found):
        if one not in kept:  # ten sections that an unreadable file lacks wait once
            kept.append(one)
    return kept


def _skipped_after(one: Check, unread: dict[PurePosixPath, str]) -> Check:
    path = PurePosixPath(one.path)
    first = next((unread[place] for place in (path, *path.parents) if place in unread), "") if one.path else ""
    if not first or one.outcome not in (CheckOutcome.FAILED, CheckOutcome.UNDECIDED):
        return one
    told = f"not judged: {one.path} waits for {first}, which must hold first"
    return msgspec.structs.replace(one, outcome=CheckOutcome.SKIPPED, sentence=told, line=0, executed=0)
