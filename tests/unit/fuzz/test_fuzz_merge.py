"""What a suspect is held against: known defects, and buckets that prove something. A bucket that is confirmed later becomes the cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

import assay.fuzz.session
from assay.commands.composition import open_services
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.core.screening import ANY_OPERATOR, CaseId, Suspect, Unspecified, Use
from assay.errors import UsageError
from assay.fuzz.corpus import CAUSES, Arm, Bucket, Corpus, Session, Waiting
from assay.fuzz.look import Look, status_of
from assay.fuzz.next_cases import screen_job
from assay.fuzz.session import LOOKS, Fuzzing
from assay.fuzz.suspect_signature import signature
from assay.pipeline.adapters import Services

FLOW = Flow(name="faulty", backend="faulty")
SUSPECT = Suspect(CaseId("sweep", 3, 7, 9), "values", ("Neg@13",), ablated={"inputs": True})
WAITING = Waiting(FLOW.name, SUSPECT)
ARM = Arm("sweep", 3, FLOW.name)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with open_services(str(tmp_path / "history"), workers=1) as opened:
        yield opened


def _bucket(key: str, status: str, **changed: object) -> Bucket:
    plain = Bucket(
        key, FLOW.name, FLOW.backend, "values", status, ("Neg",), title=f"by {key}", ablated={"inputs": True}
    )
    return replace(plain, **changed)


def _session(*buckets: Bucket) -> Session:
    return Session(seed=7, arms={ARM.name: ARM}, buckets={bucket.key: bucket for bucket in buckets})


@pytest.mark.parametrize(
    ("status", "known", "due"),
    [
        *((status, "", True) for status in (*CAUSES, "one_witness")),
        *(
            (status, "", False)
            for status in ("undecided", "refused", "not_judged", "not_repeated", "unspecified", "disputed", "failed")
        ),
        ("not_repeated", "finding", True),
    ],
)
def test_only_what_proves_something_makes_a_look_needless(
    services: Services, tmp_path: Path, status: str, known: str, due: bool
) -> None:
    session = _session(_bucket("old", status, known=known))
    bucket = Look(Corpus(tmp_path), services, print).asked_before(WAITING, FLOW, session)
    assert (bucket is not None) is due


def _kept(services: Services, folder: Path, bucket: Bucket, *before: Bucket) -> Fuzzing:
    fuzzing = Fuzzing(Corpus(folder), _session(*before), [FLOW], services, lambda text: None, {ARM.name}, lambda: 9.0)
    fuzzing.keep(WAITING, bucket)
    return fuzzing


@pytest.mark.parametrize("status", ["one_witness", "undecided"])
def test_a_bucket_that_a_second_case_proves_becomes_the_cause(services: Services, tmp_path: Path, status: str) -> None:
    before = _bucket("old", status, count=3, found_at="2026-01-01T00:00:00+00:00", at=2.0, like="another")
    proof = _bucket(
        "new", "wrong", script="repro.py", brought=("Fusion",), found_at="2026-02-02T00:00:00+00:00", at=9.0
    )
    fuzzing = _kept(services, tmp_path, proof, before)
    (found,) = fuzzing.session.buckets.values()
    assert (found.key, found.count, found.found_at, found.at) == ("old", 4, before.found_at, 2.0)
    assert (found.status, found.script, found.brought, found.title) == ("wrong", "repro.py", ("Fusion",), "by new")
    assert found.like == ""
    assert [bucket.key for bucket in fuzzing.new] == ["old"]
    assert fuzzing.session.arms[ARM.name].found == 1
    assert list(fuzzing.session.looked.values()) == [["old"]]


def test_what_may_be_a_known_one_proves_no_other(services: Services, tmp_path: Path) -> None:
    """A Scan of nothing, known by its signal alone, was undecided; the next of them was told as new."""
    known = _bucket("known", "wrong", kind="crash", signal="SIGFPE", known="finding", ablated={}, attributes=("Neg.a",))
    ended = {"kind": "crash", "signal": "SIGFPE", "ablated": {"filled": True}}
    before = _bucket("old", "undecided", like="by known", **ended)
    fuzzing = _kept(services, tmp_path, _bucket("new", "crash", **ended), known, before)
    assert [(bucket.key, bucket.status, bucket.count) for bucket in fuzzing.session.buckets.values()] == [
        ("known", "wrong", 1),
        ("old", "undecided", 2),
    ]
    assert fuzzing.new == []


@pytest.mark.parametrize(
    "before", [_bucket("old", "wrong"), _bucket("old", "one_witness", known="finding")], ids=["cause", "known"]
)
def test_what_is_a_cause_or_known_is_counted(services: Services, tmp_path: Path, before: Bucket) -> None:
    fuzzing = _kept(services, tmp_path, _bucket("new", "wrong", script="repro.py"), before)
    (bucket,) = fuzzing.session.buckets.values()
    assert (bucket.key, bucket.count, bucket.script, bucket.title) == ("old", 2, "", "by old")
    assert fuzzing.new == []


def test_a_cause_is_counted_there_and_not_where_less_is_proven(services: Services, tmp_path: Path) -> None:
    weaker, cause = _bucket("a", "one_witness"), _bucket("b", "wrong", operators=("Neg", "Abs"), brought=("Fusion",))
    proof = _bucket("new", "wrong", brought=("Fusion",))
    fuzzing = _kept(services, tmp_path, proof, weaker, cause)
    assert {key: (bucket.status, bucket.count) for key, bucket in fuzzing.session.buckets.items()} == {
        "a": ("one_witness", 1),
        "b": ("wrong", 2),
    }


def test_the_same_cause_again_proves_no_other(services: Services, tmp_path: Path) -> None:
    fuzzing = _kept(services, tmp_path, _bucket("b", "wrong"), _bucket("a", "one_witness"), _bucket("b", "wrong"))
    assert {key: (bucket.status, bucket.count) for key, bucket in fuzzing.session.buckets.items()} == {
        "a": ("one_witness", 1),
        "b": ("wrong", 2),
    }


def test_suspects_of_a_flow_that_is_not_asked_wait_for_a_call_that_asks_it(services: Services, tmp_path: Path) -> None:
    session = Session(seed=7, waiting=[Waiting("another", SUSPECT)])
    Fuzzing(Corpus(tmp_path), session, [FLOW], services, lambda text: None, set(), lambda: 1.0).run(30.0, 1)
    assert session.waiting == [Waiting("another", SUSPECT)]
    kept = Corpus(tmp_path).read()
    assert kept is not None
    assert (kept.waiting, kept.processor_s) == (session.waiting, 1.0)


def test_what_fails_in_a_use_whatever_the_operator_is_one_bucket(services: Services, tmp_path: Path) -> None:
    """Of each operator a case, and more of one than are looked into."""
    fuzzing = Fuzzing(Corpus(tmp_path), _session(), [FLOW], services, lambda text: None, {ARM.name}, lambda: 9.0)
    for index, operator in enumerate(("Pad", "Asinh", "Not", "Not", "Not", "Tile")):
        case = CaseId("used-engines", 3, 7, index)
        fuzzing._meet(FLOW.name, Suspect(case, Use.SIDE_BY_SIDE, (operator,), ablated={ANY_OPERATOR: False}))
    (found,) = fuzzing.session.buckets.values()
    assert (found.count, found.status) == (6, "in_use")
    assert found.title == "faulty: any operator, side_by_side"
    ended = replace(SUSPECT, kind="crash", detail=Use.AGAIN, ablated={ANY_OPERATOR: False})
    assert (
        fuzzing.look.bucket(Waiting(FLOW.name, ended), FLOW, "in_use", None).title
        == "faulty: any operator, crash, again"
    )
    fuzzing._meet(FLOW.name, replace(SUSPECT, kind=Use.SIDE_BY_SIDE, ablated={ANY_OPERATOR: True}))
    assert [bucket.title for bucket in fuzzing.new] == [found.title, "faulty: Neg, side_by_side"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, UsageError])
def test_what_an_interruption_leaves_waits_again(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Of three that are looked into together the first is kept before it comes."""
    waiting = [
        Waiting(FLOW.name, Suspect(CaseId("sweep", 3, 7, index), "values", (name,)))
        for index, name in enumerate(("Neg", "Abs", "Erf"))
    ]
    session = replace(_session(), waiting=[*waiting])
    fuzzing = Fuzzing(Corpus(tmp_path), session, [FLOW], services, lambda text: None, set(), lambda: 9.0)

    def interrupted(chosen: Sequence[Waiting], *rest: object) -> Iterator[tuple[Waiting, Bucket]]:
        assert [*chosen] == _waiting_on_disk(tmp_path) == waiting
        yield replace(chosen[0], suspect=replace(chosen[0].suspect, ablated={"inputs": True})), _bucket("a", "wrong")
        assert _waiting_on_disk(tmp_path) == waiting[1:], "whatever ends the process now"
        raise error

    monkeypatch.setattr(assay.fuzz.session, "made_again", lambda *_: True)
    fuzzing.look.into = interrupted  # type: ignore[assignment,method-assign]
    with pytest.raises(error):
        fuzzing.run(30.0, 1)
    kept = Corpus(tmp_path).read()
    assert kept is not None
    assert (kept.waiting, [*kept.buckets]) == (waiting[1:], ["a"])


