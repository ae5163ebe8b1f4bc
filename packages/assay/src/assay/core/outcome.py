"""How a job ends: the stage it reached, its outcome and the cause."""

from __future__ import annotations

import enum


class Stage(enum.StrEnum):
    """Where a job is. A crash is blamed on the stage entered last."""

    START = "start"
    IMPORT = "import"
    TRANSFORM = "transform"
    LOWER = "lower"
    SAVE = "save"
    LOAD = "load"
    RUN = "run"
    COMPARE = "compare"
    MEASURE = "measure"


class Outcome(enum.StrEnum):
    """How a job ended. Only the policy turns an outcome into a failure.

    `lowered`: the artifact was built and cannot be run here; nothing is known of its answers. `other_precision`: the answers
    are right, and nothing ran in the type that the flow promises.
    """

    OK = "ok"
    MISMATCH = "mismatch"
    UNSUPPORTED = "unsupported"
    UNDELEGATED = "undelegated"
    OTHER_PRECISION = "other_precision"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    UNAVAILABLE = "unavailable"
    LOWERED = "lowered"
    NONDETERMINISTIC = "nondeterministic"
    MISTRUSTED = "mistrusted"
    INFRASTRUCTURE = "infrastructure"


FAILS_BY_DEFAULT = (
    Outcome.MISMATCH,
    Outcome.ERROR,
    Outcome.CRASH,
    Outcome.TIMEOUT,
    Outcome.OUT_OF_MEMORY,
    Outcome.NONDETERMINISTIC,
)
"""Outcomes that fail a job under a policy that says nothing of them; all else of an outcome is in the table of the judge."""


class Cause(enum.StrEnum):
    """Why a stage failed, as far as the backend's words tell. `refused`: it said no in words of its own, which tell no more.
    `no_reference`: nobody has answers to compare with. `invalid_model`: an engine finds the model invalid; `invalid_file`: the
    checker of its format does. `not_installed`, `no_environment`, `needs_opset` and `not_made` (a case of a suite): what to do is
    in the detail. `nothing_to_do`: no operator is left of the model, and nobody needs another one. `peer_failed`: the other
    process of a comparison failed, and this one is well. `busy_machine`: the clock ended the job, which had waited for a core for
    most of that time."""

    NONE = "none"
    INVALID_MODEL = "invalid_model"
    WRONG_USAGE = "wrong_usage"
    OPERATOR_UNSUPPORTED = "operator_unsupported"
    OPSET_TOO_NEW = "opset_too_new"
    OUT_OF_MEMORY = "out_of_memory"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    BUSY_MACHINE = "busy_machine"
    MISSING_LIBRARY = "missing_library"
    MISSING_DEVICE = "missing_device"
    REFUSED = "refused"
    NO_REFERENCE = "no_reference"
    INVALID_FILE = "invalid_file"
    NOT_INSTALLED = "not_installed"
    NO_ENVIRONMENT = "no_environment"
    NEEDS_OPSET = "needs_opset"
    NOT_MADE = "not_made"
    NOTHING_TO_DO = "nothing_to_do"
    PEER_FAILED = "peer_failed"
    OTHER = "other"
