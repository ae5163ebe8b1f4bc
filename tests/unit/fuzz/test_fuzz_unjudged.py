"""A known defect that is not run here hides what fails as it is recorded to, and no other failure of its operators."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.fuzz.corpus import Bucket, Corpus, Session
from assay.fuzz.known import INDEX, KnownCase, right_by_luck
from assay.fuzz.same_cause import Relation, relation
from assay.fuzz.unjudged import UNJUDGED, recorded

NEW = ("values", "range", "shape", "crash SIGABRT", "crash SIGSEGV", "reloaded", "failed")
LAYERS = "docs/findings/onnxruntime-recurrent-layers-of-nothing.py"


def _bucket(kind: str, detail: str = "", signal: str = "") -> Bucket:
    return Bucket(kind, "f", "engine", kind, "wrong", ("LSTM@14",), detail=detail, signal=signal)


@pytest.mark.parametrize(
    ("detail", "hidden"),
    [
        ("", {"values", "range", "shape", "crash SIGABRT", "crash SIGSEGV"}),
        ("lowest", {"values", "range", "shape"}),
        ("crash SIGABRT", {"crash SIGABRT"}),
        ("reloaded", {"reloaded"}),
    ],
)
def test_what_fails_in_another_way_than_is_recorded_is_another(detail: str, hidden: set[str]) -> None:
    known = _bucket(UNJUDGED, detail, detail.partition(" ")[2])
    for name in NEW:
        kind, _, signal = name.partition(" ")
        new = _bucket(kind, signal=signal)
        due = Relation.UNDECIDED if name in hidden else Relation.DIFFERENT
        assert relation(known, new) is relation(new, known) is due, name


def test_how_an_operator_fails_is_read_from_its_finding() -> None:
    assert recorded(LAYERS, ("LSTM@14",)) == "crash SIGABRT"
    assert recorded(LAYERS, ("Conv@11",)) == ""
    assert recorded("docs/findings/mnn-more-fuzzed-operators.py", ("Mean@13",)) == ""


@pytest.mark.parametrize(
    ("status", "right", "operator", "ablated", "due"),
    [
        ("unstable", True, "MatMulInteger", {"filled": True}, "product"),
        ("unstable", True, "MatMulInteger", {"filled": False}, ""),  # it is of something
        ("unstable", True, "MatMul", {"filled": True}, ""),
        ("unstable", False, "MatMulInteger", {"filled": True}, ""),  # then the two are compared
        ("wrong", True, "MatMulInteger", {"filled": True}, ""),
    ],
)
def test_memory_that_was_never_written_may_hold_the_right_numbers(
    tmp_path: Path, status: str, operator: str, ablated: dict[str, bool], due: str, *, right: bool
) -> None:
    """The known product over no elements was right that time, and another one was told as new."""
    corpus, session = Corpus(tmp_path), Session(seed=7, referred={"f": {"product": right}})
    corpus.known.mkdir()
    known = KnownCase("product", "finding", ("MatMulInteger",), is_empty=True)
    (corpus.known / INDEX).write_bytes(msgspec.json.encode([known]))
    bucket = Bucket("new", "f", "engine", "values", status, (operator,), ablated=ablated)
    assert right_by_luck(bucket, corpus, session) == due
