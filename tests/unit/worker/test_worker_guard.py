"""A worker cannot end, stop, trace or slow down its driver; what it has started itself it can."""

from __future__ import annotations

import subprocess
import sys

import pytest

_TRY = """
import ctypes, os, resource, signal, subprocess, sys
from assay.worker.guard import guard
driver = os.getppid()
if sys.argv[1] == "guarded":
    guard(driver)
def refused(act):
    try:
        act()
    except PermissionError:
        return True
    return False
def be_traced():
    if ctypes.CDLL(None, use_errno=True).ptrace(0, 0, None, None):
        raise OSError(ctypes.get_errno(), "refused")
acts = [
    lambda: os.kill(driver, signal.SIGCONT),
    lambda: os.killpg(os.getpgid(driver), signal.SIGCONT),
    lambda: os.close(os.pidfd_open(driver)),
    lambda: os.setpriority(os.PRIO_PROCESS, driver, os.getpriority(os.PRIO_PROCESS, driver)),
    lambda: os.sched_setaffinity(driver, os.sched_getaffinity(driver)),
    lambda: resource.prlimit(driver, resource.RLIMIT_NOFILE),
]
child = subprocess.Popen(["sleep", "60"])
own = not refused(child.kill) and child.wait() == -signal.SIGKILL
os.kill(os.getpid(), 0)
os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
print(own, *map(refused, [*acts, be_traced]))
"""


@pytest.mark.parametrize("guarded", [True, False])
def test_its_driver_is_out_of_reach(guarded: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TRY, "guarded" if guarded else ""],
        capture_output=True,
        check=True,
        start_new_session=True,
    )
    assert done.stdout.decode().split() == ["True", *[str(guarded)] * 7], done.stderr
