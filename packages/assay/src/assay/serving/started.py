"""A service that is started for a measurement, waited for, and ended with all that it started."""

from __future__ import annotations

import http.client
import os
import shlex
import signal
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from assay.core.service import Service
from assay.endpoints.connection import certificate_trouble
from assay.endpoints.fetch import fetched
from assay.errors import EndpointFailed, UsageError
from assay.judge.words.note_text import note_text
from assay.launch import process_tree
from assay.launch.left_behind import look_once
from assay.models.telemetry import without_telemetry

_POLL_S, _LEFT_S, _ENDING_S, _SHOWN, _READ = 0.05, 2.0, 10.0, 300, 4096
_PATIENCE_S, _DYING_S = 2.0, 1.0


@dataclass(frozen=True)
class Started:
    """Where it answers, and the process that was started for it (None: it was running)."""

    address: str
    process: subprocess.Popen[bytes] | None
    log: IO[bytes] | None = None

    def ended(self, name: str, *, failed: bool) -> str:
        """How its process has ended, and the last that it said; "" while it lives. Where requests `failed`, it may be about to."""
        if self.process is None or self.log is None:
            return ""
        try:
            self.process.wait(_DYING_S if failed else 0.0)
        except subprocess.TimeoutExpired:
            return ""
        return f"service {name!r} ended with {self.process.returncode} under the load: {_tail(self.log)}"


@contextmanager
def started(service: Service) -> Iterator[Started]:
    """It answers at its health address when this is entered, and it is ended afterwards with all that it started, whatever happens.
    Raises EndpointFailed where it ends, or does not answer in `ready_s`, and UsageError where another one answers there already."""
    if not service.start:
        yield Started(service.url, None)
        return
    look_once(_ENDING_S)  # one that a killed driver has left may answer there
    _check_free(service)
    with tempfile.TemporaryFile() as log:
        try:
            with process_tree.starting() as known:
                process = subprocess.Popen(
                    shlex.split(service.start),
                    stdout=log,
                    stderr=log,
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                    env=process_tree.marked(without_telemetry(os.environ)),
                )
                known(process.pid)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"service {service.name!r} cannot be started ({error}): correct start in [service.{service.name}]"
            ) from None
        try:
            _wait(service, process, log)
            yield Started(service.url, process, log)
        finally:
            _end(service, process)


def _check_free(service: Service) -> None:
    """What a stop command ended a moment ago may answer a little longer."""
    health, deadline = _health(service), time.monotonic() + _LEFT_S
    while not _trouble(health, any_status=True):
        if time.monotonic() > deadline:
            raise UsageError(
                f"{health} answers before service {service.name!r} is started, and would be measured in its place: end what runs there, "
                f"or leave start out of [service.{service.name}]"
            )
        time.sleep(_POLL_S)


def _health(service: Service) -> str:
    return service.health or service.url.rstrip("/") + "/models"


def _wait(service: Service, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    deadline = time.monotonic() + service.ready_s
    health = _health(service)
    while trouble := _trouble(health):
        if process.poll() is not None:
            raise EndpointFailed(
                f"service {service.name!r} ended with {process.returncode} before it answered: {_tail(log)}"
            )
        if time.monotonic() > deadline:
            raise EndpointFailed(
                f"service {service.name!r} did not answer at {health} in {service.ready_s:g} s ({trouble}): raise ready-s in "
                f"[service.{service.name}], or correct the address",
                late=True,
            )
        time.sleep(_POLL_S)


def _trouble(address: str, *, any_status: bool = False) -> str:
    """Why it does not answer with a good status, or with any; "" where it does."""
    try:
        status, _ = fetched(address, _PATIENCE_S)
    except ssl.SSLCertVerificationError as error:
        return note_text(certificate_trouble(address, error))
    except (OSError, ValueError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    return "" if any_status or 200 <= status < 300 else f"status {status}"


def _tail(log: IO[bytes]) -> str:
    size = os.fstat(log.fileno()).st_size
    text = os.pread(log.fileno(), _READ, max(0, size - _READ)).decode(errors="replace")
    return " ".join(text.split())[-_SHOWN:] or "it said nothing"


def _end(service: Service, process: subprocess.Popen[bytes]) -> None:
    """By its own command, where it has one; then its group is asked to end, and made to."""
    if service.stop and process.poll() is None:
        with suppress(OSError, ValueError, subprocess.TimeoutExpired):
            subprocess.run(
                shlex.split(service.stop), timeout=_ENDING_S, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            process.wait(_ENDING_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_S)
    process_tree.kill_below(process.pid)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_S)
    process_tree.ended(process.pid)
    process_tree.kill_orphans()
