"""Who made which engine the one to compare with, why, and on which evidence."""

from __future__ import annotations

import enum

import msgspec


class ApprovalAction(enum.StrEnum):
    """`set`: built and measured for it; `approve`: taken from a run that passed; `rollback`: an earlier one made current again; `remove`:
    withdrawn."""

    SET = "set"
    APPROVE = "approve"
    ROLLBACK = "rollback"
    REMOVE = "remove"


class Approval(msgspec.Struct, frozen=True):
    """One line of the record of approvals, which is only ever appended to. `at` is ISO 8601, UTC. `engine` and `model` are digests; `run`
    is the run that is the evidence, "" where the engine was built and measured for the approval itself."""

    at: str
    action: ApprovalAction
    case: str
    flow: str
    who: str
    reason: str
    engine: str = ""
    model: str = ""
    built_by: str = ""
    machine: str = ""
    run: str = ""
