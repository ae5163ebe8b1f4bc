"""What people are told of a run, once per cause: the red jobs, the open causes, and the messages that wait."""

from __future__ import annotations

import enum
import re

import msgspec

from assay.errors import UsageError

TREND_METRICS = ("latency.median_ms", "memory.run_peak_bytes", "artifact.bytes")
"""That are looked at unless the configuration says others."""


class AlertKind(enum.StrEnum):
    """`block`: a verdict that fails the run. `change`: more jobs show a cause that was told, or a job that passed is skipped now.
    `inconclusive`: twice in a row. `trend`: a metric left its level.
    `recovery`: no job shows the cause any more. `found`: fuzzing met a defect that nobody knew."""

    BLOCK = "block"
    CHANGE = "change"
    INCONCLUSIVE = "inconclusive"
    TREND = "trend"
    RECOVERY = "recovery"
    FOUND = "found"


class RedJob(msgspec.Struct, frozen=True):
    """One job that is not well. `symptom` is equal for jobs that fail in the same way; `short` says it in a few words, `reason` in full.
    `backend` lowered the model, `log` is the file that has what the job wrote."""

    key: str
    kind: AlertKind
    symptom: str
    short: str
    reason: str
    backend: str = ""
    log: str = ""

    @property
    def case(self) -> str:
        return self.key.split("|")[0]

    @property
    def flow(self) -> str:
        return (*self.key.split("|"), "")[1]


class Message(msgspec.Struct, frozen=True):
    """What is sent: `text` for chats and incident tools, `html` for mail. No secret is in it."""

    kind: AlertKind
    subject: str
    text: str
    html: str


class Waiting(msgspec.Struct, frozen=True):
    """A message that a target has not got yet. `error` is why the last try failed. Nobody else sends it before `claimed_until` (seconds
    since 1970). `many`: it speaks of other alerts, too."""

    target: str
    message: Message
    since: str
    error: str = ""
    claimed_until: float = 0.0
    many: bool = False


class Mute(msgspec.Struct, frozen=True):
    """Nothing is told before `until` (ISO 8601, UTC)."""

    until: str
    reason: str
    who: str


class Alert(msgspec.Struct, frozen=True):
    """One cause. `jobs` are those that show it now, each with the number of runs in a row; `told` those that people know of.
    `closed_at` is "" while it is open. `recovery_untold`: people know of it, and it was closed while it was muted. Times are ISO 8601,
    UTC."""

    id: str
    kind: AlertKind
    symptom: str
    headline: str
    jobs: dict[str, int]
    first_run: str
    first_at: str
    last_run: str
    last_at: str
    told: tuple[str, ...] = ()
    closed_at: str = ""
    mute: Mute | None = None
    waiting: tuple[Waiting, ...] = ()
    recovery_untold: bool = False

    def is_muted(self, now: str) -> bool:
        return self.mute is not None and now < self.mute.until

    def is_over(self, now: str) -> bool:
        """Closed, and neither muted nor still to be told to anybody."""
        return bool(self.closed_at) and not self.waiting and not self.recovery_untold and not self.is_muted(now)


class SecretText(msgspec.Struct, frozen=True):
    """Where an address is: in the configuration itself (`text`), in a variable, or in a file. It shows itself to nobody."""

    text: str = ""
    env: str = ""
    file: str = ""

    def __repr__(self) -> str:
        return f"SecretText({self.env or self.file or '***'})"


class AlertTarget(msgspec.Struct, frozen=True):
    """`on` are the kinds that it gets; `always`: in quiet hours, too."""

    name: str
    url: SecretText
    on: tuple[AlertKind, ...]
    always: bool = False


class AlertRules(msgspec.Struct, frozen=True):
    """The table [alerts]. `quiet_hours` are minutes of the day, from and to, in `time_zone` ("": that of the machine). `only_with` names a
    variable without which nothing is sent. Metrics in `trend_metrics` are looked at after each run."""

    targets: tuple[AlertTarget, ...]
    report_url: str = ""
    quiet_hours: tuple[int, int] | None = None
    time_zone: str = ""
    only_with: str = ""
    trend_metrics: tuple[str, ...] = TREND_METRICS


def read_quiet_hours(text: str) -> tuple[int, int]:
    """`20:00-07:00` as minutes of the day. Raises ValueError with what is to be said of the text."""
    match = re.fullmatch(r"(\d{1,2}):([0-5]\d)-(\d{1,2}):([0-5]\d)", text.replace(" ", ""))
    times = [int(match[n]) * 60 + int(match[n + 1]) for n in (1, 3)] if match else [0, 0]
    if times[0] == times[1] or max(times) >= 24 * 60:
        raise ValueError(f'must be two times of the day such as "20:00-07:00", not {text!r}')
    return times[0], times[1]


def find_alert(alerts: list[Alert], identity: str) -> Alert:
    """The one whose id begins so. Raises UsageError."""
    matching = [alert for alert in alerts if identity and alert.id.startswith(identity)]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(alert.id for alert in alerts) or "none is open"
    text = "more than one alert has an id that begins with" if matching else "no alert has the id"
    raise UsageError(f"{text} {identity!r}: {known}; `assay alert list` shows them")


class AlertFacts(msgspec.Struct, frozen=True):
    """What a message says beside its headline. `jobs` are the names of all that show it, `lines` (name, text) what is known: what is
    wrong, since when, what changed; `commands` (name, command) what to do. `link` leads to the report, `script` is a program that
    shows it."""

    jobs: tuple[str, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    link: str = ""
    script: str = ""
