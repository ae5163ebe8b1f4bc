"""What ran inside a sandbox, and how it ended."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Ending(StrEnum):
    """Why a sandboxed process is no more; each but INFRASTRUCTURE is the doing of the code inside."""

    OK = "ok"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    TOO_MANY_PROCESSES = "too_many_processes"
    DISK_FULL = "disk_full"
    INFRASTRUCTURE = "infrastructure"


class SandboxLimits(msgspec.Struct, frozen=True, kw_only=True):
    """`seconds` count by the clock, less the time in which others had the cores, and on a slower machine they are more."""

    seconds: float = 600.0
    memory_bytes: int = 4_000_000_000
    disk_bytes: int = 1_000_000_000
    processes: int = 64


class Sandboxed(msgspec.Struct, frozen=True, kw_only=True):
    """`stdout` and `stderr` are the last of each, without control characters; `sentence` says what happened, with the `notes` of
    what is left behind."""

    ending: Ending
    sentence: str
    notes: tuple[str, ...] = ()
    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    peak_bytes: int = 0
