"""What a sandbox sees: the arguments of bubblewrap."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.core.sandbox import SandboxLimits
from assay.launch.sandbox.interpreter import SYSTEM, interpreter

UID = 65534
THREADS = 2
"""Threads of numerical libraries, so that one notebook leaves the machine usable."""
SHM_BYTES = 64 * 1024 * 1024

_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "mime.types", "fonts")
_MASKED = (
    *("acpi", "config.gz", "kallsyms", "kcore", "keys", "key-users", "kmsg", "kpagecgroup", "kpagecount", "kpageflags"),
    *("pagetypeinfo", "scsi", "slabinfo", "sysrq-trigger", "timer_list", "vmallocinfo", "mtrr", "iomem", "interrupts"),
)
"""Of /proc: nothing that a program needs, and readable or writable for a harness that runs as root."""
_WAITING = 'echo ready >&0; read -r go; "$@" </dev/null; echo $? >&0; read -r go'
"""The first process inside: it waits for its limits, and afterwards until it was seen what is left. Its standard input is
a socket to the harness, which the command never holds."""


def command_inside(command: Sequence[str]) -> list[str]:
    """The waiting shell, and in it the command."""
    name, *rest = command
    return ["/bin/sh", "-c", _WAITING, "sh", interpreter().program if name == "python" else name, *rest]


def data_files() -> dict[str, bytes]:
    """Files that are made up: the machine's own name hosts that are nobody's business."""
    return {"/etc/hosts": b"127.0.0.1 localhost\n::1 localhost\n"}


def arguments(
    inputs: Mapping[str, Path], limits: SandboxLimits, *, status_fd: int, seccomp_fd: int, files: Mapping[str, int]
) -> list[str]:
    """All before `--`. Mounts are made in this order; the last make read-only what bubblewrap left writable."""
    made = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    made += ["--uid", str(UID), "--gid", str(UID), "--cap-drop", "ALL", "--hostname", "sandbox"]
    made += ["--json-status-fd", str(status_fd), "--seccomp", str(seccomp_fd)]
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            made += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            made += ["--ro-bind", str(path), str(path)]
    for name in _ETC:
        made += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for file, descriptor in files.items():
        made += ["--file", str(descriptor), file]
    made += ["--proc", "/proc", "--dev", "/dev", "--size", str(SHM_BYTES), "--tmpfs", "/dev/shm"]
    for name in _MASKED:
        hidden = Path("/proc", name)
        if hidden.is_dir():
            made += ["--size", "4096", "--tmpfs", str(hidden), "--remount-ro", str(hidden)]
        elif hidden.exists():
            made += ["--ro-bind", "/dev/null", str(hidden)]
    for folder in ("/tmp", "/work"):
        made += ["--size", str(limits.disk_bytes), "--tmpfs", folder]
    for inside, outside in interpreter().folders.items():
        made += ["--ro-bind", str(outside), inside]
    made += ["--dir", "/in"]
    for name, path in inputs.items():
        if not name or "/" in name or name in (".", ".."):
            raise ValueError(f"an input of a sandbox is called by one plain word, not {name!r}")
        made += ["--ro-bind", str(path.resolve()), f"/in/{name}"]
    made += ["--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", "--chdir", "/work"]
    return [*made, "--clearenv", *(word for pair in _environment().items() for word in ("--setenv", *pair))]


def _environment() -> dict[str, str]:
    threads = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB")
    python = interpreter()
    return {
        "PATH": ":".join(dict.fromkeys([str(Path(python.program).parent), "/usr/bin", "/bin"])),
        "HOME": "/tmp",
        "USER": "nobody",
        "LOGNAME": "nobody",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **({"PYTHONPATH": python.path} if python.path else {}),
    } | {f"{name}_NUM_THREADS": str(THREADS) for name in threads}
