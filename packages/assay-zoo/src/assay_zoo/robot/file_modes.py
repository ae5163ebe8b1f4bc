"""What the robot writes is its own, whoever starts it; what it gives to a repository has the modes that others' pushes have."""

from __future__ import annotations

import os

_OWN = 0o077
_INHERITED = -1
"""For subprocess: the umask is left as it is."""
_before = _INHERITED


def keep_files_private() -> None:
    """For this process and its children. Called once, by the command."""
    global _before
    _before = os.umask(_OWN)


def umask_of_pushes() -> int:
    """As the robot was started; for `subprocess`."""
    return _before
