"""What descends from a worker is known by a hard limit, also without variables and in a session of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from assay.launch import hard_limit


def test_a_process_that_is_started_by_a_marked_one_is_marked() -> None:
    code = "import subprocess, sys; input(); subprocess.run(['/bin/sh', '-c', 'echo $$; read line'], env={}, start_new_session=True)"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    hard_limit.mark(child.pid)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    grandchild = int(child.stdout.readline())
    assert hard_limit.is_marked(grandchild)
    assert not hard_limit.is_marked(os.getpid())
    child.stdin.write("\n")
    child.communicate()
    assert not hard_limit.is_marked(grandchild), "it is gone"
