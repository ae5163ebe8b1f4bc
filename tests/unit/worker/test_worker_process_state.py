"""Each act on the state of a process is seen, in a process of its own, and one that does nothing is not."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.core.wire import Changed
from assay.judge.words.note_text import note_text
from assay.launch.changed_process import with_notes
from assay.testing.acts import ACTS
from assay.testing.builders import make_result
from assay.worker.process_readings import caught_in
from assay.worker.process_state import ProcessState

_LOOKS = """
import ctypes, os, sys
import assay.worker.dispatch
from assay.testing.acts import ACTS
from assay.worker.process_state import ProcessState
for line in sys.stdin:
    output, report = os.pipe()
    if not (child := os.fork()):
        ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
        state = ProcessState()
        assert state.changed() == ()
        ACTS[line.strip()].commit()
        os.write(report, " ".join(state.changed()).encode())
        os._exit(0)
    os.close(report)
    code = os.waitpid(child, 0)[1]
    print(code, os.read(output, 1000).decode(), flush=True)
    os.close(output)
"""
"""A process that has imported what a worker does; each act is committed in one that is forked from it."""
STARTING = ("leaves_process_to_driver", "leaves_stray_process")
"""What they start would hold the output of the test."""
ON_STATE = [name for name, act in ACTS.items() if act.changed and act.changed != "processes" and name not in STARTING]


@pytest.fixture(scope="module")
def look() -> Iterator[Callable[[str], set[Changed]]]:
    with subprocess.Popen(
        [sys.executable, "-c", _LOOKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as looks:
        assert looks.stdin
        assert looks.stdout

        def changed(act: str) -> set[Changed]:
            print(act, file=looks.stdin, flush=True)
            code, *parts = looks.stdout.readline().split()
            assert code == "0"
            return {Changed(part) for part in parts}

        yield changed


@pytest.mark.parametrize("name", ON_STATE)
def test_each_act_is_seen_and_named(look: Callable[[str], set[Changed]], name: str) -> None:
    changed = look(name)
    (note,) = with_notes(make_result(), sorted(changed), 0).notes
    assert ACTS[name].changed in note_text(note)
    assert len(changed) == 1, changed


def test_files_that_are_all_used_up_are_no_ban() -> None:
    code = (
        "import assay.worker.dispatch, os, resource; from assay.worker.process_state import ProcessState\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)); state = ProcessState()\n"
        "try:\n"
        "    while True: os.dup(1)\n"
        "except OSError: found = state.changed()\n"
        "os.closerange(60, 200); print(*found)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"descriptors\n"


def test_what_ended_or_was_put_back_is_no_change() -> None:
    code = (
        "import os, subprocess, threading; from assay.worker.process_state import ProcessState\n"
        "state = ProcessState(); subprocess.run(['true']); subprocess.Popen(['true']); os.environ['A'] = '1'; del os.environ['A']\n"
        "thread = threading.Thread(target=int); thread.start(); thread.join(); os.close(os.dup(1))\n"
        "import time, numpy.fft\n"
        "end = time.monotonic() + 60\n"
        "while state.changed() and time.monotonic() < end: time.sleep(0.01)\n"
        "print(state.changed())"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"()\n"


def test_what_an_import_brings_is_accepted_and_nothing_else() -> None:
    code = (
        "import os; from assay.worker.process_state import ProcessState\n"
        "state = ProcessState(); os.environ['A'] = '1'; state.accept_imports(); print(*state.changed())\n"
        "os.environ['A'] = '2'; state.accept_imports(); print(*state.changed())\n"
        "import wave; state.accept_imports(); print(*state.changed())\n"
        "os.chdir('/'); import cmd; state.accept_imports(); print(*state.changed())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["", "environ", "", "directory"]


def test_what_a_library_keeps_from_its_first_use_on_is_accepted_and_a_file_is_not() -> None:
    """A pool of threads, and a queue of the kernel; not a file, a replaced output, or a thread with a function of somebody."""
    code = (
        "import os, sys, threading; from concurrent.futures import ThreadPoolExecutor\n"
        "from assay.worker.process_state import ProcessState\n"
        "report = os.dup(1); read = os.open('/dev/null', os.O_RDONLY); other = os.open('/etc/hosts', os.O_RDONLY)\n"
        "def told(act):\n"
        "    state = ProcessState(); act(); state.accept_first_use(); return ' '.join(state.changed())\n"
        "pool = ThreadPoolExecutor(); keep = []\n"
        "acts = [lambda: pool.submit(int).result(), lambda: keep.append(os.eventfd(0)), lambda: keep.append(os.memfd_create('a')),\n"
        "    lambda: (os.close(other), keep.append(os.memfd_create('b')), keep.append(os.memfd_create('c'))),\n"
        "    lambda: threading.Thread(target=threading.Event().wait, daemon=True).start(), lambda: os.dup2(read, 1)]\n"
        "for act in acts: os.write(report, (told(act) + '\\n').encode())\n"
        "os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["", "", "descriptors", "descriptors", "threads", "descriptors"]


def test_hooks_of_the_garbage_collector_are_accepted_of_what_was_just_imported_alone(tmp_path: Path) -> None:
    """A converter adds one when it is imported; a function that was there before, and adds one in a job, is no library at its first use."""
    (tmp_path / "hooked.py").write_text("import gc\ndef hear(*_): pass\ndef add(): gc.callbacks.append(hear)\nadd()\n")
    code = (
        "import gc, sys; from assay.worker.process_state import ProcessState; state = ProcessState()\n"
        "sys.path.append(sys.argv[1]); state.accept_imports(); print(state.changed())\n"
        "import hooked; print(*state.changed()); state.accept_first_use(); print(*state.changed())\n"
        "hooked.add(); state.accept_first_use(); import colorsys; state.accept_imports(); print(*state.changed())\n"
        "gc.callbacks.pop(); gc.disable(); import cmd; state.accept_imports(); print(*state.changed())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["()", "collector", "", "collector", "collector"]


def test_a_folder_inside_one_that_is_searched_is_accepted_and_another_is_not(tmp_path: Path) -> None:
    """setuptools adds one with the packages that it brings, which every job of Inductor imports late."""
    code = (
        "import sys; sys.path.append(sys.argv[1]); from assay.worker.process_state import ProcessState\n"
        "state = ProcessState(); sys.path.append(sys.argv[1] + '/vendored'); print(*state.changed())\n"
        "state.accept_first_use(); print(*state.changed())\n"
        "sys.path.append('/elsewhere'); state.accept_first_use(); print(*state.changed()); sys.path.pop()\n"
        "sys.path.insert(0, sys.argv[1] + '/first'); state.accept_first_use(); print(*state.changed())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["import_path", "", "import_path", "import_path"]


def test_the_clock_of_a_comparison_is_no_change_of_a_backend() -> None:
    """It keeps a file open, and every comparison of speed was said to have changed its process."""
    code = (
        "from assay.worker.process_state import ProcessState; from assay.worker.timing.scheduler_clock import running_time\n"
        "state = ProcessState(); running_time(); print(state.changed())"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"()\n"


def test_signals_of_the_c_library_are_no_change_of_a_backend() -> None:
    """It catches them with the first thread, which a library may start late."""
    masks = b"\nSigBlk:\t0\nSigIgn:\t1001000\nSigCgt:\t"
    before, later, other = (caught_in(masks + digits) for digits in (b"4e8", b"1800004e8", b"6e8"))
    assert before == later
    assert before != other


def test_a_look_is_cheap() -> None:
    """The promise is 50 µs on an idle machine (`benchmarks/process_state.py`); processor time, and room for a busy one."""
    state, rounds = ProcessState(), 300
    state.changed()
    begin = time.process_time()
    for _ in range(rounds):
        state.changed()
    assert (time.process_time() - begin) / rounds < 300e-6
