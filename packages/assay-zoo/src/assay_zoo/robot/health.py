"""Whether the robot lives, and whether it can do its work: with a reason for each thing that is missing."""

from __future__ import annotations

import threading
import time

from sqlalchemy import text

from assay.errors import AssayError
from assay.judge.words.missing_text import missing_text
from assay.launch.sandbox.bubblewrap import Bubblewrap
from assay_zoo.robot.mirror import Mirror
from assay_zoo.robot.queries import Queries

_KEPT_S = 15.0


class Health:
    """The repository is asked at most every 15 s, however often somebody asks here."""

    def __init__(self, reading: Queries, mirror: Mirror, sandbox: Bubblewrap, *, demand_sandbox: bool) -> None:
        self._reading, self._mirror, self._sandbox, self._demand = reading, mirror, sandbox, demand_sandbox
        self._lock = threading.Lock()
        self._at, self._repository = -_KEPT_S, ""

    def ready(self) -> dict[str, str]:
        """What is not ready, each with its reason; empty where all is."""
        states = {"database": self._database(), "repository": self._repository_state()}
        if self._demand:
            here = self._sandbox.available()
            states["sandbox"] = missing_text(here)
        return {name: reason for name, reason in states.items() if reason}

    def _database(self) -> str:
        try:
            with self._reading.database.read() as connection:
                connection.execute(text("SELECT 1"))
        except AssayError as error:
            return str(error)
        return ""

    def _repository_state(self) -> str:
        with self._lock:
            if time.monotonic() - self._at >= _KEPT_S:
                try:
                    self._mirror.reach()
                    self._repository = ""
                except AssayError as error:
                    self._repository = str(error)
                self._at = time.monotonic()
            return self._repository
