"""A real Ray cluster on the loopback address: a head and another node, of one CPU each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from free_port import free_port

TRIES = 6
ADDRESS = "127.0.0.2"
"""Of the loopback network; each node has its own. 127.0.0.1 is what Ray takes for a name of the machine's other address."""

SECOND = "127.0.0.3"


@dataclass
class RayNodes:
    """`address` is the head's; `started` are the processes that started the nodes, the head first, the other one last."""

    folder: Path
    address: str
    started: list[subprocess.Popen[bytes]]
    hidden: Sequence[Path] = ()

    def start_second(self) -> None:
        """Another node in the place of one that is lost."""
        self.started.append(_ready(self.folder, SECOND, f"--address={self.address}", hidden=self.hidden))

    def kill_second(self) -> None:
        """The node and all that runs on it, as where the power is cut."""
        _kill_tree(self.started[-1])

    def kill_head(self) -> None:
        """The same of the head."""
        _kill_tree(self.started[0])


def _start(folder: Path, address: str, gpus: int, hidden: Sequence[Path], *words: str) -> subprocess.Popen[bytes]:
    apart = [word for path in hidden for word in ("--tmpfs", str(path))]
    command = ["bwrap", "--dev-bind", "/", "/", *apart] if hidden else []
    command += [str(Path(sys.executable).with_name("ray")), "start", "--block", f"--node-ip-address={address}", *words]
    variables = {
        **os.environ,
        "RAY_DISABLE_IMPORT_WARNING": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_memory_monitor_refresh_ms": "0",
        "RAY_worker_niceness": "0",
    }
    variables |= {"RAY_TMPDIR": str(folder)}
    sizes = ["--num-cpus=1", f"--num-gpus={gpus}", "--object-store-memory=100000000", "--disable-usage-stats"]
    with (folder / f"log-{address}").open("wb") as log:
        return subprocess.Popen([*command, *sizes], env=variables, stdout=log, stderr=log, start_new_session=True)


@contextmanager
def ray_cluster(nodes: int = 2, gpus: int = 0, hidden: Sequence[Path] = ()) -> Iterator[RayNodes]:
    """So many nodes of one CPU each, each with an address of its own. All but the head offer `gpus`, whether they have them or not. In the
    place of the folders that are `hidden` each node has an empty one of its own."""
    with tempfile.TemporaryDirectory(prefix="assay-ray-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder, port = Path(name), free_port(ADDRESS)
        address = f"{ADDRESS}:{port}"
        started: list[subprocess.Popen[bytes]] = []
        try:
            head = ("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={folder}")
            started.append(_ready(folder, ADDRESS, *head, hidden=hidden))
            for number in range(3, nodes + 2):
                other = f"127.0.0.{number}", f"--address={address}"
                started.append(_ready(folder, *other, gpus=gpus, hidden=hidden))
            yield RayNodes(folder, address, started, hidden)
        finally:
            for process in started:
                _end(process)


def _ready(
    folder: Path, address: str, *words: str, gpus: int = 0, hidden: Sequence[Path] = ()
) -> subprocess.Popen[bytes]:
    """Ray gives a node 30 seconds to start, which may be too few on a busy machine: it is tried again."""
    log = folder / f"log-{address}"
    for _ in range(TRIES):
        process = _start(folder, address, gpus, hidden, *words)
        while process.poll() is None:
            if b"Ray runtime started" in log.read_bytes():
                return process
            time.sleep(0.2)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    for child in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
        with suppress(psutil.NoSuchProcess):  # it has ended with another of them
            child.kill()
    process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        children = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGKILL)
        for child in children:
            if child.is_running():
                child.kill()
        process.wait()
