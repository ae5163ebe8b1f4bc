"""What is kept of texts that differ."""

from __future__ import annotations

from assay.worker.service.broken_rule import broken


def _kept(expected: str, actual: str) -> tuple[object, object]:
    facts = broken("text", expected, actual).facts
    return facts["expected"], facts["actual"]


def test_short_texts_are_kept_and_of_long_ones_what_differs() -> None:
    assert _kept("one two", "one") == ("one two", "one")
    expected, actual = _kept("a" * 9000 + "b", "a" * 9000 + "c" * 9000)
    assert expected == "…" + "a" * 40 + "b"
    assert actual == "…" + "a" * 40 + "c" * 80 + "…"
    assert _kept("", "x" * 500) == ("", "x" * 120 + "…")
