"""What a message says of a cause: since when, what changed between, and a trend that breaks."""

from __future__ import annotations

from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from assay.alerts.message import message
from assay.alerts.quiet import quiet_until
from assay.commands.alerting import SEND, SHOW, report_link, with_alerts
from assay.core.alert import (
    Alert,
    AlertFacts,
    AlertKind,
    AlertRules,
    AlertTarget,
    Mute,
    RedJob,
    SecretText,
    read_quiet_hours,
)
from assay.core.engine_info import EngineInfo
from assay.core.machine import Machine
from assay.core.outcome import Outcome
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.pipeline.open_run import Checked
from assay.pipeline.past_runs.alert_facts import facts_of_news
from assay.pipeline.past_runs.trend_alarms import trend_alarms
from assay.pipeline.provenance import this_machine
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_measurement, make_model, make_result, make_run

KEY = "net|onnxruntime|verify"


@pytest.fixture
def store(tmp_path: Path) -> Any:
    sql_store = SqlStore(str(tmp_path / "history.db"))
    yield sql_store
    sql_store.close()


def record(store: SqlStore, number: int, outcome: Outcome, digest: str = "a", **more: Any) -> Any:
    job = make_job("net", "onnxruntime", "verify")
    job = replace(job, case=replace(job.case, model=make_model("net", digest=digest * 64)))
    started = f"2026-11-2{number}T08:00:00+00:00"
    run = make_run(f"2026112{number}T080000-aaaaaa", (job,), started_at=started, command="assay check net.onnx", **more)
    store.open_run(run)
    store.record(run.id, [make_result("net", "onnxruntime", "verify", outcome=outcome)])
    return run


def test_since_when_and_what_changed_between(store: SqlStore) -> None:
    record(store, 1, Outcome.OK, versions={"openvino": "2026.3.0"})
    record(store, 2, Outcome.MISMATCH, "b", versions={"openvino": "2026.4.0"})
    run = record(store, 3, Outcome.MISMATCH, "b", versions={"openvino": "2026.4.0"})
    alert = Alert(
        "a1b2c3d4", AlertKind.BLOCK, "s", "net on onnxruntime: mismatch", {KEY: 1}, run.id, run.started_at, run.id, "t"
    )
    red = RedJob(KEY, AlertKind.BLOCK, "s", "mismatch", "output 'y' is wrong " * 9, "onnxruntime")
    lines = dict(facts_of_news(alert, [red], "", run, store).lines)
    since = lines["Since"]
    assert since.startswith("run 20261122T080000-aaaaaa, 2026-11-22 08:00 UTC; run 20261121T080000-aaaaaa"), since
    assert since.endswith("did not show it")
    assert lines["Changed"] == "openvino 2026.3.0 -> 2026.4.0; the model file is another"
    text = message(alert, AlertKind.BLOCK, facts_of_news(alert, [red], "", run, store)).text
    assert max(len(line) for line in text.splitlines() if not line.startswith("  a")) <= 80
    assert f"assay triage {run.id}" in text
    assert "assay alert mute a1b2c3d4 --for 7d --reason WHY\n" in text

    _, *lines = facts_of_news(alert, [red], "", run, store, "of us/history").commands
    assert len(lines) == 3
    assert all(line.endswith(" --history 'of us/history'") for _, line in lines), lines


def test_a_metric_that_leaves_its_level_is_told_at_that_run_alone(store: SqlStore) -> None:
    job = make_job("net", "onnxruntime", "measure")
    alarms = []
    for number in range(30):
        level = 0.002 * (1 + 0.002 * (number % 3)) * (1.0 if number < 22 else 1.3)
        run = make_run(f"20261121T0000{number:02d}-aaaaaa", (job,), machine=this_machine())
        result = make_result("net", "onnxruntime", "measure", measurements=(make_measurement(median_s=level),))
        store.open_run(run)
        store.record(run.id, [result])
        services: Any = SimpleNamespace(store=store)
        alarms += [(number, alarm) for alarm in trend_alarms(run, [result], ["latency"], services)]
    (number, red), *_ = alarms
    assert 22 < number < 30
    assert red.key == "net|onnxruntime|trend:latency.median_ms"
    assert "+30.0 % beside its median" in red.reason or "+29" in red.reason or "+30" in red.reason


def test_a_trend_of_what_was_verified_alone_is_told_too(store: SqlStore) -> None:
    job = make_job("net", "onnxruntime", "verify")
    messages: list[str] = []
    for number in range(30):
        run = make_run(f"20261121T0000{number:02d}-aaaaaa", (job,), machine=this_machine())
        size = 1000 if number < 22 else 1500
        result = make_result("net", "onnxruntime", "verify", facts=EngineInfo(artifact_bytes=size))
        store.open_run(run)
        store.record(run.id, [result])
        services: Any = SimpleNamespace(store=store)
        messages += [
            alarm.key for alarm in trend_alarms(run, [result], ["size", "artifact.bytes", "latency"], services)
        ]
    assert messages == ["net|onnxruntime|trend:artifact.bytes"]


