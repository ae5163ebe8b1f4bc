"""A golden is of the model's types, whoever answered: flows in double or in half a precision answer in their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from assay.cli.main import main
from assay.commands.check import run_check
from assay.core.outcome import Outcome
from assay.errors import BadGolden
from assay.options.check import CheckOptions
from assay.worker.reference.compute_reference import _as_declared
from sentences import says
from small_models import linear_model


def test_what_a_flow_in_double_recorded_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = linear_model(tmp_path / "net.onnx", scale=0.5)
    with pytest.raises(SystemExit) as left:
        main(
            [
                "golden",
                "record",
                "net.onnx",
                "golden",
                "--flow",
                "reference-f64",
                "--samples",
                "2",
                "--reason",
                "a test",
            ]
        )
    assert left.value.code == 0
    assert load_file("golden/outputs.safetensors")["y"].dtype == np.float32
    (result,) = run_check(
        CheckOptions(models=(model,), flows=("reference",), golden=Path("golden"), only_kind="verify")
    ).results
    assert result.outcome is Outcome.OK, result.detail


def test_what_is_no_rounding_is_refused() -> None:
    with pytest.raises(
        BadGolden, check=says("output 'y' came as int32 where the model says int64; record it by another flow than f")
    ):
        _as_declared({"y": np.zeros(2, np.int32)}, {"y": "int64"}, "f")
