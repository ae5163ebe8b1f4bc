"""Samples of a companion that an engine of one size cannot take, and those of the set itself, which it must."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.result import BuildFacts
from assay.errors import Unsupported
from assay.models.goldens import Golden
from assay.ports import Tensor, Tensors
from assay.worker.verify import _answers


class OneRow:
    """An engine that was built for one row."""

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        if tensors["x"].shape[0] != 1:
            raise Unsupported("made for 1 row")
        return {"y": tensors["x"]}

    def save(self, folder: object) -> None:
        raise AssertionError

    def facts(self) -> BuildFacts:
        raise AssertionError


def _golden(rows: list[int], labelled: int) -> Golden:
    samples = [{"x": np.zeros((count, 2), np.float32)} for count in rows]
    labels = {"label": np.arange(labelled)} if labelled else {}
    return Golden(None, samples, [{"y": one["x"]} for one in samples], labels)  # type: ignore[arg-type]


def test_the_companions_own_sizes_are_left_out_and_told() -> None:
    golden = _golden([1, 1, 1, 2, 2], labelled=3)
    answers, told = _answers(OneRow(), golden.inputs, golden)
    assert len(answers) == 3
    assert told == ("2 samples of the golden's companion were left out, for this engine: made for 1 row",)
    shorter = golden.first(len(answers))
    assert (len(shorter.inputs), len(shorter.outputs), len(shorter.labels["label"])) == (3, 3, 3)
    assert golden.first(9) is golden


@pytest.mark.parametrize("labelled", [0, 5])
def test_a_sample_of_the_set_itself_is_never_left_out(labelled: int) -> None:
    golden = _golden([1, 1, 1, 2, 2], labelled)
    with pytest.raises(Unsupported, match="made for 1 row"):
        _answers(OneRow(), golden.inputs, golden)
