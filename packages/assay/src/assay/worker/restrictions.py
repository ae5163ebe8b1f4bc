"""What a process has denied itself, and can never have back: system calls and rights. Landlock is refused by `assay.worker.guard`."""

from __future__ import annotations

_OWNER, _OWNER_END = b"\nUid:", b"\nFDSize:"
_RIGHTS, _RIGHTS_END = b"\nCapInh:", b"\nCpus_allowed:"
"""Of proc_pid_status(5): its user and groups; its capabilities, no_new_privs and the number of its filters."""


def restrictions(status: bytes) -> tuple[bytes, bytes]:
    """`status` is the text of /proc/self/status."""
    owner, rights = status.find(_OWNER), status.find(_RIGHTS)
    return status[owner : status.find(_OWNER_END, owner)], status[rights : status.find(_RIGHTS_END, rights)]
