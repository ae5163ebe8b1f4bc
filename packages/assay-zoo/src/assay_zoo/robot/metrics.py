"""What the robot counts, in the words of Prometheus; the queue itself is asked when somebody looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from assay.errors import StoreError
from assay_zoo.robot.queries import Queries

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_LONG = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)


class Metrics:
    """A registry of its own: two robots in one process do not meet."""

    def __init__(self, reading: Queries, *, now: Callable[[], float] = time.time) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram

        self._registry = CollectorRegistry()
        self._registry.register(_QueueGauges(reading, now))
        self._webhooks = Histogram(
            "assay_robot_webhook_seconds",
            "Seconds from a delivery to its answer",
            ["status"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._groups = Histogram(
            "assay_robot_group_seconds",
            "Seconds of one group of checks",
            ["group"],
            buckets=_LONG,
            registry=self._registry,
        )
        self._decisions = Counter(
            "assay_robot_decisions", "Decisions made by this robot", ["answer"], registry=self._registry
        )
        self._faults = Counter(
            "assay_robot_faults",
            "What failed outside submissions, and is tried again",
            ["where"],
            registry=self._registry,
        )

    def webhook(self, status: str, seconds: float) -> None:
        self._webhooks.labels(status).observe(seconds)

    def group(self, name: str, seconds: float) -> None:
        self._groups.labels(name).observe(seconds)

    def decision(self, answer: str) -> None:
        self._decisions.labels(answer).inc()

    def fault(self, where: str) -> None:
        self._faults.labels(where).inc()

    def text(self) -> tuple[bytes, str]:
        """The body of /metrics and its content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self._registry), CONTENT_TYPE_LATEST


class _QueueGauges:
    def __init__(self, reading: Queries, now: Callable[[], float]) -> None:
        self._reading, self._now = reading, now

    def describe(self) -> list[GaugeMetricFamily]:
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        from prometheus_client.core import GaugeMetricFamily

        def gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
            return GaugeMetricFamily(f"assay_robot_{name}", about, value=value)

        try:
            counts = self._reading.counts()
        except StoreError:
            yield gauge("database_up", "Whether the database answers", 0.0)
            return
        yield gauge("database_up", "Whether the database answers", 1.0)
        yield gauge("queue_length", "Submissions that wait", counts.queued)
        yield gauge("running", "Submissions that are checked now", counts.running)
        yield gauge("unsent", "Reports, promotions and notifications to be delivered", counts.unsent)
        age = self._now() - counts.oldest_at if counts.oldest_at else 0.0
        yield gauge("queue_age_seconds", "How long the oldest submission waits", max(age, 0.0))
        answers = GaugeMetricFamily("assay_robot_decided", "Decisions in the database", labels=["answer"])
        for answer, number in sorted(counts.answers.items()):
            answers.add_metric([answer], number)
        yield answers
