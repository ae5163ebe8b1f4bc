"""A filter of system calls: what namespaces leave open.

Memory that belongs to no process (System V segments, memfd), sockets that no network namespace holds (vsock, raw
netlink families apart), tracing, keys, mounts and namespaces of one's own. A classic BPF program as the kernel's
Documentation/userspace-api/seccomp_filter.rst describes it.
"""

from __future__ import annotations

import errno
import struct

_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16
"""Offsets into struct seccomp_data: the call, the machine, the low word of the first argument."""
_X32 = 0x40000000
_NEW_NAMESPACE = 0x7E020000 | 0x80
"""CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP and NEWTIME."""
_SOCKETS = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: all that a network namespace holds."""

_REFUSED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "move_mount": (429, 429), "open_tree": (428, 428),
    "fsopen": (430, 430), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "open_by_handle_at": (304, 265), "syslog": (103, 116), "acct": (163, 89),
    "quotactl": (179, 60), "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
}  # fmt: skip
"""Answered with EPERM: numbers on x86_64 and on aarch64 (asm/unistd_64.h, asm-generic/unistd.h)."""
_ABSENT = {"memfd_create": (319, 279), "memfd_secret": (447, 447), "io_uring_setup": (425, 425), "clone3": (435, 435)}
"""Answered with ENOSYS, so that a library does it the older way (clone3 hides its flags from a filter)."""
_CLONE, _SOCKET = (56, 220), (41, 198)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def seccomp_filter(machine: str) -> bytes:
    """For x86_64 and aarch64; for another machine a program that allows everything."""
    if machine not in _MACHINES:
        return _line(_RETURN, _ALLOW)
    column, architecture = _MACHINES[machine]
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_EQUAL, architecture, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        lines += [_line(_AT_LEAST, _X32, 0, 1), _line(_RETURN, _KILL)]
    for table, number in ((_REFUSED, errno.EPERM), (_ABSENT, errno.ENOSYS)):
        for calls in table.values():
            lines += [_line(_EQUAL, calls[column], 0, 1), _line(_RETURN, _ERRNO | number)]
    lines += [_line(_EQUAL, _CLONE[column], 0, 4), _line(_LOAD, _FIRST), _line(_ANY_BIT, _NEW_NAMESPACE, 0, 1)]
    lines += [_line(_RETURN, _ERRNO | errno.EPERM), _line(_RETURN, _ALLOW)]
    lines += [_line(_EQUAL, _SOCKET[column], 0, len(_SOCKETS) + 2), _line(_LOAD, _FIRST)]
    lines += [_line(_EQUAL, family, len(_SOCKETS) - at, 0) for at, family in enumerate(_SOCKETS)]
    lines += [_line(_RETURN, _ERRNO | errno.EAFNOSUPPORT), _line(_RETURN, _ALLOW)]
    return b"".join(lines)


def _line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
