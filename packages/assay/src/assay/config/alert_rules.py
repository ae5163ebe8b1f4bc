"""The table [alerts] as a frozen value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.alert import AlertKind, AlertRules, AlertTarget, SecretText, read_quiet_hours

if TYPE_CHECKING:
    from assay.config.toml_schema import AddressFile, AlertsFile


def alert_rules(folder: Path, parsed: AlertsFile) -> AlertRules | None:
    """None where no target is named. Paths are relative to `folder`."""
    if not parsed.target:
        return None
    everything = tuple(AlertKind(name) for name in parsed.on)
    targets = tuple(
        AlertTarget(
            target.name,
            _place(folder, target.url),
            everything if target.on is None else tuple(AlertKind(name) for name in target.on),
            always=not target.quiet_hours,
        )
        for target in parsed.target
    )
    return AlertRules(
        targets,
        parsed.report_url,
        read_quiet_hours(parsed.quiet_hours) if parsed.quiet_hours else None,
        parsed.time_zone,
        parsed.only_with,
        tuple(parsed.trend_metrics),
    )


def _place(folder: Path, url: AddressFile | str) -> SecretText:
    if isinstance(url, str):
        return SecretText(text=url)
    return SecretText(env=url.env, file=str(folder / url.file) if url.file else "")
