"""A worker cannot end, stop, trace or slow down its driver, nor set a clock; what it has started itself it can end. It takes no rules
of Landlock."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assay.testing.acts_on_rights import landlock_abi

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


_CLOCK = """
import ctypes, os, subprocess, sys
from assay.worker.guard import guard
if sys.argv[1] == "guarded":
    guard(os.getppid())
own = open("/proc/self/status").read()
child = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True).stdout
sets = [line.split()[1] for text in (own, child) for line in text.splitlines() if line.startswith(("CapPrm", "CapEff", "CapBnd"))]
print(any(int(bits, 16) >> 25 & 1 for bits in sets), ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512)) >= 0)
"""


@pytest.mark.parametrize("guarded", [True, False])
def test_neither_it_nor_what_it_starts_may_set_a_clock_and_both_may_read_how_it_is_set(guarded: bool) -> None:
    """In a namespace root has all rights, also where the one of this machine has not."""
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", _CLOCK, "guarded" if guarded else ""]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.stderr.startswith("unshare:"):
        pytest.skip(done.stderr)
    assert done.stdout.split() == [str(not guarded), "True"], done.stderr


def test_in_a_container_whose_driver_has_its_group_from_outside_a_worker_can_name_itself() -> None:
    """There the group of the driver is 0, which is also how each process names itself."""
    inside = (
        f"import os, sys; assert os.getpgid(0) == 0; os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])"
    )
    command = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", sys.executable, "-c", inside]
    asked = "import os, resource; from assay.worker.guard import guard; guard(os.getppid() or os.getpid()); print(resource.getrlimit(7))"
    done = subprocess.run([*command, "-c", asked], capture_output=True, text=True, check=False)
    if done.stderr.startswith("unshare:"):
        pytest.skip(done.stderr)
    assert done.stdout.startswith("("), done.stderr


_RESTRICT = """
import ctypes, errno, os, sys
from assay.testing.acts_on_rights import folders_not_listed
from assay.worker.guard import guard
if sys.argv[1] == "guarded":
    guard(os.getppid())
folders_not_listed()
try:
    os.listdir("/")
except PermissionError:
    print("denied")
"""


@pytest.mark.skipif(not landlock_abi(), reason="needs Linux with Landlock")
@pytest.mark.parametrize("guarded", [True, False])
def test_what_landlock_would_deny_is_there_for_the_next_job(guarded: bool) -> None:
    asked = [sys.executable, "-c", _RESTRICT, "guarded" if guarded else ""]
    done = subprocess.run(asked, capture_output=True, check=True)
    assert done.stdout.decode().split() == ([] if guarded else ["denied"]), done.stderr
