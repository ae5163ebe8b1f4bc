"""Rows that scores choose, where noise decides between the scores: another order is neither right nor wrong."""

from __future__ import annotations

import numpy as np
import onnx
from small_graphs import float32, parsed

from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor

_BOXES = 12


def _detector() -> onnx.ModelProto:
    return parsed(
        """g (float[1, 1, 12] logits, float[1, 12, 4] boxes) => (int64[n, 3] picked, int64[n] which)
        <int64[1] most = {12}, float[1] overlap = {0.5}, float[1] least = {0.1},
         int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}> {
            scores = Sigmoid(logits)
            picked = NonMaxSuppression(boxes, scores, most, overlap, least)
            column = Slice(picked, two, three, one)
            which = Squeeze(column, one)
        }"""
    )


def _inputs(logits: Tensor) -> dict[str, Tensor]:
    at = np.arange(_BOXES, dtype=np.float32)
    return {
        "logits": logits.astype(np.float32).reshape(1, 1, _BOXES),
        "boxes": np.stack([at, at, at + 0.5, at + 0.5], -1)[None],
    }


def test_scores_that_saturate_leave_the_order_of_boxes_open() -> None:
    model, inputs = _detector(), _inputs(30 + np.random.default_rng(1).uniform(0, 1, _BOXES))
    profile = derive_model(model, [inputs], "float32")
    answers = float32(model, inputs)
    np.testing.assert_array_equal(answers["which"], np.arange(_BOXES))
    for judged in judge_outputs([answers], None, profile).values():
        assert not judged.findings
        assert "NonMaxSuppression chooses by less than the noise" in finding_text(judged.degenerate)


def test_what_is_no_box_of_them_is_wrong_all_the_same() -> None:
    model, inputs = _detector(), _inputs(30 + np.random.default_rng(1).uniform(0, 1, _BOXES))
    profile = derive_model(model, [inputs], "float32")
    answers = float32(model, inputs)
    answers["which"] = answers["which"] + _BOXES
    assert judge_outputs([answers], None, profile)["which"].findings


def test_scores_that_differ_decide() -> None:
    model, inputs = _detector(), _inputs(np.random.default_rng(1).permutation(_BOXES))
    profile = derive_model(model, [inputs], "float32")
    answers = float32(model, inputs)
    for judged in judge_outputs([answers], None, profile).values():
        assert not judged.findings
        assert not judged.degenerate
    answers["which"] = answers["which"][::-1].copy()
    assert judge_outputs([answers], None, profile)["which"].findings
