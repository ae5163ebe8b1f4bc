"""What runs on each node: a supervisor in a thread of its own, fed with jobs. Ray makes an actor of it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import msgspec

from assay.core.environment import Interpreter
from assay.errors import EnvironmentFailed, WorkerFailed
from assay.launch.gpus import gpus
from assay.launch.pool import FreshProcess, Pool
from assay.launch.prefork import Preforked
from assay.launch.queued import QueuedLauncher
from assay.launch.ray.packets import THREADS, Greeting, Parcel, Settings, pack_results, unpack_jobs
from assay.ports import Launcher


def versions() -> str:
    """What must be the same on every node: jobs and results are those of one version."""
    return f"assay {metadata.version('assay')}, Python {'.'.join(platform.python_version_tuple()[:2])}"


class Agent:
    """One for each node. Jobs go in by `add`, results come out of `results`; `end` leaves no process behind."""

    def __init__(self, settings: bytes, cores: int, wanted_versions: str) -> None:
        said = msgspec.msgpack.decode(settings, type=Settings)
        self._problem = self._enter(said, wanted_versions)
        self._workers = said.workers or max(cores, 1)
        self._interpreters: dict[str, Interpreter] = {}
        self._failed: dict[str, str] = {}
        self._launcher = QueuedLauncher(self._here(said))

    @contextmanager
    def _here(self, said: Settings) -> Iterator[tuple[Launcher, Launcher]]:
        """As at home. Idle workers wait for the next jobs, as long as the agent lives."""
        interpreter, flows = self._interpreter, () if self._problem else said.flows
        with Preforked(flows) as preforked, Pool(self._workers, said.recycle, interpreter, gpus(), preforked) as pool:
            yield pool, FreshProcess(2, interpreter, gpus(), clear=pool.end_idle)

    def _enter(self, settings: Settings, wanted_versions: str) -> str:
        here = versions()
        if here != wanted_versions:
            return f"it has {here}, and the driver has {wanted_versions}: install the same on every node"
        if not (Path(settings.folder) / settings.token).is_file():
            return f"it does not see the folder {settings.folder}: put the project on a disk that all nodes share"
        os.chdir(settings.folder)
        os.environ.pop(THREADS, None)
        if settings.threads:
            os.environ[THREADS] = settings.threads
        return ""

    def greet(self) -> bytes:
        return msgspec.msgpack.encode(Greeting(platform.node(), self._workers, self._problem, len(gpus())))

    def add(self, parcel: bytes) -> None:
        """Jobs, which are answered in any order. What is wrong with them is raised by `results`: there the driver waits."""
        try:
            parcel_read = msgspec.msgpack.decode(parcel, type=Parcel)
            self._interpreters |= parcel_read.interpreters
            self._failed |= parcel_read.failed
            self._launcher.add(unpack_jobs(parcel_read), alone=parcel_read.alone)
        except Exception as error:  # noqa: BLE001 - nobody would hear of it, and the driver would wait for ever
            self._launcher.fail(WorkerFailed(f"its jobs cannot be taken: {type(error).__name__}: {error}"))

    def results(self) -> Iterator[bytes]:
        """Batches, as they come. Ends with `end`."""
        for batch in self._launcher.batches():
            yield pack_results(batch)

    def end(self) -> None:
        self._launcher.close()

    def _interpreter(self, environment: str) -> Interpreter:
        if not environment:
            return Interpreter(sys.executable)
        if environment in self._failed:
            raise EnvironmentFailed(self._failed[environment])
        return self._interpreters[environment]
