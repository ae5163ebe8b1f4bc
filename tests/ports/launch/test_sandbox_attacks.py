"""Code that wants out, or wants everything: nothing escapes, nothing is left, and the end names what happened."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from sandboxed import LIMITS, Cell, cell, sandbox

from assay.core.sandbox import Ending, SandboxLimits
from assay.launch.core_wait import LONGEST
from assay.launch.sandbox.cgroup import PidsGroup
from assay.launch.sandbox.watch import THREADS_PER_PROCESS, SandboxProcess

__all__ = ["cell", "sandbox"]


def living(marker: str) -> list[str]:
    """Processes of this machine with `marker` in their command line."""
    lines = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and entry.name != str(os.getpid()):
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if marker in line:
                lines.append(line)
    return lines


def test_it_sees_no_secret_of_the_harness(cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_TEST_TOKEN", "secret-of-the-environment")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.toml").write_text("secret-of-a-file")
    code = f"""
import os, pathlib, socket
wanted = "secret" + "-of"
def seen(where, text):
    if wanted in text or ".ssh" in where:
        print("found in", where)
for pid in os.listdir("/proc"):
    for name in ("environ", "cmdline"):
        try:
            seen(pid, pathlib.Path("/proc", pid, name).read_text())
        except OSError:
            pass
seen("environment", str(dict(os.environ)))
looked = 0
for top in ("/home", "/root", "/var", "/run", "/tmp", "/mnt", "/etc", "/srv", {str(tmp_path)!r}, {os.getcwd()!r}):
    for folder, _, names in os.walk(top):
        for name in () if "/lib/" in folder else names:
            looked += 1
            try:
                seen(folder + "/" + name, pathlib.Path(folder, name).read_text())
            except (OSError, UnicodeDecodeError):
                pass
print(looked > 0, socket.gethostname())
"""
    ended = cell.python(code)
    assert (ended.ending, ended.stdout) == (Ending.OK, "True sandbox\n"), ended.stderr


def test_it_reaches_no_network(cell: Cell) -> None:
    """Not even the loopback of the harness, on which something listens here."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        code = f"""
import socket
def tried(name, what):
    try:
        what(); print(name, "reached")
    except OSError as error:
        print(name, "refused")
tried("host", lambda: socket.create_connection(("127.0.0.1", {listening.getsockname()[1]}), 2))
tried("tcp", lambda: socket.create_connection(("192.0.2.1", 80), 2))
tried("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))
tried("udp6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", ("2001:db8::1", 53)))
tried("dns", lambda: socket.getaddrinfo("example.org", 80))
tried("vsock", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
tried("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
"""
        ended = cell.python(code)
    names = ("host", "tcp", "udp", "udp6", "dns", "vsock", "packet")
    assert ended.stdout.splitlines() == [f"{name} refused" for name in names], ended.stderr


BOMBS = {
    "plain": "import os\nwhile True: os.fork()  # bomb-marker",
    "stubborn": "import os\nwhile True:  # bomb-marker\n try: os.fork()\n except OSError: pass",
    "shell": "import subprocess\nsubprocess.run(['sh', '-c', 'f(){ f|f& };f; sleep 100 # bomb-marker'])",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_fork_bomb(cell: Cell, bomb: str) -> None:
    ended = cell.python(BOMBS[bomb])
    assert ended.ending is Ending.TOO_MANY_PROCESSES
    assert "32 processes" in ended.sentence
    assert not living("bomb-marker")


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_fork_bomb_is_bounded_while_nobody_looks(cell: Cell, bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the harness looks late: until then the kernel counts, and all that came until then is ended."""
    if not _a_group_can_be_made():
        pytest.skip("no pids cgroup can be made here")
    look = SandboxProcess.look

    def late(seen: SandboxProcess, limits: SandboxLimits) -> None:
        if seen.started:
            time.sleep(0.5)
        look(seen, limits)

    monkeypatch.setattr(SandboxProcess, "look", late)
    ended = cell.python(BOMBS[bomb])
    assert ended.ending is Ending.TOO_MANY_PROCESSES
    most = (
        2 * 32 * THREADS_PER_PROCESS
    )  # a list of processes that come and go is longer than they ever were; unbounded, they are thousands
    assert all(int(number) <= most for number in re.findall(r"\d+", ended.sentence))
    assert "have not ended" not in ended.sentence
    assert not living("bomb-marker")


def _a_group_can_be_made() -> bool:
    with subprocess.Popen(["sleep", "60"]) as child:
        group = PidsGroup(child.pid, 4)
        made = group.folder is not None
        group.kill()
        child.kill()
        child.wait()
        group.close()
    return made


def test_threads_without_end(cell: Cell) -> None:
    code = "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()"
    ended = cell.python(code)
    assert ended.ending in (Ending.TOO_MANY_PROCESSES, Ending.OUT_OF_MEMORY), ended


@pytest.mark.parametrize("folder", ["/work", "/tmp", "/dev/shm"])
def test_one_file_fills_the_disk(cell: Cell, folder: str) -> None:
    ended = cell.python(f"open('{folder}/big', 'wb').write(bytes(90_000_000))")
    assert ended.ending is Ending.DISK_FULL
    assert "it filled its 20 MB of disk" in ended.sentence


def test_many_small_files_fill_the_disk(cell: Cell) -> None:
    code = "for i in range(10**9):\n    with open(f'/work/{i}', 'w') as file: file.write('x')"
    ended = cell.python(code, replace(LIMITS, disk_bytes=4_000_000))
    assert ended.ending is Ending.DISK_FULL
    assert "it filled its 4 MB of disk" in ended.sentence
    assert len(cell.files()) < 1000


def test_empty_files_without_end(cell: Cell) -> None:
    ended = cell.python("for i in range(10**9): open(f'/tmp/{i}', 'w')")
    assert (ended.ending, ended.sentence) == (Ending.DISK_FULL, "stopped with more than 50000 files")


@pytest.mark.parametrize(
    "code",
    [
        "kept = []\nwhile True: kept.append(bytearray(b'x' * 5_000_000))",
        "kept = bytearray(10**13)",
        "import os, time\nfor _ in range(8):\n    if not os.fork(): kept = bytearray(b'x' * 60_000_000); time.sleep(99)\n"
        "time.sleep(99)",
    ],
    ids=["by and by", "at once", "in many processes"],
)
def test_memory_is_eaten(cell: Cell, code: str) -> None:
    ended = cell.python(code)
    assert ended.ending is Ending.OUT_OF_MEMORY, ended
    assert "300 MB" in ended.sentence


def test_pages_that_processes_share_count_once(cell: Cell) -> None:
    code = (
        "import os, time\nkept = b'x' * 150_000_000\nfor _ in range(5):\n"
        "    if not os.fork(): time.sleep(0.5); os._exit(0)\ntime.sleep(0.8)"
    )
    ended = cell.python(code)
    assert ended.ending is Ending.OK, ended.sentence


def test_memory_that_belongs_to_no_process_is_not_given(cell: Cell) -> None:
    ended = cell.python("import os\nos.memfd_create('x')")
    assert (ended.ending, "Function not implemented" in ended.sentence) == (Ending.ERROR, True)


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import signal, time\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\nwhile True: time.sleep(1)",
    ],
    ids=["busy", "deaf"],
)
def test_it_never_ends(cell: Cell, code: str) -> None:
    ended = cell.python(f"{code}  # endless-marker", replace(LIMITS, seconds=1.0))
    if ended.ending is Ending.INFRASTRUCTURE:  # others had the cores for most of the time that it may take at most
        assert "others had the cores" in ended.sentence
        assert ended.seconds >= LONGEST
    else:
        assert (ended.ending, ended.sentence) == (Ending.TIMEOUT, "not done within 1 s")
        assert ended.seconds >= 1.0
    assert not living("endless-marker")


