"""Once per cause: what joins an alert, what leaves it, and what is news."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.alerts.causes import causes, red_jobs, run_key
from assay.alerts.ledger import as_told, kept, update
from assay.core.alert import Alert, AlertKind, Mute, RedJob
from assay.core.finding import Finding
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Outcome, Stage
from assay.core.reference import Reference, ReferenceKind
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.testing.builders import make_comparison, make_job, make_result

NOW = "2026-11-26T08:00:00+00:00"


def red(key: str, kind: AlertKind = AlertKind.BLOCK, symptom: str = "nan", backend: str = "openvino") -> RedJob:
    return RedJob(key, kind, symptom, "wrong", "it is wrong", backend)


def step(
    alerts: Sequence[Alert], jobs: Sequence[RedJob] = (), passed: Sequence[str] = (), run: str = "r1"
) -> tuple[list[Alert], list[tuple[AlertKind, int]]]:
    """As a run does it: all news is told."""
    after, news = update(alerts, jobs, set(passed), run, NOW)
    by_id = {new.alert.id: new for new in news}
    after = [as_told(alert, by_id[alert.id]) if alert.id in by_id else alert for alert in after]
    return kept(after, NOW), [(new.kind, len(new.red)) for new in news]


def test_jobs_of_one_symptom_that_share_a_model_or_a_backend_are_one_cause() -> None:
    jobs = [red("a|f|verify"), red("b|f|verify"), red("b|g|verify", backend="tvm"), red("c|h|verify", backend="iree")]
    assert [len(cause) for cause in causes(jobs)] == [3, 1]
    assert [len(cause) for cause in causes([red("a|f|verify"), red("a|f|measure", symptom="crash")])] == [1, 1]


def test_a_cause_is_told_once_then_its_spread_then_its_recovery() -> None:
    alerts, news = step([], [red("a|f|verify"), red("b|f|verify")])
    assert news == [(AlertKind.BLOCK, 2)]
    alerts, news = step(alerts, [red("a|f|verify"), red("b|f|verify")], run="r2")
    assert news == []
    alerts, news = step(alerts, [red("a|f|verify"), red("c|f|verify")], run="r3")
    assert news == [(AlertKind.CHANGE, 1)], "a new model is never swallowed by an alert that was told before"
    alerts, news = step(alerts, passed=["a|f|verify", "b|f|verify"], run="r4")
    assert news == [], "c still shows it"
    alerts, news = step(alerts, passed=["c|f|verify"], run="r5")
    assert (alerts, news) == ([], [(AlertKind.RECOVERY, 0)])
    assert step(alerts, [red("a|f|verify")], run="r6")[1] == [(AlertKind.BLOCK, 1)]


def test_an_alert_has_one_id_in_every_run_and_no_two_have_the_same() -> None:
    """What a dry run shows is muted by that id in the run that records it."""
    jobs = [red("a|f|verify"), red("b|f|verify")]
    shown, sent = (update([], jobs, set(), run, NOW)[0] for run in ("dry", "r1"))
    assert [alert.id for alert in shown] == [alert.id for alert in sent]
    left = [replace(sent[0], jobs={"b|g|verify": 1}, told=("b|g|verify",))]
    both, _ = update(left, [red("a|f|verify")], set(), "r2", NOW)
    assert len({alert.id for alert in both}) == 2, "the first job of an open alert may show the cause again elsewhere"


def test_another_model_on_another_backend_is_another_cause() -> None:
    alerts, _ = step([], [red("a|f|verify")])
    alerts, news = step(alerts, [red("z|g|verify", backend="tvm")], run="r2")
    assert news == [(AlertKind.BLOCK, 1)]
    assert len(alerts) == 2


def test_models_that_are_wrong_by_themselves_are_a_cause_each() -> None:
    """No backend took part: the second hid behind the first, for `model-change` is what both were asked by."""
    jobs = [red(f"{name}|model-change|change", backend="") for name in ("a", "b")]
    alerts, news = update([], jobs, set(), "r1", NOW)
    assert [[job.key for job in item.red] for item in news] == [["a|model-change|change"], ["b|model-change|change"]]
    assert len(alerts) == 2
    alerts, news = update(
        [as_told(alert, item) for alert, item in zip(alerts, news, strict=True)], jobs, set(), "r2", NOW
    )
    assert (len(alerts), news) == (2, [])


def test_jobs_that_one_alert_knows_are_told_together() -> None:
    """It has a job on either backend, by a model that is well again."""
    alerts, _ = step([], [red("a|f|verify"), red("a|g|verify", backend="tvm")])
    jobs = [red("b|f|verify"), red("c|g|verify", backend="tvm")]
    (alert,), news = update(alerts, jobs, {"a|f|verify", "a|g|verify"}, "r2", NOW)
    assert [(new.kind, [job.key for job in new.red]) for new in news] == [
        (AlertKind.CHANGE, ["b|f|verify", "c|g|verify"])
    ]
    assert alert.jobs == {"b|f|verify": 1, "c|g|verify": 1}


def test_inconclusive_is_told_the_second_time_in_a_row() -> None:
    job = red("a|f|verify", AlertKind.INCONCLUSIVE)
    alerts, news = step([], [job])
    assert news == []
    assert step(alerts, [job], run="r1")[1] == [], "the same run judged again is no second run"
    assert step(alerts, [job], run="r2")[1] == [(AlertKind.INCONCLUSIVE, 1)]
    alerts, news = step(alerts, passed=["a|f|verify"], run="r2")
    assert (alerts, news) == ([], []), "nobody knew of it"


def test_what_blocked_and_proves_nothing_now_is_neither_well_nor_new() -> None:
    alerts, _ = step([], [red("a|f|verify")])
    for run in ("r2", "r3"):
        alerts, news = step(alerts, [red("a|f|verify", AlertKind.INCONCLUSIVE, "timeout")], run=run)
        assert (len(alerts), news) == (1, [])
    assert step(alerts, passed=["a|f|verify"], run="r4")[1] == [(AlertKind.RECOVERY, 0)]


def test_another_failure_of_the_same_job_takes_the_place_of_the_first() -> None:
    alerts, _ = step([], [red("a|f|verify")])
    after, news = update(alerts, [red("a|f|verify", symptom="crash")], set(), "r2", NOW)
    assert [(new.kind, new.before) for new in news] == [(AlertKind.BLOCK, "a on f: wrong")]
    assert [alert.symptom for alert in after if not alert.closed_at] == ["crash"]


def test_a_trend_is_told_and_does_not_stay_open() -> None:
    alerts, news = step([], [red("a|f|trend:latency.median_ms", AlertKind.TREND, "trend latency")])
    assert (alerts, news) == ([], [(AlertKind.TREND, 1)])


def test_a_muted_cause_stays_known_until_the_mute_ends() -> None:
    (alert,), _ = step([], [red("a|f|verify")])
    muted = replace(alert, mute=Mute("2026-12-01T00:00:00+00:00", "known", "ann"), told=())
    after, _ = step([muted], passed=["a|f|verify"], run="r2")
    assert [one.mute for one in after] == [muted.mute]
    after, news = update(after, [red("a|f|verify")], set(), "r3", NOW)
    assert [new.alert.is_muted(NOW) for new in news] == [True]
    assert not after[0].is_muted("2026-12-02T00:00:00+00:00")
    after, news = update(after, [red("a|f|verify")], set(), "r4", NOW)
    assert [new.kind for new in news] == [AlertKind.BLOCK], "when the mute ends it is told again"


def test_after_a_mute_what_is_wrong_is_told_again_and_what_is_well_too() -> None:
    (alert,), _ = step([], [red("a|f|verify")])
    over = replace(alert, mute=Mute(NOW, "known", "ann"))
    (after,), news = update([over], [red("a|f|verify")], set(), "r2", NOW)
    assert ([new.kind for new in news], after.mute) == ([AlertKind.BLOCK], None)
    assert step([over], passed=["a|f|verify"], run="r2")[1] == [(AlertKind.RECOVERY, 0)], "it was sent before the mute"


UNTIL = "2026-12-01T00:00:00+00:00"
LATER = "2026-12-02T00:00:00+00:00"


def _muted_and_well() -> list[Alert]:
    """Told, then muted, then well again inside the mute."""
    (alert,), _ = step([], [red("a|f|verify")])
    alerts, news = step([replace(alert, mute=Mute(UNTIL, "known", "ann"))], passed=["a|f|verify"], run="r2")
    assert news == [], "nothing is told of what is muted"
    return alerts


def test_what_was_told_and_is_well_again_inside_its_mute_is_told_when_the_mute_ends() -> None:
    alerts, news = update(_muted_and_well(), [], set(), "r3", NOW)
    assert news == [], "still muted"
    alerts = kept(alerts, LATER)  # as a message that is sent between the runs does it
    after, news = update(alerts, [], set(), "r4", LATER)
    assert [(new.kind, new.alert.is_muted(LATER)) for new in news] == [(AlertKind.RECOVERY, False)]
    assert kept(after, LATER) == []


def test_what_nobody_was_told_of_has_no_recovery_after_its_mute() -> None:
    (alert,), _ = step([], [red("a|f|verify")])
    muted = replace(alert, mute=Mute(UNTIL, "known", "ann"), told=())
    alerts, _ = step([muted], passed=["a|f|verify"], run="r2")
    assert update(alerts, [], set(), "r3", LATER)[1] == []
    assert kept(alerts, LATER) == []


def test_what_fails_again_inside_its_mute_is_still_known() -> None:
    again, _ = update(_muted_and_well(), [red("a|f|verify")], set(), "r3", NOW)
    assert [news.kind for news in update(again, [], {"a|f|verify"}, "r4", LATER)[1]] == [AlertKind.RECOVERY]
    assert [news.kind for news in update(again, [red("a|f|verify")], set(), "r4", LATER)[1]] == [AlertKind.BLOCK]
    first = update(_muted_and_well(), [red("a|f|verify")], set(), "r3", LATER)[1]
    assert [news.kind for news in first] == [AlertKind.BLOCK], "it fails at the first run after the mute"


def test_red_jobs_of_verdicts() -> None:
    job = make_job("net", "onnxruntime", "verify")
    nan = make_comparison(findings=(Finding("nan", "scores"),))
    result = make_result("net", "onnxruntime", "verify", outcome=Outcome.MISMATCH, comparisons=(nan,))
    fail = Verdict(VerdictStatus.FAIL, "output 'scores' has NaN", job.key)
    (red_job,), passed = red_jobs([fail, Verdict(VerdictStatus.PASS, "", "b|f|verify")], [result], [job], "assay check")
    assert (red_job.kind, red_job.short, red_job.backend) == (AlertKind.BLOCK, "mismatch", "onnxruntime")
    assert passed == {"b|f|verify", run_key("assay check")}
    crash = make_result("net", "onnxruntime", "verify", outcome=Outcome.CRASH, signal="SIGSEGV")
    (other,), _ = red_jobs([fail], [crash], [job], "assay check")
    assert other.symptom != red_job.symptom
    ok = make_result("net", "onnxruntime", "verify")
    open_ = Verdict(
        VerdictStatus.INCONCLUSIVE, f"not comparable: the artifact is gone ({'/a' * 40}); restore it", job.key
    )
    (gone,), _ = red_jobs([open_], [ok], [job], "")
    assert (gone.kind, gone.short) == (AlertKind.INCONCLUSIVE, "not comparable: the artifact is gone ...")
    rule = Verdict(VerdictStatus.FAIL, "flow 'x' executed 3 of at least 4 cases")
    (whole,), _ = red_jobs([rule], [], [], "assay run s")
    assert whole.key == run_key("assay run s")


def _symptom(reason: str, result: Result) -> str:
    (red_job,), _ = red_jobs([Verdict(VerdictStatus.INCONCLUSIVE, reason, result.job_key)], [result], [], "")
    return red_job.symptom


def test_no_word_of_a_reason_makes_another_cause() -> None:
    ok = make_result("net", "onnxruntime", "verify")
    asked = "agrees with onnxruntime-disable; nobody else could be asked"
    assert _symptom(f"{asked} (openvino: no module)", ok) == _symptom(f"{asked} (torch-eager: timeout)", ok)
    assert _symptom("1,093 of 2,000 calls", ok) == _symptom("node conv7 differs", ok)
    jobs = [replace(ok, case=case, job_key=f"{case}|onnxruntime|verify") for case in ("a", "b")]
    open_ = [Verdict(VerdictStatus.INCONCLUSIVE, f"{job.case}: seen", job.job_key) for job in jobs]
    red_, _ = red_jobs(open_, jobs, [make_job(case, "onnxruntime", "verify") for case in ("a", "b")], "")
    assert len(causes(red_)) == 1, "one cause is one alert"


def _raised(exception: str, error: str) -> Note:
    return noted(NoteCode.RAISED, exception=exception, stage="lower", error=error)


def test_codes_make_another_cause() -> None:
    ok = make_result("net", "onnxruntime", "verify")
    unproven = replace(ok, outcome=Outcome.MISTRUSTED, unproven=noted(NoteCode.NO_REFERENCE, error="x"))
    no_tolerance = replace(unproven, unproven=noted(NoteCode.NO_TOLERANCE, error="x"))
    own = Reference(ReferenceKind.ORACLE, "onnxruntime-disable", library="onnxruntime", engine="onnxruntime")
    itself = replace(ok, reference=own, comparisons=(make_comparison(),))
    measured = make_result("net", "onnxruntime", "measure")
    error = replace(ok, outcome=Outcome.ERROR, stage=Stage.LOWER, ended=_raised("KeyError", "no kernel for 'x1'"))
    other = replace(error, ended=_raised("TypeError", "no kernel for 'x1'"))
    symptoms = [_symptom("why", result) for result in (ok, unproven, no_tolerance, itself, measured, error, other)]
    assert len(set(symptoms)) == len(symptoms)
    renamed = replace(error, detail="no kernel", ended=_raised("KeyError", "no kernel for 'other', 17"))
    assert _symptom("why", renamed) == symptoms[-2], "nor does a word of the library"
