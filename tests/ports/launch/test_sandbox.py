"""What the sandbox promises to honest code: its inputs, its folder, its interpreter, and a named end."""

from __future__ import annotations

import contextlib
import gc
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sandboxed import LIMITS, Cell, cell, sandbox

from assay.core.sandbox import Ending, SandboxLimits
from assay.launch.sandbox.bubblewrap import Bubblewrap

__all__ = ["cell", "sandbox"]


def test_honest_code_sees_its_input_and_leaves_its_output(cell: Cell) -> None:
    ended = cell.python(
        "import os, pathlib\n"
        "print(os.getcwd(), os.listdir(), os.getuid())\n"
        "pathlib.Path('sub').mkdir()\n"
        "pathlib.Path('sub/answer').write_text(pathlib.Path('/in/submission/model.txt').read_text().upper())\n"
    )
    assert (ended.ending, ended.sentence, ended.exit_code) == (Ending.OK, "ended by itself", 0)
    assert ended.stdout == "/work [] 65534\n"
    assert cell.files() == {"sub/answer": b"A MODEL"}
    assert ended.peak_bytes >= 0
    assert 0.0 < ended.seconds < LIMITS.seconds


def test_the_harness_and_its_packages_can_be_imported(cell: Cell) -> None:
    ended = cell.python("import assay, numpy, nbclient; print(numpy.ones(3).sum())")
    assert (ended.ending, ended.stdout) == (Ending.OK, "3.0\n"), ended.stderr


def test_the_loopback_of_its_own_works(cell: Cell) -> None:
    """The kernel of a notebook speaks TCP on it."""
    code = (
        "import socket; a = socket.create_server(('127.0.0.1', 0)); b = socket.create_connection(a.getsockname()); "
        "b.send(b'x'); print(a.accept()[0].recv(1))"
    )
    assert cell.python(code).stdout == "b'x'\n"


def test_who_adopts_what_its_children_leave_is_left_no_dead_process(cell: Cell) -> None:
    """A launch of workers adopts; the first process of each sandbox stayed, a dead child, for as long as the robot's check lived."""
    code = (
        "import ctypes, os, sys; from pathlib import Path; from assay.launch.process_tree import children\n"
        "from assay.core.sandbox import SandboxLimits; from assay.launch.sandbox.bubblewrap import Bubblewrap\n"
        "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER\n"
        "ended = Bubblewrap().run(['python', '-c', ''], inputs={}, output=Path(sys.argv[1]), limits=SandboxLimits(seconds=60.0))\n"
        "print(ended.ending, children(os.getpid()))"
    )
    assert cell.sandbox.available().available
    done = subprocess.run([sys.executable, "-c", code, str(cell.output)], capture_output=True, text=True, check=True)
    assert done.stdout == "ok []\n"


@pytest.mark.parametrize(
    ("code", "ending", "words"),
    [
        ("raise ValueError('a wrong shape')", Ending.ERROR, "exit code 1: ValueError: a wrong shape"),
        ("import sys; sys.exit(3)", Ending.ERROR, "exit code 3"),
        ("import os; os.kill(os.getpid(), 11)", Ending.CRASH, "it crashed: SIGSEGV"),
        ("import os; os.abort()", Ending.CRASH, "it crashed: SIGABRT"),
    ],
)
def test_an_end_is_named(cell: Cell, code: str, ending: Ending, words: str) -> None:
    ended = cell.python(code)
    assert (ended.ending, ended.sentence) == (ending, words)


def test_a_command_that_is_not_there(cell: Cell) -> None:
    ended = cell.run("no-such-program")
    assert (ended.ending, ended.sentence) == (Ending.ERROR, "the command cannot be run (exit code 127)")


def test_control_characters_are_taken_out_and_the_last_is_kept(cell: Cell) -> None:
    ended = cell.python("print('\\x1b[31mred\\x1b[0m\\x07'); print('x' * 300_000); print('the end')")
    assert "\x1b" not in ended.stdout
    assert "\x07" not in ended.stdout
    assert ended.stdout.endswith("the end\n")
    assert len(ended.stdout) <= 64 * 1024


def test_the_input_and_the_system_are_read_only(cell: Cell) -> None:
    tries = ("/x", "/in/x", "/in/submission/x", "/usr/x", "/etc/x", "/opt/x", "/dev/x", "/proc/sys/kernel/hostname")
    code = f"""
for path in {tries!r}:
    try:
        open(path, "w"); print("written", path)
    except OSError as error:
        print(error.strerror)
"""
    ended = cell.python(code)
    assert ended.stdout.splitlines() == ["Read-only file system"] * len(tries)


