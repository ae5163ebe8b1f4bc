"""Calls that carry state: fed back by the reference, and by the engine itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.golden import GoldenLock
from assay.core.model import Model, TensorSpec
from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.judge.words.finding_text import finding_text
from assay.models.golden_samples import Golden
from assay.worker.engine.sequences import run_calls, run_free
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.load_inputs import Source

MODEL = Model(
    "sum",
    "sum.onnx",
    "a" * 64,
    inputs=(TensorSpec("x", "float32", ("N",)), TensorSpec("s", "float32", ("N",))),
    outputs=(TensorSpec("sN", "float32", ("N",)),),
)
PLAIN = TransformedModel(Path("sum.onnx"))
STATE = {"sN": "s"}


class Sum:
    """A running sum, `off` by so much in each call, and lost after `lost` calls on its own states."""

    def __init__(self, off: float = 0.0, lost: float = np.inf) -> None:
        self.off, self.lost = off, lost

    def run(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        total = tensors["x"] + tensors["s"] + np.float32(self.off)
        return {"sN": np.where(total > self.lost, np.float32(np.nan), total)}


def golden() -> Golden:
    inputs = [{"x": np.ones(2, np.float32)} for _ in range(5)]
    fed, answers = run_calls(Sum(), PLAIN, Source(inputs, state=STATE, sequences=(2, 3)), MODEL)  # type: ignore[arg-type]
    lock = GoldenLock("a" * 64, "sum", 5, 0, "reference", "", "t", "t", "", (), state=STATE, sequences=(2, 3))
    return Golden(lock, fed, answers, {})


def test_the_state_of_one_call_is_fed_into_the_next_of_its_sequence() -> None:
    stored = golden()
    assert [float(sample["s"][0]) for sample in stored.inputs] == [0, 1, 0, 1, 2]
    assert [float(output["sN"][0]) for output in stored.outputs] == [1, 2, 1, 2, 3]


def test_the_drift_on_its_own_states_is_a_figure() -> None:
    notes, findings = run_free(Sum(0.25), PLAIN, golden(), MODEL)  # type: ignore[arg-type]
    assert notes == (noted(NoteCode.DRIFTED, calls=3, outputs=("sN",), apart=(0.75,)),)
    assert findings == ()


def test_an_engine_that_loses_its_state_is_found() -> None:
    _, findings = run_free(Sum(0.25, lost=2.3), PLAIN, golden(), MODEL)  # type: ignore[arg-type]
    assert [finding_text(finding) for finding in findings] == [
        "fed its own state, output 'sN' has another shape, or NaN or infinity where the reference has a number, at call 1 of a sequence."
    ]


class Reusing(Sum):
    """It hands out one buffer, always the same."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = np.zeros(2, np.float32)

    def run(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        self.buffer[...] = super().run(tensors)["sN"]
        return {"sN": self.buffer}


def test_answers_in_a_buffer_that_is_used_again_are_kept() -> None:
    inputs = [{"x": np.ones(2, np.float32)} for _ in range(3)]
    _, answers = run_calls(Reusing(), PLAIN, Source(inputs, state=STATE, sequences=(3,)), MODEL)  # type: ignore[arg-type]
    assert [float(answer["sN"][0]) for answer in answers] == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([1, 2], NoteCode.GAVE_NO_DICT),
        ({"sN": [1]}, NoteCode.GAVE_NO_ARRAY),
        ({"y": np.ones(2)}, NoteCode.GAVE_NO_STATE),
    ],
)
def test_what_is_no_answer_is_the_backends_mistake(given: Any, code: NoteCode) -> None:
    class Broken(Sum):
        def run(self, tensors: Mapping[str, Any]) -> Any:
            return given

    inputs = [{"x": np.ones(2, np.float32)} for _ in range(2)]
    with pytest.raises(Lowering) as caught:
        run_calls(Broken(), PLAIN, Source(inputs, state=STATE, sequences=(2,)), MODEL)  # type: ignore[arg-type]
    assert caught.value.args[0].code == code