def _waiting_on_disk(folder: Path) -> list[Waiting]:
    kept = Corpus(folder).read()
    assert kept is not None
    return kept.waiting


def test_what_no_look_was_begun_into_waits(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fuzzing = Fuzzing(
        Corpus(tmp_path), replace(_session(), waiting=[WAITING]), [FLOW], services, print, set(), lambda: 9.0
    )
    monkeypatch.setattr(assay.fuzz.session, "made_again", lambda *_: True)
    monkeypatch.setattr(fuzzing.look, "into", lambda *_: iter(()))
    fuzzing._look_into(-1.0)
    assert (fuzzing.session.waiting, fuzzing.session.buckets) == ([WAITING], {})
    monkeypatch.setattr(assay.fuzz.session, "made_again", lambda *_: False)  # nobody can look into it
    fuzzing._look_into(-1.0)
    assert fuzzing.session.waiting == []


def test_what_a_look_came_to_waits_and_is_not_looked_into_again(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time was over before known defects were screened: a short call would repeat its look for ever."""
    looks = 0

    def looked(chosen: Sequence[Waiting], *_: object) -> Iterator[tuple[Waiting, Bucket]]:
        nonlocal looks
        looks += len(chosen)
        yield from ((waiting, _bucket("new", "wrong")) for waiting in chosen)

    monkeypatch.setattr(assay.fuzz.session, "made_again", lambda *_: True)
    session = replace(_session(), waiting=[WAITING])
    for is_whole in (False, True):
        fuzzing = Fuzzing(Corpus(tmp_path), session, [FLOW], services, print, set(), lambda: 9.0)
        monkeypatch.setattr(fuzzing.look, "into", looked)
        monkeypatch.setattr(fuzzing, "_refer", lambda *_, whole=is_whole: whole)
        fuzzing._look_into(9.0)
        read = Corpus(tmp_path).read()
        assert read is not None
        session = read
        assert (len(session.waiting), [*session.buckets]) == ((0, ["new"]) if is_whole else (1, []))
    assert looks == 1


def test_a_session_that_is_killed_in_its_first_step_can_be_read(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fuzzing = Fuzzing(Corpus(tmp_path), _session(), [FLOW], services, print, {ARM.name}, lambda: 9.0)

    def screen(*_: object) -> None:
        assert _waiting_on_disk(tmp_path) == []
        raise KeyboardInterrupt

    monkeypatch.setattr(fuzzing, "_screen", screen)
    with pytest.raises(KeyboardInterrupt):
        fuzzing.run(30.0, 1)


def test_a_use_that_had_to_wait_is_not_asked_of_a_check(services: Services, tmp_path: Path) -> None:
    waiting = replace(WAITING, suspect=replace(SUSPECT, kind=Use.AGAIN))
    ((_, bucket),) = Look(Corpus(tmp_path), services, print).into([waiting], {FLOW.name: FLOW}, left=-1.0)
    assert (bucket.status, bucket.kind) == ("in_use", "again")


@pytest.mark.parametrize(
    ("kind", "due"), [(Use.OTHER_SIZES, "unspecified"), (Use.AGAIN, "unspecified"), ("failed", "failed")]
)
def test_what_the_standard_leaves_open_is_no_cause_in_use_either(
    services: Services, tmp_path: Path, kind: str, due: str
) -> None:
    """At another size a sum of whole numbers is beyond its type: that is open, as it is at the first sizes."""
    suspect = replace(SUSPECT, kind=kind, unspecified=(Unspecified.INTEGER_OVERFLOW,))
    assert Look(Corpus(tmp_path), services, print).unchecked(replace(WAITING, suspect=suspect), FLOW).status == due


@pytest.mark.parametrize(("others", "due"), [(True, "not_repeated"), (False, "crash")])
def test_a_process_that_ends_only_after_other_jobs_says_nothing_of_this_case(
    tmp_path: Path, due: str, *, others: bool
) -> None:
    """A Softmax was told as a crash that a case before it had brought."""
    job = screen_job(ARM, FLOW, Corpus(tmp_path), Session(seed=7), 1.0)
    result = replace(empty_result(job), outcome=Outcome.CRASH, only_after_other_jobs=others)
    assert status_of(WAITING, result) == due


def test_where_all_are_counted_nothing_is_looked_into(services: Services, tmp_path: Path) -> None:
    session = replace(_session(_bucket("old", "wrong")), waiting=[WAITING])
    session.looked[signature(FLOW.name, SUSPECT)] = ["old"] * LOOKS
    doing: list[str] = []
    Fuzzing(Corpus(tmp_path), session, [FLOW], services, print, set(), lambda: 9.0, doing.append).run(30.0, 1)
    assert (doing, session.waiting, session.buckets["old"].count) == ([], [], 2)


@pytest.mark.parametrize(
    ("reason", "due"),
    [
        (Unspecified.REPEATED_INDICES, "unspecified"),
        (Unspecified.EQUAL_KEYS, "unspecified"),
        (Unspecified.REFLECTED_TWICE, "unstable"),
        (Unspecified.EQUAL_MAXIMA, "unstable"),
    ],
)
def test_two_answers_of_one_engine_are_a_failure_where_no_order_decides(
    tmp_path: Path, reason: Unspecified, due: str
) -> None:
    waiting = replace(WAITING, suspect=replace(SUSPECT, unspecified=(reason,)))
    job = screen_job(ARM, FLOW, Corpus(tmp_path), Session(seed=7), 1.0)
    result = replace(empty_result(job), outcome=Outcome.NONDETERMINISTIC)
    assert status_of(waiting, result) == due
    assert status_of(waiting, replace(result, outcome=Outcome.MISMATCH)) == "unspecified"
