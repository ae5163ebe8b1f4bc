"""The other reading of the standard excuses an engine only where the two readings are further apart than its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from assay.commands.check import run_check
from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.options.check import CheckOptions
from assay.options.sizes import Sizes
from mutating import F, save

NEAR = 0.3
"""From one element to the next, of values near 216,000: so the readings of a scale that makes no whole length are 0.9 limits apart."""
AT_SIZES = {"dims": {"n": Sizes(2, 4, 12)}}


@pytest.mark.parametrize(
    ("fault", "scale", "options"),
    [("lie", 1.5, {}), ("wrong_above_8", 2.0, AT_SIZES)],
    ids=["less than two limits off", "at sizes alone"],
)
def test_an_engine_that_is_wrong_where_the_readings_are_one_is_not_excused(
    fault: str, scale: float, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is near both readings is within the limits of the other one by chance."""
    monkeypatch.chdir(tmp_path)
    nodes = [
        helper.make_node("Mul", ["x", "small"], ["m"]),
        helper.make_node("Add", ["m", "ramp"], ["a"]),
        helper.make_node("Resize", ["a", "", "scales"], ["y"], mode="linear"),
    ]
    base = 0.0 if options else 1.65 * 2.0**17
    stated = {
        "small": np.asarray([0.01], np.float32),
        "ramp": (base + NEAR * np.arange(7)).astype(np.float32),
        "scales": np.asarray([1.0, scale], np.float32),
    }
    path = save(tmp_path / "m.onnx", nodes, {"x": (F, ["n", 7])}, {"y": (F, ["n", int(7 * scale)])}, stated)
    checked = run_check(CheckOptions(models=(path,), flows=(f"faulty-{fault}",), only_kind="verify", **options))
    result, verdict = checked.results[0], checked.judgement.verdicts[0]
    assert (result.outcome, verdict.word) == (Outcome.MISMATCH, VerdictStatus.FAIL), verdict.reason
    assert [witness.reading for witness in result.witnesses] == [()]
