"""After how many jobs a process is not used again."""

from __future__ import annotations

from assay.options.groups import WorkerOptions

RECYCLE = 100
"""Unless each job is to have a process of its own."""
SUITE_RECYCLE = 2000
"""Cases of a suite are small: a worker serves many. Any failure still replaces it."""


def recycle_of(options: WorkerOptions, usual: int = RECYCLE) -> int:
    return 1 if options.fresh_processes else usual
