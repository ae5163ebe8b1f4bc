"""What runs on each node: a supervisor in a thread of its own, fed with jobs. Ray makes an actor of it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import msgspec

from assay.core.environment import Interpreter
from assay.core.result import Result
from assay.errors import AssayError, EnvironmentFailed, WorkerFailed
from assay.launch.gpus import gpus
from assay.launch.pool import FreshProcess, Pool
from assay.launch.prefork import Preforked
from assay.launch.queued import QueuedLauncher
from assay.launch.ray.messages import THREADS, Greeting, Parcel, Settings, pack_results, unpack_jobs
from assay.launch.ray.node_environments import on_this_node
from assay.launch.ray.travelling import KnownFiles, TravellingFile, open_store
from assay.launch.temp_folder import NODE, temp_folder
from assay.ports import Launcher


def versions() -> str:
    """What must be the same on every node: jobs and results are those of one version."""
    return f"assay {metadata.version('assay')}, Python {'.'.join(platform.python_version_tuple()[:2])}"


class Agent:
    """One for each node. Jobs go in by `add`, results come out of `results`; `end` leaves no process behind."""

    def __init__(self, settings: bytes, cores: int, wanted_versions: str) -> None:
        decoded = msgspec.msgpack.decode(settings, type=Settings)
        self._base: Path | None = None
        self._files: KnownFiles | None = None
        self._watched: dict[str, tuple[str, ...]] = {}
        self._problem = self._enter(decoded, wanted_versions)
        self._workers = decoded.workers or max(cores, 1)
        self._interpreters: dict[str, Interpreter] = {}
        self._failed: dict[str, str] = {}
        self._building = threading.Lock()
        self._taken: set[int] = set()  # parcels whose environments are built and files brought
        self._launcher = QueuedLauncher(self._here(decoded))

    @contextmanager
    def _here(self, own_settings: Settings) -> Iterator[tuple[Launcher, Launcher]]:
        """As at home. Idle workers wait for the next jobs, as long as the agent lives."""
        interpreter, flows = self._interpreter, () if self._problem else own_settings.flows
        with (
            Preforked(flows) as preforked,
            Pool(self._workers, own_settings.recycle, interpreter, gpus(), preforked) as pool,
        ):
            yield pool, FreshProcess(2, interpreter, gpus(), clear=pool.end_idle)

    def _enter(self, settings: Settings, wanted_versions: str) -> str:
        here = versions()
        if here != wanted_versions:
            return f"it has {here}, and the driver has {wanted_versions}: install the same on every node"
        if not (Path(settings.folder) / settings.token).is_file():
            if not settings.store:
                return (
                    f"it does not see the folder {settings.folder}: put the project on a disk that all nodes share, or name a store in "
                    "assay.toml, by which its files go"
                )
            if problem := self._live_apart(settings):
                return problem
        os.chdir(self._at(settings.folder))
        os.environ.pop(THREADS, None)
        if settings.threads:
            os.environ[THREADS] = settings.threads
        return ""

    def _live_apart(self, settings: Settings) -> str:
        """The driver's paths lie below a folder of this node. What is wrong, "" where nothing is."""
        try:
            self._base = Path(temp_folder(NODE))
            self._files = KnownFiles(open_store(settings.store), self._at)
            self._at(settings.folder).mkdir(parents=True)
        except (AssayError, OSError) as error:
            return f"it does not see the driver's folder, and cannot use the store ({error})"
        return ""

    def _at(self, path: str) -> Path:
        """Where a path of the driver lies here."""
        return Path(f"{self._base}{path}") if self._base else Path(path)

    def greet(self) -> bytes:
        base = str(self._base or "")
        return msgspec.msgpack.encode(Greeting(platform.node(), self._workers, self._problem, len(gpus()), base))

    def add(self, parcel: bytes) -> None:
        """Jobs, which are answered in any order. What is wrong with them is raised by `results`: there the driver waits."""
        self._taken.add(id(parcel))
        try:
            parcel_read = msgspec.msgpack.decode(parcel, type=Parcel)
            self._prepare(parcel_read)
            self._bring(parcel_read)
            self._launcher.add(unpack_jobs(parcel_read), alone=parcel_read.alone)
        except Exception as error:  # noqa: BLE001 - nobody would hear of it, and the driver would wait for ever
            self._launcher.fail(WorkerFailed(f"its jobs cannot be taken: {type(error).__name__}: {error}"))
        finally:
            self._taken.discard(id(parcel))

    def _prepare(self, parcel: Parcel) -> None:
        """The environments that its jobs need, before any of them is taken: nothing waits for a worker while one is built."""
        self._failed |= parcel.failed
        for name, interpreter in parcel.interpreters.items():
            with self._building:
                if name in self._interpreters or name in self._failed:
                    continue
                try:
                    self._interpreters[name] = on_this_node(name, interpreter) if self._base else interpreter
                except EnvironmentFailed as error:
                    self._failed[name] = str(error)

    def _bring(self, parcel: Parcel) -> None:
        if self._files is not None:
            self._files.fetch(parcel.files)
            self._watched |= parcel.watched
            for path in (path for paths in parcel.watched.values() for path in paths):
                self._at(path).parent.mkdir(parents=True, exist_ok=True)
            for folder in parcel.folders:
                self._at(folder).mkdir(parents=True, exist_ok=True)

    def results(self) -> Iterator[bytes]:
        """Batches, as they come. Ends with `end`."""
        for batch in self._launcher.batches():
            yield pack_results(batch, self._written(batch))

    def _written(self, batch: Sequence[Result]) -> tuple[TravellingFile, ...]:
        """What the jobs of these results wrote, in the store."""
        if self._files is None:
            return ()
        paths = [path for result in batch for path in self._watched.pop(result.job_key, ())]
        return self._files.changed(list(dict.fromkeys(paths)))

    def is_at_work(self) -> bool:
        """Whether jobs have come of which the results have not gone out yet."""
        return bool(self._taken) or self._launcher.is_at_work

    def end(self) -> None:
        self._launcher.close()
        if self._base:
            shutil.rmtree(self._base, ignore_errors=True)

    def _interpreter(self, environment: str) -> Interpreter:
        if not environment:
            return Interpreter(sys.executable)
        if environment in self._failed:
            raise EnvironmentFailed(self._failed[environment])
        return self._interpreters[environment]
