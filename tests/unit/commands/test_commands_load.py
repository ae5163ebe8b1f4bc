"""What `assay load` makes of figures, and which words of a user it refuses before it measures."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from assay.commands.load import run_load
from assay.commands.load_limits import judged
from assay.commands.load_sweep import combinations, label, with_differing, with_values
from assay.core.service import Service
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.options.load import LoadOptions
from assay.serving.load_summary import LoadSummary
from assay.serving.rising_load import Curve, curve

FAST = {"requests": 100.0, "errors": 0.0, "ttft_p50_ms": 10.0, "sender_late_p99_ms": 1.0}
LIMIT = ("ttft_p50_ms", "<=", 20.0)
JUDGED = {
    "all are answered": ({}, [LIMIT], VerdictStatus.PASS),
    "most failed": ({"errors": 60.0}, [LIMIT, ("errors", "<=", 80.0)], VerdictStatus.FAIL),
    "one failed": ({"errors": 1.0}, [LIMIT], VerdictStatus.FAIL),
    "one failed, and nothing is required": ({"errors": 1.0}, [], VerdictStatus.FAIL),
    "one failed, as allowed": ({"errors": 1.0}, [LIMIT, ("errors", "<=", 2.0)], VerdictStatus.PASS),
    "the sender was late": ({"sender_late_p99_ms": 50.0, "ttft_p50_ms": 90.0}, [LIMIT], VerdictStatus.INCONCLUSIVE),
    "no number": ({"ttft_p50_ms": math.nan}, [LIMIT], VerdictStatus.INCONCLUSIVE),
    "invalid": ({"valid": 0.0}, [], VerdictStatus.INCONCLUSIVE),
    "too slow": ({"ttft_p50_ms": 30.0}, [LIMIT], VerdictStatus.FAIL),
}


@pytest.mark.parametrize("what", JUDGED)
def test_a_point_is_judged(what: str) -> None:
    metrics, limits, word = JUDGED[what]
    assert judged(Curve(((10.0, LoadSummary(FAST | metrics)),), None), limits)[0] is word


def test_rates_beyond_one_that_most_failed_are_named() -> None:
    measured = curve([30, 10, 20], lambda rate: LoadSummary(FAST | {"errors": 60.0 if rate == 20 else 0.0}))
    assert measured.skipped == (30,)
    assert any("not measured" in sentence and "30 a second" in sentence for sentence in judged(measured, [])[1])


REFUSED = {
    "two rates": ({"service": "new", "against": "old", "rates": (1, 2)}, "one --rate is measured, and there are 2"),
    "a limit": ({"service": "new", "against": "old", "require": ("errors <= 0",)}, "the comparison decides"),
    "no number": ({"require": ("ttft_p50_ms <= 1.2.3",)}, "is not FIGURE <= NUMBER"),
    "no port": ({"address": "http://127.0.0.1:99999/v1"}, "is no address of a service"),
    "a sweep of an address": ({"address": "http://127.0.0.1:9/v1", "vary": ("batch=1",)}, "give --service NAME"),
    "restarts of an address": ({"address": "http://127.0.0.1:9/v1", "restarts": 2}, "give --service NAME"),
    "restarts of two": ({"service": "new", "against": "old", "restarts": 2}, "neither --against nor --vary"),
    "no folder": ({"address": "http://127.0.0.1:9/v1", "output": Path("/no/such/file.json")}, "its folder is missing"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_meant_is_refused(what: str) -> None:
    options, sentence = REFUSED[what]
    with pytest.raises(UsageError, match=sentence):
        run_load(LoadOptions(**options))


def test_what_was_measured_before_a_service_ends_is_kept() -> None:
    gone = "service 'chat' ended with -9 under the load: out of memory"
    measured = curve([5, 7, 9], lambda rate: LoadSummary(FAST, ended=gone if rate == 7 else ""))
    assert [rate for rate, _ in measured.points] == [5, 7]
    word, reasons = judged(measured, [])
    assert word is VerdictStatus.FAIL
    assert reasons == (
        f"at 7 a second: {gone}",
        "not measured, since the service ended at a lower rate: 9 a second",
    )


CHAT = Service("chat", "http://127.0.0.1:9/v1", "serve --batch {batch} --delay {delay}")


def test_combinations_of_a_sweep() -> None:
    combined = combinations(["batch=1,4", "delay=0"])
    assert [label(combination) for combination in combined] == ["batch=1 delay=0", "batch=4 delay=0"]
    assert with_values(CHAT, combined[1]).start == "serve --batch 4 --delay 0"


@pytest.mark.parametrize("texts", [["batch"], ["batch="], ["batch=1", "batch=2"], ["1=2"]])
def test_a_sweep_that_is_none(texts: list[str]) -> None:
    with pytest.raises(UsageError, match="is not NAME=VALUE,VALUE"):
        combinations(texts)


def test_a_sweep_too_large_and_a_name_without_a_place() -> None:
    with pytest.raises(UsageError, match="asks for 65 combinations"):
        combinations([f"batch={','.join(map(str, range(65)))}"])
    with pytest.raises(UsageError, match=r"start of \[service.chat\] has no \{port\}"):
        with_values(CHAT, {"port": "1"})


def test_answers_that_a_batch_changes_are_counted() -> None:
    first, other = (
        Curve(((5.0, LoadSummary(FAST, texts=texts)),), None)
        for texts in (("a", "b", None, None, "e"), ("a", "c", "d", "", None))
    )
    assert with_differing(other, first).points[0][1].metrics["answers_differ"] == 0.5
    assert "answers_differ" not in with_differing(other, Curve((), None)).points[0][1].metrics


def test_an_answer_that_became_empty_is_another_answer() -> None:
    first, other = (
        Curve(((5.0, LoadSummary(FAST, texts=texts)),), None) for texts in (("a", "b", "", None), ("a", "", "", ""))
    )
    assert with_differing(other, first).points[0][1].metrics["answers_differ"] == pytest.approx(1 / 3)
