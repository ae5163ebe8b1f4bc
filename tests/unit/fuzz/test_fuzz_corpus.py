"""The folder of a session: what is kept is read again, and what is none of it is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from assay.commands.fuzz import read_session, run_fuzz
from assay.core.screening import CaseId, Suspect
from assay.errors import UnknownName, UsageError
from assay.fuzz.corpus import Arm, Bucket, Corpus, Session, Waiting
from assay.fuzz.suspect_signature import signature
from assay.options.fuzz import FuzzOptions


def test_a_session_is_read_as_it_was_written(tmp_path: Path) -> None:
    suspect = Suspect(CaseId("sweep", 1, 7, 3), "values", ("Relu@14",))
    session = Session(seed=7, arms={"a": Arm("sweep", 1, "onnxruntime", next=9)}, waiting=[Waiting("f", suspect)])
    Corpus(tmp_path / "new").write(session)
    assert Corpus(tmp_path / "new").read() == session


def test_a_session_with_an_answer_that_is_not_finite_can_go_on(tmp_path: Path) -> None:
    """JSON has no infinity: such a distance comes back as none."""
    suspect = Suspect(CaseId("sweep", 1, 7, 3), "shape", ("Relu@14",), rel_l2=float("inf"), budget=float("inf"))
    Corpus(tmp_path).write(Session(seed=7, waiting=[Waiting("f", suspect)]))
    session = Corpus(tmp_path).read()
    assert session is not None
    assert (session.waiting[0].suspect.rel_l2, session.waiting[0].suspect.budget) == (None, None)


def test_a_session_of_the_first_format_goes_on_and_screens_known_defects_again(tmp_path: Path) -> None:
    session = Session(seed=7, buckets={"k": Bucket("k", "f", "b", "values", "wrong", ("Relu@14",))})
    stored = json.loads(msgspec.json.encode(session)) | {"format": 1, "referred": ["f"]}
    (tmp_path / "session.json").write_text(json.dumps(stored))
    assert Corpus(tmp_path).read() == session


def test_a_session_of_a_later_format_is_refused_as_one(tmp_path: Path) -> None:
    stored = json.loads(msgspec.json.encode(Session(seed=7))) | {"format": 3, "seed": {"of": "another form"}}
    (tmp_path / "session.json").write_text(json.dumps(stored))
    with pytest.raises(UsageError, match="was written by another version of assay"):
        Corpus(tmp_path).read()


def test_a_corpus_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file; give a folder with --corpus"):
        run_fuzz(FuzzOptions(corpus=tmp_path / "file", history=str(tmp_path)))


def test_a_corpus_of_another_seed_is_refused(tmp_path: Path) -> None:
    Corpus(tmp_path).write(Session(seed=7))
    with pytest.raises(UsageError, match="has seed 7; leave --seed out, or give another folder"):
        run_fuzz(FuzzOptions(corpus=tmp_path, seed=8, history=str(tmp_path)))


def test_a_corpus_of_another_version_of_a_generator_is_refused(tmp_path: Path) -> None:
    from importlib.metadata import version

    arm = Arm("sweep", 0, "onnxruntime")
    Corpus(tmp_path).write(Session(seed=7, onnx=version("onnx"), arms={arm.name: arm}))
    with pytest.raises(UsageError, match="cases of version 0 of generator 'sweep', and version"):
        run_fuzz(FuzzOptions(corpus=tmp_path, history=str(tmp_path)))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text("{")
    with pytest.raises(UsageError, match=r"session\.json cannot be read as a fuzzing session"):
        read_session(Corpus(tmp_path))


def test_nothing_fuzzed_yet_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing was fuzzed in .* yet: assay fuzz --flow FLOW --for 10m"):
        read_session(Corpus(tmp_path))


@pytest.mark.parametrize(("flows", "generators"), [(("onnxruntme",), ()), ((), ("swep",))])
def test_a_mistyped_name_is_answered_with_the_nearest(
    tmp_path: Path, flows: tuple[str, ...], generators: tuple[str, ...]
) -> None:
    with pytest.raises(UnknownName, match=r"onnxruntime|sweep"):
        run_fuzz(FuzzOptions(flows=flows, generators=generators, history=str(tmp_path)))


def test_opsets_and_numbers_do_not_tell_suspects_apart() -> None:
    suspect = Suspect(CaseId("sweep", 1, 7, 3), "values", ("Pad@13",), ("Pad.mode=edge",))
    other = Suspect(CaseId("sweep", 1, 7, 9), "values", ("Pad@19",), ("Pad.mode=edge",))
    assert signature("f", suspect) == signature("f", other)
    assert signature("f", suspect) != signature("f", Suspect(suspect.case, "values", ("Pad@13",), ("Pad.mode=wrap",)))


def test_failures_that_end_with_other_words_are_two() -> None:
    def signed(end: str) -> str:
        where = "Fail: [ONNXRuntimeError] : FAIL : Exception during initialization: /onnxruntime/core/providers/cpu/nn/"
        return signature("f", Suspect(CaseId("sweep", 1, 7, 3), "failed", detail=f"{where * 3}lrn.cc:61 {end}"))

    assert signed("X->Shape().NumDimensions() == 4 was false") != signed("size must be odd")
    assert signed("size 3 must be odd") == signed("size 5 must be odd")


def test_crashes_of_an_older_session_have_the_signal_that_their_detail_names(tmp_path: Path) -> None:
    crash = Bucket("k", "f", "b", "crash", "crash", ("Relu",), detail="SIGABRT")
    suspect = Suspect(CaseId("sweep", 1, 7, 3), "crash", detail="SIGSEGV")
    in_use = Suspect(CaseId("sweep", 1, 7, 4), "crash", detail="again")
    Corpus(tmp_path).write(Session(seed=7, buckets={"k": crash}, waiting=[Waiting("f", suspect), Waiting("f", in_use)]))
    session = Corpus(tmp_path).read()
    assert session is not None
    signals = [session.buckets["k"].signal, *(waiting.suspect.signal for waiting in session.waiting)]
    assert signals == ["SIGABRT", "SIGSEGV", ""]
