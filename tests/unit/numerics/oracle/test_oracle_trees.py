"""Ensembles of trees in double against ONNX Runtime, missing features among their inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.tolerance.derive import derive
from ml_models import classifier, regressor

MODELS: dict[str, Any] = {
    "three classes": lambda path: classifier(path),
    "two classes by one score": lambda path: classifier(path, classes=2, one_score=True),
    "numbers for labels": lambda path: classifier(path, texts=False, zipped=False),
    "sums": lambda path: regressor(path),
    "means": lambda path: regressor(path, aggregate="AVERAGE"),
}


def rows() -> np.ndarray[Any, Any]:
    stream = np.random.default_rng(1)
    x = stream.normal(size=(64, 4)).astype(np.float32)
    x[stream.random(x.shape) < 0.2] = np.nan
    return x


@pytest.mark.parametrize("name", MODELS)
def test_the_oracle_and_the_runtime_agree(name: str, tmp_path: Path) -> None:
    path, x = MODELS[name](tmp_path / "m.onnx"), rows()
    theirs = onnxruntime.InferenceSession(path).run(None, {"x": x})
    ours = WideEvaluator(onnx.load(path)).evaluate({"x": x.astype(np.float64)})
    assert np.array_equal(ours[0], theirs[0]) or np.allclose(ours[0], theirs[0], rtol=1e-6)
    if len(ours) > 1 and isinstance(ours[1], list):
        assert [list(part) for part in ours[1]] == [list(part) for part in theirs[1]]
        for mine, other in zip(ours[1], theirs[1], strict=True):
            assert np.allclose(list(mine.values()), list(other.values()), rtol=1e-6)
    elif len(ours) > 1:
        assert ours[1].dtype == np.float64
        assert np.allclose(ours[1], theirs[1], rtol=1e-6)


def test_the_scores_in_the_maps_get_a_tolerance(tmp_path: Path) -> None:
    profile = derive(classifier(tmp_path / "m.onnx"), [{"x": rows()}], "float32")
    kinds = {output.name: output.kind for output in profile.header.outputs}
    assert kinds == {"label": "none", "probabilities[]{values}": "real"}
    assert profile.oracle[0]["probabilities[]{values}"].shape == (64, 3)
    assert not profile.header.without_rule
