"""What a session tells: known causes are counted, not shown."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.screening import CaseId, Suspect
from assay.fuzz.corpus import Arm, Bucket, Session, Waiting
from assay.fuzz.fuzz_text import coverage_lines, curve_lines, lines, looking_text, screening_text


def _bucket(key: str, known: str = "") -> Bucket:
    return Bucket(
        key,
        "flow",
        "engine",
        "values",
        "wrong",
        ("Neg",),
        title=f"engine: {key}",
        count=3,
        known=known,
        generator="sweep",
    )


def test_known_causes_are_counted_and_not_shown() -> None:
    session = Session(seed=7, buckets={"a": _bucket("a"), "b": _bucket("b", "docs/findings/b.py")})
    text = "\n".join(lines(session, set()))
    assert "wrong: 1 (wrong by two witnesses)" in text
    assert "known: 1 (found before; counted, not shown)\n  docs/findings/b.py, 3 cases" in text
    assert "engine: b" not in text
    assert "0 run, 1 cause" in text


def test_what_waits_is_shown_and_is_no_cause() -> None:
    suspect = Suspect(CaseId("sweep", 3, 7, 5), "values", ("Erf@13", "Neg@13"))
    ended = Suspect(CaseId("sweep", 3, 7, 6), "crash")
    session = Session(seed=7, waiting=[Waiting("flow", suspect), *[Waiting("flow", ended)] * 9])
    text = "\n".join(lines(session, set()))
    assert "waiting: 10 suspects (not compared yet; the next call goes on with them)" in text
    assert "  flow: Erf+Neg, values (case sweep-3-7-5)\n  flow: crash (case sweep-3-7-6)" in text
    assert "  and 2 more" in text
    assert "0 causes" in text


def test_what_goes_on_says_how_far_it_is() -> None:
    arm = Arm("sweep", 1, "mnn-f32", cases=249)
    session = Session(seed=7, arms={arm.name: arm}, buckets={"a": _bucket("a")})
    assert screening_text(session, [arm]) == "249 cases, 1 cause; screening sweep on mnn-f32"
    assert looking_text(session, ["mnn-f32"] * 2) == "249 cases, 1 cause; looking into 2 suspects on mnn-f32"


def test_of_what_an_engine_said_the_end_is_shown() -> None:
    said = f"Status Message: {'a/' * 300}lrn.cc:61 X->Shape().NumDimensions() == 4 was false"
    failed = replace(_bucket("a"), status="failed", detail=said)
    told_lines = [*lines(Session(seed=7, buckets={"a": failed}), set())]
    assert any(line.endswith("lrn.cc:61 X->Shape().NumDimensions() == 4 was false") for line in told_lines)
    assert max(map(len, told_lines)) < 320


def test_the_curve_has_each_cause_with_the_hours_before_it() -> None:
    late, early, known = _bucket("late"), _bucket("early"), _bucket("known", "docs/findings/b.py")
    one_witness = replace(_bucket("open"), status="one_witness")
    buckets = {bucket.key: bucket for bucket in (replace(late, at=5400.0), replace(early, at=36.0), known, one_witness)}
    session = Session(seed=7, buckets=buckets, processor_s=7200.0)
    assert [*curve_lines(session)] == [
        "causes over hours of processor time:",
        "  0.01 h: 1, engine: early (sweep on flow)",
        "  1.50 h: 2, engine: late (sweep on flow)",
    ]
    assert "  2.00 hours of processor time in all: 1 cause an hour" in lines(session, set())
    rare = replace(session, processor_s=25 * 3600.0, buckets={"early": early})
    assert "  25.00 hours of processor time in all: 0.04 causes an hour" in lines(rare, set())
    soon = replace(session, processor_s=72.0)
    assert "  0.02 hours of processor time in all" in lines(soon, set())
    assert [*curve_lines(Session(seed=7))] == []


def test_coverage_says_what_was_refused_and_what_was_never_reached() -> None:
    seen = {"Neg@13 float32 2": 3, "Neg@13 float32 1": 1, "Conv@11 float32 4": 2, "Conv@11 .auto_pad=VALID": 1}
    refused = {"Det@11 Unsupported": 4, "Neg@13 Unsupported": 1, "Shrink@9 converted": 2}
    session = Session(seed=7, seen={"flow": seen}, refused={"flow": refused})
    first, *more = coverage_lines(session, {"Neg@13", "Conv@11", "Det@11", "Mish@18", "Gelu@20", "Shrink@9"})
    assert (
        first
        == "coverage on flow: 2 operators, 2 of 6 of their forms by opset, 3 forms by type and rank, 1 by attribute"
    )
    assert more == [
        "  wrong before it is compiled, by the conversion or by torch itself: Shrink@9",
        "  always refused: Det@11",
        "  never reached: Gelu@20, Mish@18",
    ]
    assert next(coverage_lines(session)).startswith("coverage on flow: 2 operators, 2 of their forms")


def test_coverage_says_how_a_compiler_changed_graphs() -> None:
    fired = {"": 5, "Conv+Relu > FusedConv": 3, "Identity > nothing": 1}
    page = [*coverage_lines(Session(seed=7, seen={"flow": {"Neg@13 float32 2": 3}}, fired={"flow": fired}))]
    assert page[1].startswith(
        "  graphs before and after its compiler: 4 of 9 that were looked into are changed, in 2 ways; "
    )
    assert page[1].endswith("; most often Conv+Relu > FusedConv (3), Identity > nothing (1)")


def test_a_flow_that_refused_all_is_named() -> None:
    """No cause where nothing was run looks like a sound backend."""
    arms = {arm.name: arm for arm in (Arm("sweep", 1, "old", cases=9), Arm("sweep", 1, "new", cases=9))}
    counts = {"sweep on old": {"refused": 7, "not_made": 2}, "sweep on new": {"refused": 7, "right": 2}}
    shown = [line for line in lines(Session(seed=7, arms=arms, counts=counts), set()) if "NOTHING" in line]
    assert shown == [
        "  NOTHING WAS RUN on old: it refused all of 7 cases; `assay check MODEL --flow old` says why it refuses one"
    ]
