"""The robot put together: its database, its copy of the repository, its source, and the threads that work."""

from __future__ import annotations

import fcntl
import importlib.util
import logging
import os
import shutil
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

from assay.alerts.send import INSTALL
from assay.errors import HarnessError, UsageError
from assay.judge.words.missing_text import missing_text
from assay.launch.sandbox.bubblewrap import Bubblewrap
from assay_zoo.robot.alerting import Alerts
from assay_zoo.robot.config import RobotConfig
from assay_zoo.robot.database import Database
from assay_zoo.robot.health import Health
from assay_zoo.robot.outbox import Outbox
from assay_zoo.robot.outbox_worker import OutboxWorker
from assay_zoo.robot.poll_submissions import SubmissionPoller
from assay_zoo.robot.promotion import Promoter
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.redact import hides_places
from assay_zoo.robot.sources.open import open_source
from assay_zoo.robot.worker import Worker, WorkerPool, sweep_scratch
from assay_zoo.robot.zoo_policy import ZooName

_LOG = logging.getLogger("assay.robot")
_STOP_S = 15.0


class Service:
    """Opened by its constructor, which raises AssayError in one sentence for what is missing; `start` begins to work and
    `stop` gives back what is at work. Killed at any moment, its next start goes on."""

    def __init__(self, config: RobotConfig) -> None:
        self.config = config
        self.hides = hides_places(config)
        self._lock = _lock(config.data)
        try:
            self._open(config)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self, config: RobotConfig) -> None:
        _sweep(config)
        self._name = _name(config.data)
        self._sandbox = Bubblewrap()
        _refuse_without_sandbox(config, self._sandbox)
        _refuse_without_apprise(config)
        self.source, self.mirror = open_source(config)
        self.title = ZooName(self.mirror)
        database = Database(config.database)
        try:
            self.queue = Queue(database, lease_s=config.limits.lease_s)
            self.outbox = Outbox(database)
            self.health = Health(self.queue, self.mirror, self._sandbox, demand_sandbox=config.demand_sandbox)
        except BaseException:
            database.close()
            raise
        self._stop, self._waken, self._news = threading.Event(), threading.Event(), threading.Event()
        self.looking = SubmissionPoller(self.source, self.mirror, self.queue, wake_workers=self._new_work)
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Take up what was left lying, and begin."""
        left = self.queue.forget_workers(f"{self._name}:")
        if "://" not in self.config.database:  # a database of its own: nobody else can hold a delivery
            self.outbox.forget_leases()
        _LOG.info("the robot starts; %d checks begin again", left)
        shop = WorkerPool(
            config=self.config,
            queue=self.queue,
            source=self.source,
            mirror=self.mirror,
            hidden=self.config.hidden,
            look_again=self.looking.look_again,
        )
        for number in range(self.config.workers):
            worker = Worker(f"{self._name}:{number}", shop, waken=self._waken, news=self._news)
            self._begin(f"worker-{number}", worker.run)
        self._begin("looking", self.looking.run)
        delivering = self._delivering()
        self._begin("delivering", lambda stop: delivering.run(stop, self._news))

    def stop(self) -> None:
        """Within seconds: inspections are ended and their jobs given back."""
        self._stop.set()
        self._waken.set()
        self._news.set()
        for thread in self._threads:
            thread.join(_STOP_S)
        self.close()

    def close(self) -> None:
        """Of a service that was not started."""
        self.source.end()
        self.queue.database.close()
        os.close(self._lock)

    def rerun(self, identity: int) -> bool:
        """False where there is no such submission that is decided."""
        again = self.queue.rerun(identity, "an operator asked for it")
        if again:
            self._new_work()
        return again

    def approve(self, identity: int) -> bool:
        """False where there is no such submission, or where it was approved before."""
        again = self.queue.approve(identity, "an operator")
        if again:
            self._new_work()
        return again

    def _begin(self, name: str, run: Callable[[threading.Event], None]) -> None:
        thread = threading.Thread(target=run, args=(self._stop,), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _new_work(self) -> None:
        self._waken.set()
        self._news.set()

    def _delivering(self) -> OutboxWorker:
        config = self.config
        return OutboxWorker(
            queue=self.queue,
            outbox=self.outbox,
            source=self.source,
            promoter=Promoter(config, self.source, self.mirror),
            look_again=self.looking.look_again,
            public_url=config.public_url,
            alerts=Alerts(config.alerts, config.history) if config.alerts else None,
            hides=self.hides,
        )


def _lock(data: Path) -> int:
    """One robot for each folder of data; the lock is gone with the process, however it ends."""
    try:
        data.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(
            f"the robot's folder {data} cannot be written ({error.strerror}): name another as `data`"
        ) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise UsageError(
            f"another robot works in {data}: stop it, or give this one a `data` folder of its own"
        ) from None
    return descriptor


def _name(data: Path) -> str:
    """Of this robot among those that share a database; the same after a restart."""
    path = data / "name"
    if not path.is_file():
        path.write_text(f"robot-{uuid.uuid4().hex[:12]}\n")
    return path.read_text().strip()


def _sweep(config: RobotConfig) -> None:
    """What a killed robot left: half exports, half promotions, scratch folders of inspections."""
    shutil.rmtree(config.data / "work", ignore_errors=True)
    sweep_scratch(config.history)
    mirror = config.data / "mirror.git"
    for index in mirror.glob("index-*"):
        shutil.rmtree(index, ignore_errors=True)
    for lock in mirror.rglob("*.lock"):  # of a git that was killed with the robot: nobody would ever remove it
        lock.unlink(missing_ok=True)


def _refuse_without_apprise(config: RobotConfig) -> None:
    if config.alerts and importlib.util.find_spec("apprise") is None:
        raise UsageError(f"{config.path}: [alerts] is there, and {INSTALL}")


def _refuse_without_sandbox(config: RobotConfig, sandbox: Bubblewrap) -> None:
    here = sandbox.available()
    if config.demand_sandbox and config.workers and not here.available:
        raise HarnessError(
            f"there is no sandbox for the code of submissions ({missing_text(here)}); only where nobody hostile can submit, "
            'write sandbox = "optional" in robot.toml'
        )
    if not here.available:
        _LOG.warning("no sandbox: %s", missing_text(here))
