"""What is left of an environment that a node builds and does not get."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from assay.core.environment import Interpreter
from assay.errors import EnvironmentFailed
from assay.launch.ray import node_environments

BUILDER = """
import subprocess, sys, pathlib
installer = subprocess.Popen(["sleep", "600"])
pathlib.Path("installer").write_text(str(installer.pid))
installer.wait()
"""
SLEEPS_S = 30.0


def _gone(pid: int) -> bool:
    until = time.monotonic() + SLEEPS_S
    while time.monotonic() < until:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


def test_the_installer_of_a_builder_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "builder.py").write_text(BUILDER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(node_environments, "PROGRAM", "builder")
    monkeypatch.setattr(node_environments, "BUILD_S", 2.0)
    with pytest.raises(EnvironmentFailed, match=r"this node cannot build the environment older: .* timed out"):
        node_environments.on_this_node("older", Interpreter(sys.executable, lock="requires"))
    assert _gone(int((tmp_path / "installer").read_text()))


AGENT = """
import os, subprocess, sys
code = "import assay.environments.from_lock as f, os, signal, subprocess, sys, time; f.LOOK_S = 0.05; " \\
    "print(subprocess.Popen(['sleep', '600']).pid, flush=True); BEFORE; f.end_with_agent(int(sys.argv[1])); time.sleep(600)"
subprocess.run([sys.executable, "-c", code, str(os.getpid())], start_new_session=True)
"""


@pytest.mark.parametrize("begun", [True, False])
def test_a_builder_whose_agent_is_killed_ends_with_its_installer(begun: bool) -> None:
    """However early: the builder may not have begun to look."""
    program = AGENT.replace("BEFORE", "pass" if begun else "os.kill(int(sys.argv[1]), signal.SIGKILL); time.sleep(0.5)")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        installer = int(agent.stdout.readline())
        if begun:
            os.kill(agent.pid, signal.SIGKILL)
    assert _gone(installer)
