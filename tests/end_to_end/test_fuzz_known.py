"""Known defects are screened on a backend once a suspect may be one of them; where it could not start they are asked again."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from onnx import parser

from assay.commands.composition import open_services
from assay.core.flow import Flow
from assay.core.screening import CaseId, Suspect
from assay.fuzz.corpus import Bucket, Corpus, Session, Waiting
from assay.fuzz.known import INDEX, KnownCase, may_be_of, refer
from assay.fuzz.nearest import nearest
from assay.fuzz.same_cause import Relation
from assay.fuzz.session import Fuzzing
from assay.generators.files import keep_case
from assay.ports.generator import GeneratedCase

GRAPH = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Neg(x) }'
FLOW = Flow(name="faulty", backend="faulty")


def _every(case: KnownCase) -> bool:
    return True


def test_a_backend_that_could_not_start_has_no_known_defects_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    cases = [KnownCase(name, "finding") for name in ("one", "two")]
    for known in cases:
        case = GeneratedCase(parser.parse_model(GRAPH).SerializeToString(), {"x": np.ones(2, np.float32)})
        keep_case(case, corpus.known, known.name)
    (corpus.known / INDEX).write_bytes(msgspec.json.encode(cases))
    before = corpus.known / FLOW.name / "progress"
    before.parent.mkdir()
    before.write_text("7")  # of an earlier session, with more cases
    with monkeypatch.context() as broken:
        broken.setenv("ASSAY_FAULTY_IMPORT", "exit")
        with open_services(str(tmp_path / "history"), workers=1) as services:
            assert refer(FLOW, _every, corpus, session, services).found == 0
    assert (session.referred, session.buckets) == ({}, {})
    with open_services(str(tmp_path / "history"), workers=1) as services:
        assert refer(FLOW, _every, corpus, session, services).found == 0
        assert session.referred == {"faulty": {"one": True, "two": True}}


def test_each_release_of_a_backend_has_known_defects_of_its_own(tmp_path: Path) -> None:
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    model = parser.parse_model(GRAPH).SerializeToString()
    keep_case(GeneratedCase(model, {"x": np.ones(2, np.float32)}), corpus.known, "one")
    (corpus.known / INDEX).write_bytes(msgspec.json.encode([KnownCase("one", "finding")]))
    bad = {"fault": "zeros"}
    with open_services(str(tmp_path / "history"), workers=1) as services:
        assert refer(FLOW, _every, corpus, session, services).found == 0
        assert (
            refer(Flow(name="faulty@old", backend="faulty", options=bad), _every, corpus, session, services).found == 1
        )
    assert session.referred == {"faulty": {"one": True}, "faulty@old": {"one": False}}
    assert [bucket.flow for bucket in session.buckets.values()] == ["faulty@old"]
    assert session.absent == {"faulty": ["finding"], "faulty@old": []}


def test_what_there_was_no_time_for_is_asked_for_again(tmp_path: Path) -> None:
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    model = parser.parse_model(GRAPH).SerializeToString()
    cases = [KnownCase("one", "finding"), KnownCase("two", "finding")]
    for case in cases:
        keep_case(GeneratedCase(model, {"x": np.ones(2, np.float32)}), corpus.known, case.name)
    (corpus.known / INDEX).write_bytes(msgspec.json.encode(cases))
    with open_services(str(tmp_path / "history"), workers=1) as services:
        fuzzing = Fuzzing(corpus, session, [FLOW], services, print, (), lambda: 0.0)
        bucket = Bucket("key", "faulty", "faulty", "values", "one_witness", ("Neg",), known="finding")
        waiting = Waiting("faulty", Suspect(CaseId("sweep", 1, 7, 3), "values", ("Neg",)))
        fuzzing.run(0.0, 1)
        fuzzing.keep(waiting, bucket)
        assert session.referred == {}, "the session's time was over"
        assert not fuzzing.keep(waiting, replace(bucket, key="another", status="wrong"))
        assert [*session.buckets] == ["key"], "nobody is told of what was not compared"
        assert refer(FLOW, _every, corpus, session, services, 1e-6) == (0, False)
        left = {"one", "two"} - session.referred.get("faulty", {}).keys()
        assert left, "so short a slice ends after its first case at most"
        assert not session.absent.get("faulty"), "a finding whose cases were not all screened may be there"
        while session.referred.get("faulty", {}).keys() != {"one", "two"}:
            assert refer(FLOW, _every, corpus, session, services).found == 0
    assert session.absent == {"faulty": ["finding"]}


def test_only_what_a_suspect_may_be_is_screened_and_once(tmp_path: Path) -> None:
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    model = parser.parse_model(GRAPH).SerializeToString()
    cases = [KnownCase("one", "first", ("Neg",)), KnownCase("two", "second", ("Relu",))]
    for known in cases:
        keep_case(GeneratedCase(model, {"x": np.ones(2, np.float32)}), corpus.known, known.name)
    (corpus.known / INDEX).write_bytes(msgspec.json.encode(cases))
    bad = Flow(name="faulty", backend="faulty", options={"fault": "zeros"})
    with open_services(str(tmp_path / "history"), workers=1) as services:
        assert refer(bad, lambda known_case: "Neg" in known_case.operators, corpus, session, services).found == 1
        assert session.referred == {"faulty": {"one": False}}
        assert refer(bad, lambda known_case: "Neg" in known_case.operators, corpus, session, services).found == 0
        assert refer(bad, _every, corpus, session, services).found == 1
    assert {bucket.known for bucket in session.buckets.values()} == {"first", "second"}


def test_a_known_defect_that_cannot_be_judged_here_leaves_its_operators_open(tmp_path: Path) -> None:
    """Mean of two is refused, and Mean of two whose sizes differ ends the process: that was told as new."""
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    no_number = parser.parse_model(GRAPH.replace("Neg", "Log")).SerializeToString()
    cases = [KnownCase("faulty-one", "finding", ("Log",)), KnownCase("another-two", "finding", ("Log",))]
    for known in cases:
        keep_case(GeneratedCase(no_number, {"x": -np.ones(2, np.float32)}), corpus.known, known.name)
    (corpus.known / INDEX).write_bytes(msgspec.json.encode(cases))
    with open_services(str(tmp_path / "history"), workers=1) as services:
        assert refer(FLOW, _every, corpus, session, services) == (1, True)
    (bucket,) = session.buckets.values()
    assert (bucket.first, bucket.known) == ("faulty-one", "finding"), (
        "a defect of another backend says nothing of this one"
    )
    new = Bucket("key", "faulty", "faulty", "crash", "crash", ("Log",), signal="SIGSEGV", ablated={"inputs": False})
    assert nearest(new, session.buckets.values()) == (Relation.UNDECIDED, bucket)
    assert nearest(replace(new, operators=("Exp",)), session.buckets.values())[0] is Relation.DIFFERENT


@pytest.mark.parametrize(
    ("operators", "kind", "known", "due"),
    [
        (("Add@14", "Cast@13"), "values", "", False),
        (("Neg@13",), "values", "", True),
        (("Cast@13", "Neg@13"), "values", "", True),  # among others
        (("Abs@13",), "values", "", True),  # made alike
        (("Add@14",), "reloaded", "", True),  # a use of the engine, whatever the operators
        (("Add@14",), "values", "finding", True),  # triage says so
    ],
)
def test_what_a_suspect_may_be(operators: tuple[str, ...], kind: str, known: str, due: bool) -> None:
    bucket = Bucket("key", "faulty", "faulty", kind, "wrong", operators, known=known)
    assert may_be_of(KnownCase("one", "finding", ("Neg",)), bucket) is due


@pytest.mark.parametrize(("word", "due"), [("SAME_LOWER", True), ("SAME_UPPER", False)])
def test_a_known_defect_with_the_same_word_is_asked_for(word: str, *, due: bool) -> None:
    bucket = Bucket("key", "faulty", "faulty", "values", "wrong", ("Conv",), (f"Conv.auto_pad={word}",))
    assert (
        may_be_of(KnownCase("one", "finding", ("MaxPool",), attributes=("MaxPool.auto_pad=SAME_LOWER",)), bucket) is due
    )


@pytest.mark.parametrize(("ties", "tried", "due"), [(True, True, True), (True, False, False), (False, True, False)])
def test_what_is_wrong_of_equal_numbers_alone_may_be_any_known_defect_of_these(
    ties: bool, tried: bool, due: bool
) -> None:
    bucket = Bucket("key", "faulty", "faulty", "values", "wrong", ("Hardmax",), ablated={"untied": tried})
    assert may_be_of(KnownCase("one", "finding", ("TopK",), has_ties=ties), bucket) is due


@pytest.mark.parametrize(("is_empty", "tried", "due"), [(True, True, True), (True, False, False), (False, True, False)])
def test_what_is_wrong_of_nothing_alone_may_be_any_known_defect_of_nothing(
    is_empty: bool, tried: bool, due: bool
) -> None:
    bucket = Bucket("key", "faulty", "faulty", "values", "wrong", ("MatMul@13",), ablated={"filled": tried})
    assert may_be_of(KnownCase("one", "finding", ("ReduceSum",), is_empty), bucket) is due
