"""The processor time of a sandbox: also that of processes that end and that nobody waits for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from msgspec.structs import replace
from sandboxed import LIMITS, Cell, cell, sandbox

from assay.core.sandbox import Ending
from assay.launch.core_wait import LONGEST, used_by_tree_s
from assay.launch.sandbox.cgroup import PidsGroup

__all__ = ["cell", "sandbox"]

_HIDING = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for its children: their time is added to nobody's
end, born = time.monotonic() + 30, 0.0
while time.monotonic() < end:
    if time.monotonic() - born >= 0.01:
        born = time.monotonic()
        if os.fork() == 0:
            while time.monotonic() < born + 0.04: pass
            os._exit(0)
"""


@pytest.mark.slow  # it wants a machine on which nothing else runs at all
@pytest.mark.alone
@pytest.mark.parametrize("grouped", [True, False])
def test_time_that_it_hides_in_children_is_its_own(cell: Cell, grouped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred short ones a second have the cores, and it waits for them. Where others have them, too, it may wait for those, and blame
    the machine, but never past LONGEST."""
    busy = os.getloadavg()[0] > len(os.sched_getaffinity(0))
    if not grouped:
        monkeypatch.setattr(PidsGroup, "used_s", lambda _: None)
    ended = cell.python(_HIDING, replace(LIMITS, seconds=1.0))
    ends = (Ending.TIMEOUT, Ending.INFRASTRUCTURE) if busy else (Ending.TIMEOUT,)
    assert ended.ending in ends, (ended.sentence, ended.seconds)
    assert ended.seconds < (LONGEST + 1.0 if busy else 2.5)


def test_a_group_knows_the_time_of_those_that_nobody_waited_for() -> None:
    code = """
import os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
sys.stdin.readline()
for _ in range(10):
    if os.fork() == 0:
        while time.process_time() < 0.03: pass
        os._exit(0)
    time.sleep(0.05)
print("done", flush=True)
sys.stdin.readline()
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-SEc", code], stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        group = PidsGroup(child.pid, 100)
        print(file=child.stdin, flush=True)
        child.stdout.readline()
        used, seen = group.used_s(), used_by_tree_s(child.pid)
        group.kill()
        child.kill()
        child.wait()
        group.close()
    if used is None:
        pytest.skip("no cgroup that counts time can be made here")
    assert used > 0.25
    assert seen < 0.2
