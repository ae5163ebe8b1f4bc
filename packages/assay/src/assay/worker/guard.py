"""What a worker and all that descends from it may not do to the processes around it: stop, kill, trace or slow down its driver, and set
the clock of the machine.

Landlock scopes signals to the worker's own tree (Linux 6.12: its siblings are safe, too). A filter of system calls refuses what names the
driver, on any kernel. Neither needs root or a namespace. Where the system has none of both, nothing is refused. The right to set clocks,
which root alone has, is given up: what only reads them is no matter of rights, and what a call sets no filter can see.

No further Landlock is taken: what a job denies its process, the next job would have to do without, and the system tells nobody of it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable

_LANDLOCK_CREATE, _LANDLOCK_RESTRICT, _SCOPE_SIGNAL = 444, 446, 2
_NO_NEW_PRIVILEGES = 38
_SECCOMP, _FILTER, _NO_MITIGATION = (317, 277), 1, 4
"""seccomp(2); without what slows a process down against itself, which older kernels add."""
_REFUSED = (
    (0, ((62, 129), (200, 130), (234, 131), (129, 138), (297, 240), (434, 434), (302, 261))),
    (0, ((203, 122), (144, 119), (142, 118), (314, 274), (310, 270), (311, 271))),
    (1, ((141, 140), (101, 117), (251, 30))),
)  # fmt: skip
"""By the place of the argument that names a process, on x86_64 and on aarch64: kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo,
pidfd_open, prlimit64, sched_setaffinity, sched_setscheduler, sched_setparam, sched_setattr, process_vm_readv, process_vm_writev; and
setpriority, ptrace, ioprio_set."""
_CAPABILITIES, _DROP_FROM_BOUND, _SET_CLOCK = 0x20080522, 24, 25
"""Version 3 of capabilities(7), and CAP_SYS_TIME: every limit and measurement beside it would go wrong."""
_PTRACE, _TRACE_ME = (101, 117), 0
"""It makes the parent its tracer, which is the driver: each signal would stop it, and look there like its end."""
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NOT_HERE = errno.EOPNOTSUPP
"""What landlock_restrict_self(2) says where Landlock is switched off: a program that would like it goes on without."""
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_MOST = 2**32 - 1


def guard(*processes: int) -> None:
    """From here on, for this process and what it starts: nothing that ends or slows down those."""
    if sys.platform != "linux" or os.uname().machine not in _MACHINES:
        return
    library = ctypes.CDLL(None, use_errno=True)
    column, architecture = _MACHINES[os.uname().machine]
    _scope_signals(library)
    _give_up_clock(library)
    program = seccomp_program(column, architecture, {number & _MOST for pid in processes for number in _names_of(pid)})
    lines = ctypes.create_string_buffer(program, len(program))
    loaded = ctypes.create_string_buffer(struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(lines)))
    filtered = (_SECCOMP[column], _FILTER, _NO_MITIGATION, loaded)
    if library.syscall(*filtered) and ctypes.get_errno() == errno.EACCES:  # an ordinary user
        library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        library.syscall(*filtered)


def _scope_signals(library: ctypes.CDLL) -> None:
    scope = ctypes.create_string_buffer(struct.pack("=3Q", 0, 0, _SCOPE_SIGNAL), 24)
    ruleset = library.syscall(_LANDLOCK_CREATE, scope, 24, 0)
    if ruleset < 0:
        return
    if library.syscall(_LANDLOCK_RESTRICT, ruleset, 0) and ctypes.get_errno() == errno.EPERM:  # an ordinary user
        library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        library.syscall(_LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _give_up_clock(library: ctypes.CDLL) -> None:
    """Of this process, and of any program that it starts as root."""
    library.prctl(_DROP_FROM_BOUND, _SET_CLOCK, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITIES, 0), 8)
    sets = ctypes.create_string_buffer(24)
    if not library.capget(header, sets):
        low, high = sets.raw[:12], sets.raw[12:]
        left = [word & ~(1 << _SET_CLOCK) for word in struct.unpack("=3I", low)]
        library.capset(header, ctypes.create_string_buffer(struct.pack("=3I", *left) + high, 24))


def _names_of(pid: int) -> tuple[int, ...]:
    """Itself, its group, and everybody. A group that was begun outside of a namespace of processes is 0 inside, and nobody there can name
    it: 0 is how each process names itself."""
    try:
        group = os.getpgid(pid)
    except ProcessLookupError:
        group = 0
    return (pid, -group, -1) if group else (pid, -1)


def seccomp_program(column: int, architecture: int, processes: Iterable[int]) -> bytes:
    """EPERM for what names one of them (the low words of their numbers); no Landlock; everything else is allowed."""
    named = sorted(processes)
    refused = [(argument, [call[column] for call in calls], named) for argument, calls in _REFUSED]
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_EQUAL, architecture, 1, 0),
        _line(_RETURN, _ALLOW),
        _line(_LOAD, _NUMBER),
        _line(_EQUAL, _LANDLOCK_RESTRICT, 0, 1),
        _line(_RETURN, _ERRNO | _NOT_HERE),
    ]
    for argument, numbers, values in (*refused, (0, [_PTRACE[column]], [_TRACE_ME])):
        lines += [_line(_EQUAL, number, len(numbers) - place, 0) for place, number in enumerate(numbers)]
        lines.append(_line(_EQUAL, 0xFFFFFFFF, 0, len(values) + 4))  # none of these calls: the next group
        lines.append(_line(_LOAD, _ARGUMENTS + 8 * argument))
        lines += [_line(_EQUAL, value, len(values) - place + 1, 0) for place, value in enumerate(values)]
        lines.append(_line(_LOAD, _NUMBER))
        lines += [_line(_EQUAL, 0xFFFFFFFF, 0, 1), _line(_RETURN, _ERRNO | errno.EPERM)]
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