def test_two_at_once_do_not_see_each_other(cell: Cell, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    code = "import os, time; time.sleep(0.5); print(sorted(int(p) for p in os.listdir('/proc') if p.isdecimal()))"
    other = Cell(cell.sandbox, tmp_path / "other", {})
    with ThreadPoolExecutor(2) as both:
        ended = list(both.map(lambda one: one.python(code), (cell, other)))
    assert [run_end.stdout for run_end in ended] == ["[1, 2, 3]\n"] * 2


def test_where_bubblewrap_is_missing_nothing_is_run_and_the_sentence_says_how_to_install_it(tmp_path: Path) -> None:
    missing = Bubblewrap("no-such-bwrap")
    here = missing.available()
    assert (here.available, here.install) == (False, "apt-get install bubblewrap")
    ended = missing.run(["touch", str(tmp_path / "x")], inputs={}, output=tmp_path / "out", limits=SandboxLimits())
    assert ended.ending is Ending.INFRASTRUCTURE
    assert ended.sentence == "bubblewrap is not installed: code of a submission is not run"


def test_a_bubblewrap_that_cannot_make_namespaces_is_not_available(tmp_path: Path) -> None:
    """As it is where a container forbids them: the program says so and leaves."""
    program = tmp_path / "bwrap"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap 0.8.0" && exit 0\n'
        'echo "bwrap: No permissions to create new namespace" >&2; exit 1\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    here = Bubblewrap(str(program)).available()
    assert not here.available
    assert "bwrap: No permissions to create new namespace" in here.reason


def test_an_old_bubblewrap_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text('#!/bin/sh\necho "bubblewrap 0.4.1"\n')
    program.chmod(0o755)
    here = Bubblewrap(str(program)).available()
    assert (here.available, here.version) == (False, "0.4.1")
    assert here.reason == "bubblewrap 0.4.1 is too old, the sandbox needs 0.8 or newer"


_UNDER = """
import resource, sys, tempfile
from pathlib import Path
from assay.core.sandbox import SandboxLimits
from assay.launch.sandbox.bubblewrap import Bubblewrap
resource.setrlimit(getattr(resource, sys.argv[1]), (int(sys.argv[2]),) * 2)
output, limits = Path(tempfile.mkdtemp(dir=sys.argv[4])), SandboxLimits(seconds=300.0)
ended = Bubblewrap().run(["python", "-c", sys.argv[3]], inputs={}, output=output, limits=limits)
print(ended.ending, ended.sentence)
"""
_LOWER = {
    "RLIMIT_AS": (2_000_000_000, "bytearray(3_000_000_000)"),
    "RLIMIT_DATA": (1_000_000_000, "bytearray(3_000_000_000)"),
    "RLIMIT_NOFILE": (200, "list(map(open, ['/dev/null'] * 400))"),
    "RLIMIT_NPROC": (900, "raise BlockingIOError(11, 'x')"),
    "RLIMIT_FSIZE": (1_000_000, "open('x', 'wb').write(bytes(2_000_000))"),
    "RLIMIT_CPU": (1, "while True: pass"),
}
"""Less than the sandbox promises, and code that needs more."""


@pytest.mark.parametrize("name", _LOWER)
def test_under_a_lower_hard_limit_code_that_fits_runs_and_what_does_not_fit_is_not_blamed(
    sandbox: Bubblewrap, tmp_path: Path, name: str
) -> None:
    del sandbox
    most, code = _LOWER[name]
    fits, more = (_ended_under(name, most, script, tmp_path) for script in ("print(1)", code))
    assert fits == "ok ended by itself"
    assert more.startswith("infrastructure "), more
    assert f"(hard limits: {name} {most}): raise them" in more


@pytest.mark.parametrize("name", _LOWER)
def test_a_fault_of_the_code_alone_is_its_own_under_a_lower_hard_limit(
    sandbox: Bubblewrap, tmp_path: Path, name: str
) -> None:
    del sandbox
    text = _ended_under(name, _LOWER[name][0], "raise ValueError('a wrong shape')", tmp_path)
    assert text == "error exit code 1: ValueError: a wrong shape"


def _ended_under(name: str, most: int, code: str, folder: Path) -> str:
    words = [sys.executable, "-c", _UNDER, name, str(most), code, str(folder)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def test_descriptors_are_given_back(cell: Cell) -> None:
    cell.python("print(1)")
    gc.collect()  # what other tests left open may be closed meanwhile
    before = _descriptors()
    cell.output = cell.output.with_name("again")
    cell.python("print(1)")
    assert _descriptors() - before == set()


def _descriptors() -> set[tuple[str, str]]:
    """Numbers and what they lead to; that of the listing itself is gone by then."""
    links = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            links.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return links


def _spin(seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-SEc", f"import time\nend = time.time() + {seconds}\nwhile time.time() < end: pass"]
    )


def test_time_in_which_others_have_the_cores_is_not_its_own(cell: Cell) -> None:
    """On one core beside two others: half a second of work takes longer than the limit by the clock."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    others = [_spin(60.0) for _ in range(2)]
    try:
        code = "import time\nwhile time.process_time() < 0.5: pass"
        ended = cell.python(code, SandboxLimits(seconds=1.5))
        slept = cell.python("import time; time.sleep(60)", SandboxLimits(seconds=1.5))
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, cores)
    assert ended.seconds > 1.5, "the others did not have the core: the test shows nothing"
    assert ended.ending in (Ending.OK, Ending.INFRASTRUCTURE), ended.sentence
    assert slept.ending is Ending.TIMEOUT, slept.sentence
