"""Why a target was not reached, in one sentence of a library that writes several."""

from __future__ import annotations

from assay.alerts.send import LONGEST, _shortened

WRAPPED = (
    "A Connection error occurred sending JSON notification to 127.0.0.1.; Socket Exception: HTTPConnectionPool(host='127.0.0.1', port=9): "
    "Max retries exceeded with url: /hook (Caused by NewConnectionError(\"HTTPConnection(host='127.0.0.1', port=9): Failed to establish a "
    'new connection: [Errno 111] Connection refused"))'
)


def test_what_the_system_said_is_told_without_what_wraps_it() -> None:
    told = _shortened(WRAPPED)
    assert told == "A Connection error occurred sending JSON notification to 127.0.0.1: [Errno 111] Connection refused"


def test_a_short_reason_stays_as_it_is_and_a_long_one_keeps_its_ends() -> None:
    assert _shortened("[Errno 111] Connection refused; again") == "[Errno 111] Connection refused; again"
    told = _shortened("a" * LONGEST + "b" * LONGEST)
    assert told == f"{'a' * (LONGEST // 2)} ... {'b' * (LONGEST // 2)}"
