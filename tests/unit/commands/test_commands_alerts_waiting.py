"""A dry run says what an earlier run could not deliver: it would be tried again."""

from __future__ import annotations

from msgspec.structs import replace

from assay.commands.alerting import _still_waiting, shown
from assay.core.alert import Alert, AlertKind, AlertRules, AlertTarget, Message, Waiting

RULES = AlertRules(tuple(AlertTarget(name, name, tuple(AlertKind)) for name in ("team", "mail")))  # type: ignore[arg-type]
BLOCKED = Message(AlertKind.BLOCK, "[assay] blocked: net", "net", "net")
OPEN = Alert("1", AlertKind.BLOCK, "s", "net", {}, "r", "t", "r", "t")


def test_what_waits_is_named_once_with_its_targets() -> None:
    waiting = tuple(Waiting(target, BLOCKED, "t", error="no answer") for target in ("team", "mail", "gone"))
    before = [replace(OPEN, waiting=waiting)]
    lines = _still_waiting(before, before, RULES)
    assert lines == ["waits for team, mail since an earlier run: [assay] blocked: net"]
    assert shown((), lines) == ["no new alert would be sent", *lines]


def test_what_the_run_makes_well_again_waits_no_more() -> None:
    before = [replace(OPEN, waiting=(Waiting("team", BLOCKED, "t"),))]
    assert _still_waiting(before, [OPEN], RULES) == []
    assert shown(()) == ["no alert would be sent"]
