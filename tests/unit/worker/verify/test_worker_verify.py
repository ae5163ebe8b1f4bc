"""Samples of a companion that an engine of one size cannot take, and those of the set itself, which it must."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from assay.backends.check_inputs import check_inputs
from assay.core.case import Contract
from assay.core.engine_info import EngineInfo
from assay.core.model import TensorSpec
from assay.core.note import NoteCode, noted
from assay.errors import Lowering, Unsupported, WrongShape
from assay.models.goldens import Golden
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, Header
from assay.ports import Tensor, Tensors
from assay.testing.builders import make_model
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.answers import answers
from assay.worker.verify.call_inputs import Feeds
from assay.worker.verify.call_log import CallLog
from sentences import says

MODEL = msgspec.structs.replace(make_model(), inputs=(TensorSpec("x", "float32", ("rows", 2)),))


class OneRow:
    """An engine that was built for one row."""

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        if tensors["x"].shape[0] != 1:
            raise Unsupported("made for 1 row")
        return {"y": tensors["x"]}

    def save(self, folder: object) -> None:
        raise AssertionError

    def facts(self) -> EngineInfo:
        raise AssertionError


class Careless(OneRow):
    """It answers with anything."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        return self._answer  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "gave NoneType, not a dict"),
        ([np.zeros(2)], "gave list, not a dict"),
        ({"y": [0.0]}, "gave list for output 'y', not an array"),
        ({"y": 0.0}, "gave float for output 'y', not an array"),
    ],
)
def test_what_is_no_answer_is_told_in_words(answer: object, said: str) -> None:
    golden = _golden([1], labelled=0)
    with pytest.raises(Lowering, check=says(said)):
        answers(_log(Careless(answer), golden), golden, MODEL)


def _log(engine: OneRow, golden: Golden) -> CallLog:
    return CallLog(engine, Feeds(TransformedModel(Path("none")), golden.inputs, ""))  # type: ignore[arg-type]


def _golden(rows: list[int], labelled: int) -> Golden:
    samples = [{"x": np.zeros((count, 2), np.float32)} for count in rows]
    labels = {"label": np.arange(labelled)} if labelled else {}
    return Golden(None, samples, [{"y": sample["x"]} for sample in samples], labels)  # type: ignore[arg-type]


def test_the_companions_own_sizes_are_left_out_and_told() -> None:
    golden = _golden([1, 1, 1, 2, 2], labelled=3)
    found, told = answers(_log(OneRow(), golden), golden, MODEL)
    assert len(found) == 3
    assert told == (noted(NoteCode.COMPANION_LEFT_OUT, count=2, error=noted(NoteCode.REFUSED, error="made for 1 row")),)
    shorter = golden.first(len(found))
    assert (len(shorter.inputs), len(shorter.outputs), len(shorter.labels["label"])) == (3, 3, 3)
    assert golden.first(9) is golden


@pytest.mark.parametrize("labelled", [0, 5])
def test_a_sample_of_the_set_itself_is_never_left_out(labelled: int) -> None:
    golden = _golden([1, 1, 1, 2, 2], labelled)
    with pytest.raises(Unsupported, match="made for 1 row"):
        answers(_log(OneRow(), golden), golden, MODEL)


def test_what_was_not_answered_is_not_held_against_the_tolerance() -> None:
    ones = [{"y": np.full((1, 2), number, np.float64)} for number in range(5)]
    header = Header("float32", arithmetic_of("float32"), seed=0, samples=5)
    judging = ToleranceComparator(Contract(), DerivedTolerance(header, ones, ones, [{} for _ in ones]))
    shorter = judging.first(3).profile
    assert shorter is not None
    assert (shorter.header.samples, len(shorter.oracle), len(shorter.deviation), len(shorter.margins)) == (3, 3, 3, 3)
    assert judging.first(9).profile is judging.profile
    assert ToleranceComparator(Contract()).first(1).profile is None


class Narrow(OneRow):
    """Built for two rows."""

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        check_inputs(tensors, [TensorSpec("x", "float32", (2, 2))])
        return dict(tensors)


def test_a_size_that_the_model_takes_and_the_engine_does_not_is_unsupported() -> None:
    golden = _golden([1], labelled=0)
    with pytest.raises(Unsupported, check=says("takes [2, 2]. It was built for those sizes alone")):
        answers(_log(Narrow(), golden), golden, MODEL)
    for rows in (1, 2):
        fixed = msgspec.structs.replace(MODEL, inputs=(TensorSpec("x", "float32", (rows, 2)),))
        with pytest.raises(WrongShape):
            answers(_log(Narrow(), golden), golden, fixed)
