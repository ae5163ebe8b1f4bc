"""[alerts] of assay.toml: what is read, and one sentence for each mistake that shows no address."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.config.assay_toml import TEMPLATE, load_alerts, load_config
from assay.core.alert import AlertKind, AlertTarget, SecretText
from assay.errors import BadPolicy

SECRET = "s3cr3t-t0ken"


def write(folder: Path, text: str) -> Path:
    path = folder / "assay.toml"
    path.write_text(text)
    return path


def test_targets_and_hours(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [alerts]
        on = ["block", "recovery"]
        quiet-hours = "20:00-07:00"
        only-with = "CI"
        [[alerts.target]]
        name = "team"
        url = { env = "URL" }
        [[alerts.target]]
        name = "pager"
        url = { file = "secrets/pager" }
        on = ["block"]
        quiet-hours = false
        """,
    )
    rules = load_config(path).alerts
    assert rules == load_alerts(path)
    assert rules is not None
    assert (rules.quiet_hours, rules.only_with) == ((20 * 60, 7 * 60), "CI")
    assert rules.targets == (
        AlertTarget("team", SecretText(env="URL"), (AlertKind.BLOCK, AlertKind.RECOVERY)),
        AlertTarget("pager", SecretText(file=str(tmp_path / "secrets/pager")), (AlertKind.BLOCK,), always=True),
    )


def test_without_a_target_nobody_is_told(tmp_path: Path) -> None:
    assert load_alerts(write(tmp_path, TEMPLATE)) is None
    assert load_alerts(write(tmp_path, '[alerts]\nonly-with = "CI"\n')) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'[[alerts.target]]\nname = "a"\nurl = "{SECRET}"', "must be { env = "),
        (f'[[alerts.target]]\nname = "a"\nurl = {{ env = "A", token = "{SECRET}" }}', "must be { env = "),
        (f'[[alerts.target]]\nname = "a"\nurl = ["{SECRET}"]', "must be { env = "),
        ('[[alerts.target]]\nurl = { env = "A" }', "'alerts.target[0].name' is missing"),
        ('[[alerts.target]]\nname = "a b"\nurl = { env = "A" }', "must be made of at most 60 letters"),
        ('[[alerts.target]]\nname = "a"\nurl = { env = "A" }\n' * 2, "two targets called 'a'"),
        (
            '[alerts]\non = ["blocked"]',
            "must be one of block, change, inconclusive, trend, recovery, found, not 'blocked'",
        ),
        ("[alerts]\non = []", "'alerts.on' must not be empty"),
        ('[alerts]\nquiet-hours = "8-20"', "must be two times of the day"),
        ('[alerts]\ntime-zone = "Mars/Base"', "must be the name of a time zone"),
        ('[alerts]\nreport-url = "file:///x"', "'alerts.report-url' must match"),
        ('[alerts]\ntrend-metrics = [""]', "must name a metric"),
        ('[alerts]\nquiet = "8-20"', "is no known key; the nearest is 'quiet-hours'"),
    ],
)
def test_a_mistake_is_told_without_any_secret(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadPolicy) as error:
        load_alerts(write(tmp_path, text))
    assert message in str(error.value)
    assert SECRET not in str(error.value)
    assert "assay.toml" in str(error.value)
