"""A service that is started for a measurement, waited for, and ended with all that it started."""

from __future__ import annotations

import http.client
import os
import shlex
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from assay.core.service import Service
from assay.endpoints.connection import endpoint_key
from assay.errors import EndpointFailed, UsageError

_POLL_S, _LEFT_S, _ENDING_S, _SHOWN = 0.05, 2.0, 10.0, 300
_PATIENCE_S = 2.0


@dataclass(frozen=True)
class Started:
    """Where it answers, and the process that was started for it (None: it was running)."""

    address: str
    process: subprocess.Popen[bytes] | None

    @property
    def alive(self) -> bool:
        """Whether its process has not ended."""
        return self.process is None or self.process.poll() is None


@contextmanager
def started(service: Service) -> Iterator[Started]:
    """It answers at its health address when this is entered, and its whole group of processes is ended afterwards, whatever happens.
    Raises EndpointFailed where it ends, or does not answer in `ready_s`, and UsageError where another one answers there already."""
    if not service.start:
        yield Started(service.url, None)
        return
    _check_free(service)
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(
                shlex.split(service.start), stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise UsageError(
                f"service {service.name!r} cannot be started ({error}): correct start in [service.{service.name}]"
            ) from None
        try:
            _wait(service, process, log)
            yield Started(service.url, process)
        finally:
            _end(service, process)


def _check_free(service: Service) -> None:
    """What a stop command ended a moment ago may answer a little longer."""
    health, deadline = _health(service), time.monotonic() + _LEFT_S
    while _answers(health, any_status=True):
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
    while not _answers(health):
        if process.poll() is not None:
            raise EndpointFailed(
                f"service {service.name!r} ended with {process.returncode} before it answered: {_tail(log)}"
            )
        if time.monotonic() > deadline:
            raise EndpointFailed(
                f"service {service.name!r} did not answer at {health} in {service.ready_s:g} s: raise ready-s in [service.{service.name}]",
                late=True,
            )
        time.sleep(_POLL_S)


def _answers(address: str, *, any_status: bool = False) -> bool:
    """With a good status, or with any. The key goes to this address, and to none that it redirects to."""
    try:
        request = urllib.request.Request(address)
        if key := endpoint_key():
            request.add_unredirected_header("Authorization", f"Bearer {key}")
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
            return any_status or 200 <= int(answer.status) < 300
    except urllib.error.HTTPError:
        return any_status
    except (OSError, ValueError, http.client.HTTPException):
        return False


def _tail(log: IO[bytes]) -> str:
    log.seek(0)
    text = log.read().decode(errors="replace")
    return " ".join(text.split())[-_SHOWN:] or "it said nothing"


def _end(service: Service, process: subprocess.Popen[bytes]) -> None:
    """By its own command, where it has one; then its group is asked to end, and made to."""
    if service.stop and process.poll() is None:
        with suppress(OSError, ValueError, subprocess.TimeoutExpired):
            subprocess.run(
                shlex.split(service.stop), timeout=_ENDING_S, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            process.wait(_ENDING_S)
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_S)
