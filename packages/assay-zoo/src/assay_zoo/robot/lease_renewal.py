"""A delivery that goes on for long is held by a lease that is renewed meanwhile."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType

from assay.errors import StoreError
from assay_zoo.robot.outbox import DueEntry, Outbox

_BEATS = 4
"""Renewals within one lease: some of them may fail."""


class LeaseRenewal:
    """`with LeaseRenewal(outbox, due, lease_s) as held:` around the delivery; `held.due` afterwards is what to report as done. A lease
    that is lost is not asked for again: whoever has it now delivers, and every delivery is right however often it is made."""

    def __init__(self, outbox: Outbox, due: DueEntry, lease_s: float) -> None:
        self.due = due
        self._outbox, self._pause_s = outbox, lease_s / _BEATS
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"holding-{due.kind}", daemon=True)

    def __enter__(self) -> LeaseRenewal:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._pause_s):
            with contextlib.suppress(StoreError):
                renewed = self._outbox.renew(self.due)
                if renewed is None:
                    return
                self.due = renewed
