"""Whose process is it? What cannot be read, what counts in another way and what began later is nobody's of ours."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.launch import process_tree


def _run(code: str, *before: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*before, sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_a_process_that_ended_is_gone_and_a_living_one_is_not() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    here = process_tree.own_name().rpartition("-")[2]
    name = f"{child.pid}-{process_tree.born(child.pid)}-{here}"
    assert not process_tree.is_gone(name)
    assert process_tree.is_gone(f"{child.pid}-1-{here}")  # its number belongs to another now
    child.communicate(b"\n")
    assert process_tree.is_gone(name)


def test_who_can_open_no_file_takes_no_process_for_gone() -> None:
    name = process_tree.own_name()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        assert process_tree.born(os.getpid()) == "0"
        assert not process_tree.is_gone(name)
        process_tree.own_name.cache_clear()
        nameless = process_tree.own_name()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        process_tree.own_name.cache_clear()
    assert not process_tree.is_gone(nameless)


def test_a_copy_of_a_driver_is_another_driver() -> None:
    """The copy may go on when the first has ended: its workers must not be taken for what that one has left."""
    code = """
import os
from assay.launch import process_tree as tree
with tree.starting() as known:
    known(os.getpid())
first, mark = tree.own_name(), tree.marked({})
if not os.fork():
    try:
        assert tree.own_name() != first and tree.own_name().startswith(f"{os.getpid()}-")
        assert tree.marked({}) != mark
        assert not tree._started and not tree._sessions
        with tree.starting():
            pass
    except BaseException as error:
        print(repr(error))
        os._exit(1)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
assert tree.own_name() == first
"""
    done = _run(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not shutil.which("unshare"), reason="util-linux is not here")
def test_the_numbers_of_another_namespace_are_not_believed() -> None:
    """It has kept the outer /proc: its own number is there that of another process."""
    code = """
from assay.launch import process_tree as tree
import os
print(os.readlink("/proc/self") == str(os.getpid()), tree.own_name().endswith("-unknown"), tree.children(1))
"""
    done = _run(code, "unshare", "--user", "--pid", "--fork")
    if done.returncode:
        pytest.skip(f"no new namespace: {done.stderr.strip()}")
    assert done.stdout.split() == ["False", "True", "[]"]


def test_a_session_whose_number_is_used_again_is_not_a_workers() -> None:
    """An own child of the driver that happens to have the number of a worker of long ago."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    session = str(child.pid).encode()
    try:
        process_tree._sessions[session] = b"1"
        assert not process_tree._is_of_a_worker(child.pid)
        process_tree._sessions[session] = process_tree.born(child.pid).encode()
        assert process_tree._is_of_a_worker(child.pid)
    finally:
        del process_tree._sessions[session]
        child.communicate(b"\n")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of clone(2) is that of another machine")
@pytest.mark.parametrize("how", ["orphan", "brother"])
def test_what_a_worker_left_is_found_below_a_driver_with_many_threads(how: str) -> None:
    """The kernel gives an orphan to the first thread. A brother, which a worker makes with CLONE_PARENT, is a child of the thread that
    started the worker."""
    make = "os.fork()" if how == "orphan" else "ctypes.CDLL(None).syscall(56, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)"
    worker = f"import ctypes, os, signal, time; number = {make}; print(number) if number else time.sleep(600)"
    code = f"""
import os, subprocess, sys, threading
from assay.launch import process_tree as tree

def start():
    with tree.starting() as known:
        child = subprocess.Popen([sys.executable, "-c", {worker!r}], stdout=subprocess.PIPE, env=tree.marked(dict(os.environ)))
        known(child.pid)
    left.append(int(child.stdout.readline()))
    child.wait()
    begun.set()
    done.wait()

left, begun, done = [], threading.Event(), threading.Event()
for run in (done.wait, done.wait, start):
    threading.Thread(target=run, daemon=True).start()
begun.wait()
assert not tree.is_dead(left[0])
assert tree.kill_orphans()
tree.reap(patience_s=30.0)
assert tree.is_dead(left[0])
"""
    done = _run(code)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_folder_of_a_living_driver_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.launch import temp_folder

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = Path(temp_folder.temp_folder())
    here = process_tree.own_name().rpartition("-")[2]
    left = [tmp_path / f"assay-{what}-{os.getpid()}-1-{here}-abc" for what in ("worker", "node")]
    assert Path(temp_folder.temp_folder(temp_folder.NODE)).name.startswith(f"assay-node-{process_tree.own_name()}-")
    elsewhere = tmp_path / f"assay-worker-{os.getpid()}-1-0other-abc"
    others = [elsewhere, tmp_path / "assay-worker-notes", tmp_path / "assay-worker-1-2"]
    node = next(tmp_path.glob("assay-node-*"))
    for path in [*left, *others]:
        path.mkdir()
        (path / "file").touch()
    temp_folder.remove_left_folders()
    assert sorted(tmp_path.iterdir()) == sorted([own, node, *others])


def test_a_stop_that_a_tracer_is_told_of_is_no_end() -> None:
    """A worker that has made its driver its tracer: wait(2) tells of each of its stops, and it would have been taken for dead."""
    code = "import ctypes, os, signal; ctypes.CDLL(None).ptrace(0, 0, None, None); os.kill(os.getpid(), signal.SIGUSR1)"
    child = subprocess.Popen([sys.executable, "-c", code])
    try:
        end = time.monotonic() + 30.0
        while process_tree._field(child.pid, 0) not in (b"t", b"Z") and time.monotonic() < end:
            time.sleep(0.01)
        if process_tree.is_dead(child.pid):
            pytest.skip("nobody may be traced here")
        assert not process_tree.has_exited(child.pid)
    finally:
        os.kill(child.pid, signal.SIGKILL)  # Popen.kill would take it for dead
    while not process_tree.has_exited(child.pid) and time.monotonic() < end + 30.0:
        time.sleep(0.01)
    assert process_tree.has_exited(child.pid)
    assert child.wait() == -signal.SIGKILL
    assert process_tree.has_exited(child.pid)
