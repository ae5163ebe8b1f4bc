"""The state of a job over time, and the words of a judgement by job."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.msgpack import Decoder
from sqlalchemy import Connection, create_engine, insert, select

from assay.core.outcome import Outcome
from assay.core.result import AnyResult, Result, VerifyResult
from assay.core.run import Run
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.stores.encoded_result import encode, pack, unpack
from assay.stores.errors import describe
from assay.stores.history_tables import case_state, metadata, runs
from assay.stores.ingest import add_results, statuses_by_job
from assay.stores.metric_values import constant_numbers
from assay.testing.builders import make_result
from assay.testing.standard_run import standard_run

OUTCOMES = st.lists(st.sampled_from([Outcome.OK, Outcome.MISMATCH, Outcome.CRASH]), min_size=1)


@contextmanager
def _empty() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.begin() as connection:
        yield connection


def _add(connection: Connection, run: int, result: Result) -> None:
    """Ids of runs go up with their numbers."""
    row = {
        "number": run,
        "id": f"{run:09}",
        **dict.fromkeys(("started_at", "status", "command", "commit", "branch", "machine"), ""),
    }
    connection.execute(insert(runs), row)
    arrived, wanted = encode([result])
    add_results(connection, run, arrived, constant_numbers(connection, wanted))


def _state(connection: Connection) -> Any:
    return connection.execute(select(case_state)).one()


@pytest.mark.heavy
@settings(max_examples=30, deadline=None)
@given(OUTCOMES)
def test_the_state_is_what_the_whole_past_says(outcomes: list[Outcome]) -> None:
    with _empty() as connection:
        for run, outcome in enumerate(outcomes):
            _add(connection, run, make_result(outcome=outcome))
        state = _state(connection)
    last = len(outcomes) - 1
    changes = [run for run in range(1, len(outcomes)) if outcomes[run] != outcomes[run - 1]]
    assert state.since == (changes[-1] if changes else 0)
    assert state.streak == last - state.since + 1
    assert (state.run, state.outcome) == (last, outcomes[-1].value)
    good = [run for run, outcome in enumerate(outcomes) if outcome is Outcome.OK]
    assert state.last_ok == (good[-1] if good else None)


def test_an_older_run_changes_no_state() -> None:
    with _empty() as connection:
        _add(connection, 5, make_result())
        _add(connection, 4, make_result(outcome=Outcome.CRASH))
        assert (_state(connection).run, _state(connection).outcome) == (5, "ok")


def test_the_worst_word_of_a_job_counts() -> None:
    words = [VerdictStatus.PASS, VerdictStatus.INCONCLUSIVE, VerdictStatus.FAIL, VerdictStatus.SKIP]
    verdicts = (
        *(Verdict(word, "", "a") for word in words),
        Verdict(VerdictStatus.XFAIL, "", "b"),
        Verdict(VerdictStatus.ERROR, "the run"),
    )
    judgement = RunVerdict(verdicts, Verdict(VerdictStatus.FAIL, ""), 1)
    assert statuses_by_job(judgement) == {"a": VerdictStatus.FAIL, "b": VerdictStatus.XFAIL}


def test_every_word_has_a_rank() -> None:
    for word in VerdictStatus:
        both = RunVerdict((Verdict(word, "", "a"), Verdict(VerdictStatus.PASS, "", "a")), Verdict(word, ""), 0)
        assert statuses_by_job(both) == {"a": word}


def test_values_survive_packing() -> None:
    run, results, _ = standard_run()
    assert unpack(pack(run), Decoder(Run)) == run
    for result in results:
        assert unpack(pack(result), Decoder(AnyResult)) == result
    odd = make_result(task_metrics={"nan": math.nan, "low": -math.inf, "small": 5e-324})
    back = unpack(pack(odd), Decoder(VerifyResult)).task_metrics
    assert math.isnan(back["nan"])
    assert (back["low"], back["small"]) == (-math.inf, 5e-324)


def test_words_nobody_expected_stay_one_line() -> None:
    said = describe("h.db", "first line\n  second line\n")
    assert said == (
        "h.db cannot be read or written (first line second line): check that the database is there and that you may use it"
    )


@pytest.mark.parametrize(
    "words",
    [
        'could not extend file "base/16384/16550": No space left on device\nHINT:  Check free disk space.',
        'connection failed: connection to server at "127.0.0.1", port 42151 failed: FATAL:  could not write init file',
    ],
)
def test_a_full_disk_of_a_server_is_called_so(words: str) -> None:
    said = describe("p", words)
    assert said.startswith("p cannot grow, the disk is full: free some space and resume the run")
