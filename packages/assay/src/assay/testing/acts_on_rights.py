"""Acts of a backend by which its process denies something to itself, and so to later jobs: system calls, rights; files, the network."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from functools import cache
from pathlib import Path

_CREATE, _ADD, _RESTRICT, _PATH_BENEATH = 444, 445, 446, 1
_WRITE_FILE, _READ_DIR = 1 << 1, 1 << 3
_BIND_AND_CONNECT = 3
NETWORK_ABI = 4
_PR_SET_SECCOMP, _FILTER, _NO_NEW_PRIVILEGES = 22, 2, 38
_PERSONALITY = {"x86_64": 135, "aarch64": 92}
_CAPABILITIES = 0x20080522
_C = ctypes.CDLL(None, use_errno=True)


def landlock_abi() -> int:
    """0 where the system has none."""
    return max(int(_C.syscall(_CREATE, None, 0, 1)), 0)


def has_capabilities() -> bool:
    """Whether there is any to be given up."""
    return any(_capabilities()[:2])


def system_call_refused() -> None:
    """One that nobody needs: the next filter would refuse another."""
    lines = ((0x20, 0, 0, 0), (0x15, 0, 1, _PERSONALITY[platform.machine()]), (0x06, 0, 0, 0x50000 | errno.EPERM))
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in (*lines, (0x06, 0, 0, 0x7FFF0000)))
    kept = ctypes.create_string_buffer(program, len(program))
    loaded = ctypes.create_string_buffer(struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(kept)))
    if _C.prctl(_PR_SET_SECCOMP, _FILTER, loaded, 0, 0):
        no_new_privileges()
        _C.prctl(_PR_SET_SECCOMP, _FILTER, loaded, 0, 0)


def folders_not_listed() -> None:
    """The root folder is not; all that is in it is, so that this job comes to its end."""
    _landlock(files=_READ_DIR, but_in=_at_root())


def devices_not_written() -> None:
    """All other files are."""
    _landlock(files=_WRITE_FILE, but_in=[path for path in _at_root() if path.name != "dev"])


def no_network() -> None:
    """No address is given or reached."""
    _landlock(network=_BIND_AND_CONNECT)


def no_new_privileges() -> None:
    """Programs that it starts get no rights of their own."""
    _C.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def capability_given_up() -> None:
    """The last of those that it has."""
    effective, permitted, inheritable = _capabilities()
    effective &= ~(1 << effective.bit_length() - 1) if effective else 0
    _C.capset(*_capability_call(effective, permitted, inheritable))


def _capabilities() -> tuple[int, int, int]:
    header, data = _capability_call(0, 0, 0)
    if _C.capget(header, data):
        return 0, 0, 0
    low_high = struct.unpack("=6I", data.raw)
    effective, permitted, inheritable = (low_high[at] | low_high[at + 3] << 32 for at in range(3))
    return effective, permitted, inheritable


def _capability_call(*sets: int) -> tuple[ctypes.Array[ctypes.c_char], ctypes.Array[ctypes.c_char]]:
    words = [bits >> shift & 0xFFFFFFFF for shift in (0, 32) for bits in sets]
    data = struct.pack("=6I", *words)
    return ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITIES, 0), 8), ctypes.create_string_buffer(data, 24)


@cache
def _at_root() -> list[Path]:
    """An act is done in each call: later the root is not listed."""
    return [path for path in Path("/").iterdir() if path.is_dir() and not path.is_symlink()]


def _landlock(*, files: int = 0, network: int = 0, but_in: list[Path] | None = None) -> None:
    size = 16 if network else 8
    handled = ctypes.create_string_buffer(struct.pack("=2Q", files, network)[:size], size)
    ruleset = _C.syscall(_CREATE, handled, size, 0)
    for folder in but_in or ():
        place = os.open(folder, os.O_PATH)
        _C.syscall(_ADD, ruleset, _PATH_BENEATH, ctypes.create_string_buffer(struct.pack("=Qi", files, place), 12), 0)
        os.close(place)
    if _C.syscall(_RESTRICT, ruleset, 0) and ctypes.get_errno() == errno.EPERM:
        no_new_privileges()
        _C.syscall(_RESTRICT, ruleset, 0)
    os.close(ruleset)
