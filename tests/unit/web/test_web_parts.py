"""The parts that pages are made from, by themselves."""

from __future__ import annotations

import gc
import threading

import pytest

from assay.errors import UsageError
from assay.web.answer import page_number
from assay.web.format import moment, when
from assay.web.hosts import known_hosts
from assay.web.responses import _inert, environment
from assay.web.serve import _load_ahead
from assay.web.site import Cache
from assay.web.trend_plot import day_labels


def test_of_many_that_ask_at_once_one_computes() -> None:
    made: list[int] = []
    cache, start = Cache(60.0), threading.Barrier(8)

    def ask() -> None:
        start.wait()
        assert cache.get("key", lambda: made.append(1) or len(made)) == 1

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_a_cache_forgets_the_oldest_and_what_is_old() -> None:
    cache = Cache(60.0, most=2)
    for key in "abc":
        cache.get(key, lambda key=key: key)
    assert cache.get("c", lambda: "again") == "c"
    assert cache.get("a", lambda: "again") == "again"
    assert Cache(0.0).get("a", lambda: 1) == 1


def test_who_waits_takes_what_was_made_meanwhile_however_long_it_took() -> None:
    cache = Cache(0.0)
    first, second = cache.ask("a"), cache.ask("a")
    assert (first[1], second[1]) == (True, False)
    cache.fill("a", lambda: 1)
    assert [outcome.result(0) for outcome, _ in (first, second)] == [1, 1]
    third, fails = cache.ask("a")
    assert fails, "it is good for no longer"
    other, _ = cache.ask("a")
    cache.fill("a", lambda: 1 / 0)
    assert [type(future.exception(0)) for future in (third, other)] == [ZeroDivisionError] * 2


def test_what_fails_is_not_kept() -> None:
    cache = Cache(60.0)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 / 0)
    assert cache.get("a", lambda: 2.0) == 2.0


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "²", "9" * 30, "1000001"])
def test_a_page_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="whole number"):
        page_number(text)


def test_all_interfaces_are_no_name() -> None:
    assert "0.0.0.0" not in known_hosts("0.0.0.0", ["assay.example"])
    assert {"assay.example", "localhost"} <= known_hosts("0.0.0.0", ["assay.example"])


def test_times_are_read_from_where_they_stand() -> None:
    assert when("20261121T141905-3fa2b1") == "2026-11-21 14:19"
    assert when("nightly") == "nightly"
    assert moment("2026-11-21T14:19:06+02:00") == "2026-11-21 12:19 UTC"
    assert moment("soon") == "soon"


@pytest.mark.parametrize(("given", "written"), [("=1+1", "'=1+1"), ("a\nb", "a b"), (-1.5, -1.5), ("-x", "'-x")])
def test_a_spreadsheet_runs_nothing(given: object, written: object) -> None:
    assert _inert(given) == written


@pytest.mark.heavy
def test_what_is_loaded_ahead_is_not_searched_for_cycles_again() -> None:
    gc.unfreeze()
    _load_ahead()
    try:
        assert gc.get_freeze_count() > len(environment().list_templates())
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(
    ("first", "last", "ends"),
    [
        ("2026-11-21T02:15:00+00:00", "2026-11-28T17:21:10+00:00", ("2026-11-21", "2026-11-28")),
        ("2026-11-28T08:15:00+00:00", "2026-11-28T17:21:10+00:00", ("2026-11-28 08:15", "17:21")),
        ("2026-11-28", "2026-11-28", ("2026-11-28", "2026-11-28")),
    ],
)
def test_a_plot_of_one_day_has_its_minutes(first: str, last: str, ends: tuple[str, str]) -> None:
    assert day_labels(first, last) == ends
