"""Why something cannot run here, and what to do about it, as words."""

from __future__ import annotations

from assay.judge.words.note_text import note_text
from assay.ports import Availability


def reason_text(here: Availability) -> str:
    """Without a full stop: more may follow."""
    return note_text(here.reason).rstrip(".")


def missing_text(here: Availability) -> str:
    """The reason with the command that installs what is missing; "" where all is here."""
    if here.available:
        return ""
    return f"{reason_text(here)}; to install it: {here.install}" if here.install else reason_text(here)