def test_a_run_behind_many_newer_ones_of_other_machines_has_no_alarm(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.pipeline.past_runs.trend_alarms.RUNS", 20)
    job = make_job("net", "onnxruntime", "measure")
    mine = make_run("20261121T000000-aaaaaa", (job,), machine=this_machine())
    others = [make_run(f"20261121T0001{at:02d}-aaaaaa", (job,), machine=Machine(cpu="another")) for at in range(30)]
    result = make_result("net", "onnxruntime", "measure", measurements=(make_measurement(),))
    for run in (mine, *others):
        store.open_run(run)
        store.record(run.id, [result])
    services: Any = SimpleNamespace(store=store)
    assert mine.machine.kind != others[0].machine.kind
    assert trend_alarms(mine, [result], ["latency"], services) == []


def test_whatever_fails_changes_no_verdict() -> None:
    judgement = RunVerdict((), Verdict(VerdictStatus.FAIL, "FAIL"), 1)
    checked = Checked(make_run(), (), judgement)
    rules = AlertRules((AlertTarget("x", SecretText(text="json://h"), tuple(AlertKind)),))
    after = with_alerts(checked, SimpleNamespace(store=object()), rules, "send")  # type: ignore[arg-type]
    assert after.judgement is judgement
    assert "cannot keep which alerts were sent" in after.alerts[0]
    broken = with_alerts(checked, None, rules, "send")  # type: ignore[arg-type]
    assert broken.alerts[0].startswith("alerts of this run were not sent, its verdict stands (AttributeError")


def test_quiet_hours_go_over_midnight_and_follow_the_time_zone() -> None:
    from datetime import UTC, datetime

    rules = AlertRules((), quiet_hours=read_quiet_hours("20:00-07:00"), time_zone="Europe/Berlin")
    at = {hour: quiet_until(rules, datetime(2026, 11, 26, hour, tzinfo=UTC)) for hour in (5, 6, 18, 19, 23)}
    assert at == {5: "07:00", 6: "", 18: "", 19: "07:00", 23: "07:00"}
    for bad in ("20:00", "7-8", "24:00-07:00", "20:00-20:00", "08:60-09:00"):
        with pytest.raises(ValueError, match="two times of the day"):
            read_quiet_hours(bad)


def test_a_link_stands_only_where_all_of_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_JOB_URL", "https://ci.example/jobs/7")
    assert report_link("$CI_JOB_URL/artifacts/{run}.html", "r1") == "https://ci.example/jobs/7/artifacts/r1.html"
    assert report_link("https://x/$NOT_SET_AT_ALL", "r1") == ""
    monkeypatch.setenv("CI_JOB_URL", "javascript:alert(1)")
    assert report_link("$CI_JOB_URL", "r1") == ""


def test_a_dry_run_without_anybody_to_tell_says_so() -> None:
    checked = Checked(make_run(), (), RunVerdict((), Verdict(VerdictStatus.PASS, "PASS"), 0))
    services: Any = None  # nobody is to be told: nothing is asked of the history
    (said,) = with_alerts(checked, services, None, SHOW).alerts
    assert said == "no alert would be sent: assay.toml has no [[alerts.target]] (docs/alerts.md)"
    assert with_alerts(checked, services, None, SEND).alerts == ()


def test_a_script_is_the_same_program_in_the_message() -> None:
    script = (
        'if x:\n\tprint("a   b   c")\n    \ny = x @all_ones  # @everyone\ntext = """\n```\n<!here> naïve\u00a0&\n"""\n'
    )
    alert = Alert("a1b2c3d4", AlertKind.FOUND, "s", "wrong by Neg", {KEY: 1}, "fuzz", "t", "fuzz", "t")
    made = message(alert, AlertKind.FOUND, AlertFacts(script=script))
    assert made.text.endswith(f"\nScript:\n\n````python\n{script}````\n")
    assert f"<pre>{escape(script.rstrip())}</pre>" in made.html
    hostile = message(alert, AlertKind.FOUND, AlertFacts(script="a = 1\x1b[31m\r\nb = '\u202e://u:hunter2@h'\x0cc"))
    assert hostile.text.endswith("\n```python\na = 1 [31m\nb = ' ://u:***@h' c\n```\n")


def test_a_recovery_inside_of_a_mute_is_not_said_of_the_run_after_it(store: SqlStore) -> None:
    run = record(store, 1, Outcome.OK)
    well, until = "2026-11-21T08:00:00+00:00", "2026-11-22T08:00:00+00:00"
    alert = Alert("a1b2c3d4", AlertKind.BLOCK, "s", "net: mismatch", {}, run.id, well, run.id, well, (KEY,), well)
    assert dict(facts_of_news(alert, (), "", run, store).lines)["Now"] == f"run {run.id} passes"
    muted = replace(alert, mute=Mute(until, "known", "ann"))
    assert dict(facts_of_news(muted, (), "", run, store).lines)["Now"] == "it was well again while it was muted"