def test_a_flood_of_output(cell: Cell) -> None:
    ended = cell.python("while True: print('x' * 100_000)")
    assert (ended.ending, ended.sentence) == (Ending.ERROR, "stopped after 67 MB of output")


def test_links_and_special_files_are_not_copied_out(cell: Cell) -> None:
    code = """
import os, socket
os.symlink("/etc/passwd", "passwd"); os.symlink("/", "root"); os.mkfifo("pipe")
open("twice", "w").write("2"); os.link("twice", "again")
socket.socket(socket.AF_UNIX).bind("door")
open("line\\nbreak", "w"); open("good", "w").write("good")
os.makedirs("/".join("abcdefghijklmnopqrstuvwxyz"))
os.mkdir("closed"); open("closed/x", "w"); os.chmod("closed", 0)
"""
    ended = cell.python(code)
    assert ended.ending is Ending.OK, ended.stderr
    assert set(cell.files()) <= {"good", "closed/x"}
    assert cell.files()["good"] == b"good"
    assert not any(path.is_symlink() for path in cell.output.rglob("*"))
    assert "'again' (a hard link)" in ended.sentence
    assert "not copied out" in ended.sentence


def test_it_touches_no_process_but_its_own(cell: Cell) -> None:
    code = f"""
import os, ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.ptrace(16, 2, 0, 0), ctypes.get_errno())
try:
    os.kill({os.getpid()}, 0); print("reached")
except ProcessLookupError:
    print("nobody")
print(libc.unshare(0x10000000), ctypes.get_errno(), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), ctypes.get_errno())
"""
    assert cell.python(code).stdout.split() == ["-1", "1", "nobody", "-1", "1", "-1", "1"]


def test_killing_everything_in_sight_ends_only_itself(cell: Cell) -> None:
    ended = cell.python("import os\nos.kill(-1, 9); os.kill(2, 9)")
    assert ended.ending is Ending.CRASH
    assert ended.sentence in ("its first process was killed from inside", "it crashed: SIGKILL")


def test_a_daemon_does_not_outlive_it(cell: Cell) -> None:
    code = """
import os, time  # daemon-marker
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3): os.close(fd)
        time.sleep(1000)
    os._exit(0)
os.wait()
"""
    ended = cell.python(code)
    assert ended.ending is Ending.OK
    assert ended.sentence.startswith("ended by itself; it left 1 process behind ('python")
    assert not living("daemon-marker")


@pytest.mark.alone
def test_the_harness_answers_meanwhile(cell: Cell) -> None:
    """A thread of the harness is never kept waiting while a fork bomb, then a memory eater, is held."""
    longest = [0.0]
    over = threading.Event()

    def beat() -> None:
        last = time.monotonic()
        while not over.wait(0.01):
            longest[0] = max(longest[0], time.monotonic() - last)
            last = time.monotonic()

    heart = threading.Thread(target=beat)
    heart.start()
    cell.python("import os\nwhile True: os.fork()")
    cell.output = cell.output.with_name("second")
    cell.python("kept = []\nwhile True: kept.append(bytearray(b'x' * 5_000_000))")
    over.set()
    heart.join()
    assert longest[0] < 15.0, "a busy machine takes part of this, a fork bomb that is not held a minute"
