"""Whole numbers that float64 does not have: beyond 2**53."""

from __future__ import annotations

import numpy as np
from small_graphs import parsed

from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs


def test_a_power_that_was_computed_in_float64_is_wrong_and_said_in_full() -> None:
    model = parsed("g (int64[2] x) => (int64[2] y) <int64 e = {35}> { y = Pow(x, e) }")
    inputs = {"x": np.asarray([3, 2])}
    profile = derive_model(model, [inputs], "float32")
    right, rounded = 3**35, int(float(3**35))
    assert right != rounded
    expected = {"y": np.asarray([right, 2**35])}
    assert not judge_outputs([expected], [expected], profile)["y"].findings
    findings = judge_outputs([{"y": np.asarray([rounded, 2**35])}], [expected], profile)["y"].findings
    assert f"expected {right}, got {rounded}" in " ".join(map(finding_text, findings))
