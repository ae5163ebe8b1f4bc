"""Untrusted code in bubblewrap: no network, no secrets, a read-only system, limits on everything, a named end.

Requires Linux, bubblewrap 0.8 or newer and open user namespaces (https://github.com/containers/bubblewrap).
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.core.sandbox import Ending, Sandboxed, SandboxLimits
from assay.judge.words.note_text import note_text
from assay.launch.sandbox.command import arguments, command_inside, data_files
from assay.launch.sandbox.copy import copy_out
from assay.launch.sandbox.ending import describe_exit
from assay.launch.sandbox.interpreter import names_in_work
from assay.launch.sandbox.seccomp import seccomp_filter
from assay.launch.sandbox.watch import SandboxProcess, watch
from assay.ports import Availability

INSTALL = "apt-get install bubblewrap"
OLDEST = (0, 8)
"""The first version with --disable-userns."""


class Bubblewrap:
    """`ports.Sandbox`. Two tmpfs of `disk_bytes` each, /work and /tmp, count as memory of the machine, beside
    `memory_bytes`, which is that of the processes. One object may be used by several threads at once."""

    def __init__(self, program: str = "bwrap") -> None:
        self._program = program
        self._known: Availability | None = None

    def available(self) -> Availability:
        """Tried for real, once."""
        if self._known is None:
            self._known = self._try()
        return self._known

    def run(
        self, command: Sequence[str], *, inputs: Mapping[str, Path], output: Path, limits: SandboxLimits
    ) -> Sandboxed:
        """As the port says. Where the sandbox cannot be had: INFRASTRUCTURE, and nothing is run."""
        here = self.available()
        if not here.available:
            return Sandboxed(ending=Ending.INFRASTRUCTURE, sentence=note_text(here.reason))
        return self._run(command, inputs, output, limits)

    def _run(
        self, command: Sequence[str], inputs: Mapping[str, Path], output: Path, limits: SandboxLimits
    ) -> Sandboxed:
        with contextlib.ExitStack() as stack:
            try:
                sandboxed = stack.enter_context(self._started(command, inputs, limits))
            except OSError as error:
                return Sandboxed(
                    ending=Ending.INFRASTRUCTURE, sentence=f"the sandbox cannot be started: {error.strerror}"
                )
            watch(sandboxed, limits)
            try:
                left_out = (
                    copy_out(sandboxed.work, output, limits.disk_bytes, skip=names_in_work())
                    if sandboxed.work is not None
                    else ()
                )
            except OSError as error:
                return Sandboxed(
                    ending=Ending.INFRASTRUCTURE,
                    sentence=f"what it wrote cannot be copied to {output}: {error.strerror}",
                )
            return describe_exit(sandboxed, limits, left_out)

    @contextlib.contextmanager
    def _started(
        self, command: Sequence[str], inputs: Mapping[str, Path], limits: SandboxLimits
    ) -> Iterator[SandboxProcess]:
        status, status_inside = os.pipe()
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as inherited:
            inherited.callback(theirs.close)
            inherited.callback(os.close, status_inside)
            passed = {path: inherited.enter_context(_handed(data)) for path, data in data_files().items()}
            filter_fd = inherited.enter_context(_handed(seccomp_filter(platform.machine())))
            process = subprocess.Popen(
                [
                    self._program,
                    *arguments(inputs, limits, status_fd=status_inside, seccomp_fd=filter_fd, files=passed),
                    "--",
                    *command_inside(command),
                ],
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(status_inside, filter_fd, *passed.values()),
                start_new_session=True,
                env={"PATH": os.defpath},
            )
        sandboxed = SandboxProcess(process, ours, status)
        try:
            yield sandboxed
        finally:
            sandboxed.close()

    def _try(self) -> Availability:
        if not sys.platform.startswith("linux"):
            return Availability(False, reason="the sandbox needs Linux: it is made of its namespaces")
        if shutil.which(self._program) is None:
            return Availability(
                False, reason="bubblewrap is not installed: code of a submission is not run", install=INSTALL
            )
        version = subprocess.run([self._program, "--version"], capture_output=True, text=True, check=False).stdout
        number = version.split()[-1] if version.split() else ""
        if (version_there := _numbers(number)) and version_there < OLDEST:
            return Availability(
                False, number, f"bubblewrap {number} is too old, the sandbox needs 0.8 or newer", INSTALL
            )
        with tempfile.TemporaryDirectory() as folder:
            tried = self._run(["python", "-c", "print(6 * 7)"], {}, Path(folder), SandboxLimits(seconds=30.0))
        if tried.ending is Ending.OK and tried.stdout.strip() == "42":
            return Availability(True, number)
        return Availability(False, number, _why_not(tried))


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:2]
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()


@contextlib.contextmanager
def _handed(data: bytes) -> Iterator[int]:
    """The reading end of a pipe that holds `data` (some kilobytes: less than a pipe takes)."""
    reading, writing = os.pipe()
    try:
        os.write(writing, data)
        os.close(writing)
        yield reading
    finally:
        os.close(reading)


_SWITCHES = (
    ("kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
    ("user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
)
"""Under /proc/sys: where it has this value, user namespaces are closed until an administrator says the third."""


def _why_not(tried: Sandboxed) -> str:
    reason = next((line for line in reversed(tried.stderr.splitlines()) if line.strip()), tried.sentence)
    for name, closed, cure in _SWITCHES:
        with contextlib.suppress(OSError):
            if Path("/proc/sys", name).read_text().strip() == closed:
                return f"the sandbox cannot be made, user namespaces are closed here: {cure} ({reason})"
    return f"the sandbox cannot be made here: {reason} (in a container, its own seccomp or AppArmor profile forbids it)"
