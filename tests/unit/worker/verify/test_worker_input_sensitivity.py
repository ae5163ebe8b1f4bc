"""An engine that ignores its inputs, where no sample of the case could tell."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.backends.onnx_reference import Reference
from assay.core.case import Case, Contract, Inputs
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.judge.words.finding_text import finding_text
from assay.models.goldens import Golden
from assay.models.onnx_file import open_model
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.ports import Engine, Tensor, Tensors
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.input_sensitivity import check_sensitivity, perturb_input, perturbed
from small_models import linear_model


class Stale:
    """It keeps its first answer, as one does whose cache has no key."""

    def __init__(self, inner: Engine) -> None:
        self._inner = inner
        self._kept: dict[str, Tensor] | None = None

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        self._kept = self._kept or dict(self._inner.run(tensors))
        return self._kept


def _found(path: Path, *, stale: bool, samples: int = 1, published: bool = False) -> list[str]:
    model = open_model(path)
    contract = Contract(published=published)
    job = VerifyJob(Case("m", model, Inputs(), contract), Flow("reference", "reference"))
    inner = Reference().lower(path, job.flow)
    inputs = [{"x": np.full((2, 4), number + 1, np.float32)} for number in range(samples)]
    golden = Golden(None, inputs, [dict(inner.run(sample)) for sample in inputs], {})  # type: ignore[arg-type]
    engine = Stale(inner) if stale else inner
    first = engine.run(inputs[0])
    compare = partial(ToleranceComparator(contract).compare, declared={"y": "float32"})
    rewritten = TransformedModel(path)
    probed = perturb_input(job, engine, rewritten, golden)  # type: ignore[arg-type]
    return [finding_text(finding.findings[0]) for finding in check_sensitivity(job, rewritten, probed, first, compare)]


def test_one_sample_does_not_hide_it(tmp_path: Path) -> None:
    (said,) = _found(linear_model(tmp_path / "m.onnx"), stale=True)
    assert said.startswith("The answer stays bit by bit the same on other inputs, where it should not.")


def test_an_engine_that_reads_its_inputs_is_right(tmp_path: Path) -> None:
    assert _found(linear_model(tmp_path / "m.onnx"), stale=False) == []


def test_an_answer_that_may_stay_is_right(tmp_path: Path) -> None:
    """Without weights everything is clipped to the same."""
    assert _found(linear_model(tmp_path / "m.onnx", scale=0.0), stale=False) == []


@pytest.mark.parametrize("more", [{"samples": 2}, {"published": True}])
def test_it_is_not_asked_where_samples_tell_or_the_case_is_what_it_is(more: dict[str, Any], tmp_path: Path) -> None:
    assert _found(linear_model(tmp_path / "m.onnx"), stale=True, **more) == []


def test_turned_values_are_of_the_same_kind() -> None:
    sample = {"x": np.array([1, 2, 4], np.float32), "n": np.array([[1, 2]])}
    assert {name: array.tolist() for name, array in perturbed(sample).items()} == {"x": [2, 1, 0.5], "n": [[1, 2]]}
    assert perturbed({"n": sample["n"]})["n"].tolist() == [[2, 1]]
    assert perturbed({"scalar": np.array(2, np.float32)})["scalar"].shape == ()
    assert perturbed({"axes": np.array([0, 1])}) == {}
    assert perturbed({"x": np.zeros(3, np.float32)}) == {}
