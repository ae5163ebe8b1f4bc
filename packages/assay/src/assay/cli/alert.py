"""`assay alert`: which alerts were sent, and which are muted for a while."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.common import History
from assay.errors import UsageError
from assay.options.groups import DEFAULT_HISTORY

if TYPE_CHECKING:
    from assay.core.alert import Alert

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of an alert, or the beginning of one.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with [alerts] [assay.toml].")]


@app.command("list")
def list_(history: History = DEFAULT_HISTORY) -> None:
    """List the open alerts: since when, for which jobs, and whether they were sent."""
    from assay.commands.alerts import list_alerts

    alerts = list_alerts(history)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for alert in alerts:
        print(f"{alert.id}  {alert.kind.value:<12}  {alert.headline}")
        state = "recovered" if alert.closed_at else f"{len(alert.jobs)} job{'s' * (len(alert.jobs) != 1)}"
        print(f"    since {alert.first_at[:16]} (run {alert.first_run}); {state}; {_telling(alert, now)}")
        for waiting in alert.waiting:
            why = f", last try: {waiting.error}" if waiting.error else ""
            print(f"    waits for {waiting.target} since {waiting.since[:16]}{why}")
    if not alerts:
        print("no alert is open")


def _telling(alert: Alert, now: str) -> str:
    if alert.mute is not None and alert.is_muted(now):
        return f"muted until {alert.mute.until[:16]} by {alert.mute.who}: {alert.mute.reason}"
    if alert.waiting:
        return f"not sent to {len(alert.waiting)} target{'s' * (len(alert.waiting) != 1)} yet"
    return "sent" if alert.told else "not sent yet"


@app.command("mute")
def mute(
    identity: Id,
    until: Annotated[str, typer.Option(metavar="DATE", help="Day of its end, 2027-01-31, at midnight UTC.")] = "",
    for_: Annotated[str, typer.Option("--for", metavar="TIME", help="How long: 12h, 7d or 2w.")] = "",
    reason: Annotated[str, typer.Option(help="Why it is muted; kept with it.")] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    """Send nothing of one alert until a date. Whether it blocks does not change."""
    from assay.commands.alerts import mute_alert

    alert = mute_alert(identity, _end(until, for_), reason, history)
    assert alert.mute is not None
    print(f"muted until {alert.mute.until[:16]} UTC: {alert.headline}")


@app.command("unmute")
def unmute(identity: Id, history: History = DEFAULT_HISTORY) -> None:
    """Tell of an alert again, with the next run that shows it."""
    from assay.commands.alerts import unmute_alert

    print(f"not muted any more: {unmute_alert(identity, history).headline}")


@app.command("test")
def try_(
    config: ConfigFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Send nothing; say where it would go.")] = False,
) -> None:
    """Send a test message to every target; exit 1 if one was not reached."""
    from assay.commands.alerts import try_targets

    lines, right = try_targets(config, dry_run=dry_run)
    for line in lines:
        print(line)
    if not right:
        raise typer.Exit(1)


@app.command("show")
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, the beginning of one, or `last`.")] = "last",
    config: ConfigFile = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Show what a recorded run would tell now; send nothing."""
    from assay.commands.alerts import show_alerts

    for line in show_alerts(run, history, config):
        print(line)


@app.command("send")
def send(config: ConfigFile = None, history: History = DEFAULT_HISTORY) -> None:
    """Send what waits for the end of quiet hours, or for a target; exit 1 if one was not reached."""
    from assay.commands.alerts import send_waiting

    lines, right = send_waiting(history, config)
    for line in lines:
        print(line)
    if not right:
        raise typer.Exit(1)


def _end(until: str, for_: str) -> datetime:
    if bool(until) == bool(for_):
        raise UsageError("a mute needs an end: give either --until DATE or --for TIME")
    if until:
        try:
            day = datetime.fromisoformat(until)
        except ValueError:
            raise UsageError(f"--until {until!r} is no date like 2027-01-31") from None
        return day if day.tzinfo else day.replace(tzinfo=UTC)
    match = re.fullmatch(r"(\d{1,4})([hdw])", for_)
    if match is None:
        raise UsageError(f"--for {for_!r} is no time such as 12h, 7d or 2w")
    hours = {"h": 1, "d": 24, "w": 24 * 7}[match[2]]
    return datetime.now(UTC) + timedelta(hours=int(match[1]) * hours)
