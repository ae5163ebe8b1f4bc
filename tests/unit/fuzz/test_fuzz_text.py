"""What a session tells: known causes are counted, not shown."""

from __future__ import annotations

from assay.fuzz.corpus import Bucket, Session
from assay.fuzz.text import coverage_lines, lines


def _bucket(key: str, known: str = "") -> Bucket:
    return Bucket(key, "flow", "engine", "values", "wrong", ("Neg",), title=f"engine: {key}", count=3, known=known)


def test_known_causes_are_counted_and_not_shown() -> None:
    session = Session(seed=7, buckets={"a": _bucket("a"), "b": _bucket("b", "docs/findings/b.py")})
    told = "\n".join(lines(session, set()))
    assert "wrong: 1 (wrong by two witnesses)" in told
    assert "known: 1 (found before; counted, not shown)\n  docs/findings/b.py, 3 cases" in told
    assert "engine: b" not in told
    assert "0 run, 1 cause" in told


def test_coverage_says_what_was_refused_and_what_was_never_reached() -> None:
    seen = {"Neg@13 float32 2": 3, "Neg@13 float32 1": 1, "Conv@11 float32 4": 2, "Conv@11 .auto_pad=VALID": 1}
    session = Session(seed=7, seen={"flow": seen}, refused={"flow": {"Det@11 Unsupported": 4, "Neg@13 Unsupported": 1}})
    first, *more = coverage_lines(session, {"Neg@13", "Conv@11", "Det@11", "Mish@18", "Gelu@20"})
    assert (
        first
        == "coverage on flow: 2 operators, 2 of 5 of their forms by opset, 3 forms by type and rank, 1 by attribute"
    )
    assert more == ["  always refused: Det@11", "  never reached: Gelu@20, Mish@18"]
    assert next(coverage_lines(session)).startswith("coverage on flow: 2 operators, 2 of their forms")
