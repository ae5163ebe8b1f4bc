"""What a session tells: known causes are counted, not shown."""

from __future__ import annotations

from assay.fuzz.corpus import Bucket, Session
from assay.fuzz.text import lines


def _bucket(key: str, known: str = "") -> Bucket:
    return Bucket(key, "flow", "engine", "values", "wrong", ("Neg",), title=f"engine: {key}", count=3, known=known)


def test_known_causes_are_counted_and_not_shown() -> None:
    session = Session(seed=7, buckets={"a": _bucket("a"), "b": _bucket("b", "docs/findings/b.py")})
    told = "\n".join(lines(session, set()))
    assert "wrong: 1 (wrong by two witnesses)" in told
    assert "known: 1 (found before; counted, not shown)\n  docs/findings/b.py, 3 cases" in told
    assert "engine: b" not in told
    assert "0 run, 1 causes" in told
