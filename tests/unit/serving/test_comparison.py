"""Two services of known speed: slower is found, the same is called so, and what nobody can decide stays open."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from assay.commands.composition import open_services
from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import LoadJob
from assay.core.load import ServiceComparison
from assay.core.model import Model
from assay.core.policy import Goal, Policy
from assay.core.service import Service
from assay.core.speed import SpeedRule, interim_looks
from assay.core.verdict import VerdictStatus
from assay.errors import EndpointFailed, UsageError
from assay.judge.load_metrics import load_metrics
from assay.judge.service_speed import judged_comparison
from assay.pipeline.record_load import load_policy_of, load_result, record_load
from assay.serving.comparison import Comparison, compare_services
from assay.serving.load_generator import Load, Sent
from assay.serving.started import Started, _trouble, started
from http_server import Handler, serving

RULE = SpeedRule(min_slowdown=0.05, margin=0.1, looks=interim_looks(20))
OLD, NEW = Service("old", "http://127.0.0.1:1/v1"), Service("new", "http://127.0.0.1:2/v1")
_BODY = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
_TOKEN = b'data: {"choices": [{"text": "a"}]}\n'


def compared(
    factor: float, spread: float, seed: int = 1, failing: int = 0, tokens: int = 2, ends: Service | None = None
) -> Comparison:
    """`factor` slower, each block off by `spread`, each process by as much. The new one fails `failing` of five requests,
    and gives `tokens` in each answer. `ends` is gone in the fourth pair."""
    draw = random.Random(seed)
    process: dict[tuple[str, int], float] = {}

    def block(running: Started, service: Service, number: int) -> Load:
        if number >= 6 and service is ends:
            raise EndpointFailed(f"service {service.name!r} ended with 9 under the load: out of memory")
        own = process.setdefault((service.name, number // 2), draw.gauss(0, spread))
        size = 0.05 * (factor if service is NEW else 1.0) * 2.718 ** (own + draw.gauss(0, spread))
        sent = []
        for at in range(5):
            first, last = at + size, at + 2 * size
            done = _BODY + _TOKEN
            rest = _TOKEN * (tokens - 1 if service is NEW else 1)
            parts = [(first, done), (last, rest + b"data: [DONE]\n")]
            sent.append(
                Sent(float(at), float(at), parts, last, "connection lost" if at < failing and service is NEW else "")
            )
        return Load(sent, 0.0, 5.0)

    return compare_services(OLD, NEW, block, rule=RULE, objectives={"ttft": 60.0}, seed=seed)


def test_a_tenth_slower_is_found() -> None:
    comparison = compared(1.10, 0.01)
    assert comparison.word == "slower"
    assert comparison.answers["ttft_p50"].word == "slower"
    assert comparison.new["ttft_p50"] > comparison.old["ttft_p50"]


def test_the_first_figure_that_is_slower_ends_it() -> None:
    """Also where another one would stay open until the last look."""
    comparison = compared(1.3, 0.08)
    assert comparison.word == "slower"
    assert "inconclusive" in [answer.word for answer in comparison.answers.values()]
    assert len(comparison.pairs) < RULE.looks[-1]


def test_the_same_is_the_same() -> None:
    assert compared(1.0, 0.01).word in ("same", "inconclusive")
    assert compared(1.0, 0.01).answers["ttft_p50"].word == "same"


def test_what_is_too_restless_stays_open() -> None:
    assert compared(1.03, 0.4).word == "inconclusive"


def test_equal_services_are_not_called_slower() -> None:
    assert [seed for seed in range(4) if compared(1.0, 0.1, seed).word == "slower"] == []


@pytest.mark.slow
def test_equal_services_are_called_slower_in_none_of_five_hundred() -> None:
    assert [seed for seed in range(500) if compared(1.0, 0.1, seed).word == "slower"] == []


@pytest.mark.parametrize(
    ("made", "word"),
    [
        (lambda: compared(1.2, 0.01), VerdictStatus.FAIL),
        (lambda: compared(1.0, 0.01), VerdictStatus.PASS),
        (lambda: compared(0.8, 0.01, failing=2), VerdictStatus.FAIL),
        (lambda: compared(0.8, 0.01, tokens=1), VerdictStatus.INCONCLUSIVE),
    ],
)
def test_what_the_history_keeps_is_judged_as_it_was(made: Callable[[], Comparison], word: VerdictStatus) -> None:
    comparison = made()
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(comparison.recorded("old")), type=ServiceComparison)
    judged, reasons = judged_comparison(kept, RULE)
    assert judged is word
    assert word is not VerdictStatus.PASS or comparison.word == "same"
    assert len(reasons) >= 1 + len(comparison.answers)


def test_a_comparison_is_a_run_that_a_policy_judges(tmp_path: Path) -> None:
    job = LoadJob(Case("tiny", Model("tiny", "", "")), Flow(name="new", backend="openai"), rule=RULE)
    result = load_result(job, against=compared(1.03, 0.002).recorded("old"))
    metrics = load_metrics(result)
    assert metrics["load.slowdown.ttft_p50_percent"] == pytest.approx(3.0, abs=0.5)

    def word(limit: float) -> VerdictStatus:
        policy = Policy(goals=(Goal("load.slowdown.ttft_p50_percent", max=limit), Goal("load.rate5.errors", max=0.0)))
        with open_services(str(tmp_path / ".assay"), workers=1) as services:
            return record_load(
                job, result, load_policy_of(policy, (), ()), "assay load", "", services
            ).judgement.run.word

    assert word(4.0) is VerdictStatus.PASS
    assert word(2.0) is VerdictStatus.FAIL


def test_sides_are_swapped_as_often_as_not() -> None:
    firsts = [pair.new_first for pair in compared(1.03, 0.4).pairs]
    assert len(firsts) == 20
    assert sum(firsts) == 10


def test_a_service_that_fails_is_not_timed() -> None:
    comparison = compared(1.0, 0.01, failing=5)
    assert (comparison.word, comparison.new_ended) == ("inconclusive", True)
    assert comparison.ended == "service 'new' failed 5 of 5 requests: connection lost"
    word, reasons = judged_comparison(comparison.recorded("old"), RULE)
    assert word is VerdictStatus.FAIL
    assert reasons[0] == "not compared with old: the new one ended, or answered too little, after 0 restarts of both"


@pytest.mark.parametrize("seed", range(4))
def test_two_that_fail_alike_are_inconclusive_whichever_is_asked_first(seed: int) -> None:
    def block(running: Started, service: Service, number: int) -> Load:
        return Load([Sent(0.0, 0.0, [], 0.1, "status 404")], 0.0, 1.0)

    comparison = compare_services(OLD, NEW, block, rule=RULE, objectives={}, seed=seed)
    assert (comparison.old_ended, comparison.new_ended) == (True, True)
    said = "service {!r} failed 1 of 1 requests: status 404"
    assert comparison.ended == "; ".join(map(said.format, ("old", "new")))
    word, reasons = judged_comparison(comparison.recorded("old"), RULE)
    assert word is VerdictStatus.INCONCLUSIVE
    assert "both ended" in reasons[0]


def test_what_was_measured_before_a_service_ends_is_kept() -> None:
    for ends, word in ((NEW, VerdictStatus.FAIL), (OLD, VerdictStatus.INCONCLUSIVE)):
        comparison = compared(1.0, 0.2, ends=ends)
        assert comparison.ended == f"service {ends.name!r} ended with 9 under the load: out of memory"
        assert len(comparison.pairs) == 3
        assert judged_comparison(comparison.recorded("old"), RULE)[0] is word


def test_one_that_fails_more_is_slower() -> None:
    comparison = compared(0.8, 0.01, failing=2)
    assert comparison.failed[0] == 0
    assert comparison.failed[1] == 2 * comparison.sent // 5
    assert comparison.word == "slower"


def test_shorter_answers_are_no_faster_ones() -> None:
    comparison = compared(0.8, 0.01, tokens=1)
    assert comparison.word == "inconclusive"
    assert [*comparison.troubles] == ["answers of the old and of the new differ in length: 2 and 1 tokens each"]
    assert len(comparison.pairs) == RULE.looks[0]


def _service(code: str) -> Service:
    return Service("own", "http://127.0.0.1:9/v1", start=f'{sys.executable} -c "{code}"', ready_s=60.0)


def test_one_that_ends_at_once_says_why() -> None:
    with (
        pytest.raises(EndpointFailed, match="ended with 3 before it answered: no weights"),
        started(_service("print('no weights'); raise SystemExit(3)")),
    ):
        pass


def test_one_that_is_started_is_told_to_send_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    with (
        pytest.raises(EndpointFailed, match="before it answered: not tracked: 1"),
        started(_service("import os; print('not tracked:', os.environ.get('DO_NOT_TRACK'))")),
    ):
        pass


def test_one_that_never_answers_is_ended() -> None:
    service = msgspec.structs.replace(_service("import time; time.sleep(60)"), ready_s=0.3)
    with (
        pytest.raises(EndpointFailed, match=r"did not answer at http://127\.0\.0\.1:9/v1/models in 0\.3 s"),
        started(service),
    ):
        pass


def test_a_command_that_is_none() -> None:
    service = Service("own", "http://127.0.0.1:9/v1", start="/no/such/program")
    with pytest.raises(UsageError, match="cannot be started"), started(service):
        pass


def test_another_one_that_answers_there_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.serving.started._LEFT_S", 0.05)
    with _listening("") as address:
        service = msgspec.structs.replace(_service("import time; time.sleep(60)"), url=address)
        with pytest.raises(UsageError, match="answers before service 'own' is started"), started(service):
            pass


def test_health_is_asked_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ENDPOINT_KEY", "sk-a-secret-word")
    with _listening("Bearer sk-a-secret-word") as address:
        assert _trouble(f"{address}/models") == ""
        monkeypatch.setenv("ASSAY_ENDPOINT_KEY", "another")
        assert _trouble(f"{address}/models") == "status 401"


@contextmanager
def _listening(key: str) -> Iterator[str]:
    """A server that answers 200 to who sends this, and 401 to others."""

    class Keyed(Handler):
        def do_GET(self) -> None:
            self.answer(200 if self.headers.get("Authorization", "") == key else 401)

    with serving(Keyed) as address:
        yield f"{address}/v1"
