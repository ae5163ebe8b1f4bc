"""A run that chose one tolerance, judged again by another, has the verdict of a run that chose the other."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from onnx import TensorProto, helper

from assay.core.case import Case, Contract, Inputs, Tolerance
from assay.core.job import DeriveToleranceJob, VerifyJob, other_kind
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.verdict import Verdict
from assay.errors import UsageError
from assay.judge.chosen_tolerance import by_choice, with_choice
from assay.judge.verdicts import judge
from assay.models.goldens import read_golden, write_golden
from assay.models.onnx_file import open_model
from assay.plugins import find_flow
from assay.worker.stages import Stages
from judged_job import execute_judged
from small_models import golden_for, linear_model

CHOICES = ("derived", "default", "torch", "onnx", "fixed:1e-3,1e-5", "fixed:0,0", "fixed:0.5,0.5")
Array = np.ndarray[Any, Any]
TODAY = datetime.date(2026, 11, 26)


def _run(job: VerifyJob, choice: str) -> tuple[VerifyJob, Result]:
    asked = with_choice(job, choice)
    assert isinstance(asked, VerifyJob)
    if choice == "derived":
        asked = replace(asked, tolerance_dir=f"{job.tolerance_dir}-derived")
        if not Path(asked.tolerance_dir).exists():
            execute_judged(
                other_kind(asked, DeriveToleranceJob, precision=asked.flow.precision, allowances=asked.flow.allowances),
                Stages(lambda stage: None),
            )
    else:
        asked = replace(asked, tolerance_dir="")
    return asked, execute_judged(asked, Stages(lambda stage: None))


def _verdict(job: VerifyJob, result: Result) -> Verdict:
    named = replace(job, tolerance_dir="")
    judgement = judge([result], Policy(), planned=[job.key], today=TODAY, jobs_by_key={job.key: named})
    return judgement.verdicts[0]


def _same(job: VerifyJob, results: dict[str, tuple[VerifyJob, Result]], old: str, new: str) -> None:
    before, recorded = results[old]
    after, asked = results[new]
    again = by_choice(recorded, before, new)
    assert again.outcome is asked.outcome, (old, new, again.detail, asked.detail)
    assert again.cause is asked.cause
    assert sorted(finding.kind for finding in again.findings) == sorted(finding.kind for finding in asked.findings)
    assert again.task_metrics == asked.task_metrics
    for mine, theirs in zip(again.comparisons, asked.comparisons, strict=True):
        assert mine.metrics.get("budget_used") == theirs.metrics.get("budget_used"), (old, new, mine.output)
        assert (mine.rtol, mine.atol, mine.degenerate) == (theirs.rtol, theirs.atol, theirs.degenerate)
        assert mine.tolerance == theirs.tolerance
    assert _verdict(after, again) == _verdict(after, asked), (old, new)


def _all_pairs(job: VerifyJob, choices: tuple[str, ...] = CHOICES) -> dict[str, tuple[VerifyJob, Result]]:
    results = {choice: _run(job, choice) for choice in choices}
    for old, new in itertools.permutations(choices, 2):
        if new != "derived":
            _same(job, results, old, new)
    return results


def _identity(tmp_path: Path, given: Array, expected: Array, *, named: Tolerance | None = None) -> VerifyJob:
    """An engine that gives back what it is given, and a golden that expects `expected`."""
    kind = helper.np_dtype_to_tensor_dtype(given.dtype) if given.dtype != object else TensorProto.STRING
    shape = list(given.shape)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "identity",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", kind, shape)],
    )
    tmp_path.mkdir(parents=True, exist_ok=True)
    path = tmp_path / "identity.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    model = open_model(path)
    write_golden(
        tmp_path / "golden", model=model, inputs=[{"x": given}], outputs=[{"y": expected}], seed=0, producer="numpy",
        producer_version="2", who="tests", reason="a test", created_at="2026-11-26T00:00:00+00:00",
    )  # fmt: skip
    contract = Contract(tolerances={"y": named} if named else {})
    case = Case("identity", model, Inputs(golden=str(tmp_path / "golden")), contract)
    return VerifyJob(case, find_flow("onnxruntime"), tolerance_dir=str(tmp_path / "tolerance"))


NUMBERS = np.linspace(-2.0, 3.0, 24, dtype=np.float32).reshape(2, 12)
WHOLE = np.arange(24, dtype=np.int64).reshape(2, 12)


def _but(array: Array, value: object) -> Array:
    changed = array.copy()
    changed[1, 3] = value
    return changed


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(NUMBERS, NUMBERS, id="equal"),
        pytest.param(NUMBERS, NUMBERS * np.float32(1 + 3e-4), id="within-onnx"),
        pytest.param(NUMBERS, _but(NUMBERS, 0.25), id="one-wrong"),
        pytest.param(NUMBERS, _but(NUMBERS, np.nan), id="nan"),
        pytest.param(NUMBERS, _but(NUMBERS, -np.inf), id="infinity"),
        pytest.param(_but(NUMBERS, np.nan), _but(NUMBERS, np.nan), id="nan-on-both-sides"),
        pytest.param(NUMBERS, np.zeros_like(NUMBERS), id="constant-reference"),
        pytest.param(NUMBERS, NUMBERS * np.float32(1e-3), id="zeros-would-pass"),
        pytest.param(WHOLE, WHOLE, id="whole"),
        pytest.param(WHOLE, _but(WHOLE, 99), id="whole-wrong"),
        pytest.param(WHOLE % 2 == 0, _but(WHOLE % 2 == 0, True), id="bool-wrong"),
        pytest.param(WHOLE.astype(str).astype(object), WHOLE.astype(str).astype(object), id="texts"),
        pytest.param(WHOLE.astype(str).astype(object), _but(WHOLE.astype(str).astype(object), "x"), id="text-wrong"),
        pytest.param(np.zeros((2, 0), np.float32), np.zeros((2, 0), np.float32), id="empty"),
    ],
)
def test_every_choice_gives_what_a_run_with_it_gives(tmp_path: Path, given: Array, expected: Array) -> None:
    _all_pairs(_identity(tmp_path, given, expected))


def test_limits_of_one_output_win_over_every_choice(tmp_path: Path) -> None:
    job = _identity(tmp_path, NUMBERS, _but(NUMBERS, 0.25), named=Tolerance(0.0, 2.0))
    results = _all_pairs(job, ("default", "torch", "fixed:0,0"))
    assert {result.outcome for _, result in results.values()} == {Outcome.OK}


def test_a_shape_that_is_another_is_wrong_by_every_choice(tmp_path: Path) -> None:
    results = _all_pairs(_identity(tmp_path, NUMBERS, NUMBERS[:, :5].copy()), ("derived", "default", "fixed:0.5,0.5"))
    assert {result.outcome for _, result in results.values()} == {Outcome.MISMATCH}


@pytest.mark.parametrize("off", [0.0, 3e-5, 5.0])
def test_a_derived_tolerance_gives_way_to_any_other(tmp_path: Path, off: float) -> None:
    path = linear_model(tmp_path / "linear.onnx")
    model = golden_for(path, tmp_path / "right")
    right = read_golden(tmp_path / "right")
    outputs = [{"y": output["y"] + np.float32(off)} for output in right.outputs]
    write_golden(
        tmp_path / "golden", model=model, inputs=right.inputs, outputs=outputs, seed=0, producer="numpy",
        producer_version="2", who="tests", reason="a test", created_at="2026-11-26T00:00:00+00:00",
    )  # fmt: skip
    contract = Contract(task_metric="classification")
    case = Case("linear", model, Inputs(golden=str(tmp_path / "golden")), contract)
    job = VerifyJob(case, find_flow("onnxruntime"), tolerance_dir=str(tmp_path / "tolerance"))
    results = _all_pairs(job)
    assert results["derived"][1].comparisons[0].tolerance == "derived"
    assert (results["derived"][1].outcome is Outcome.OK) == (off == 0.0)
    assert results["fixed:0.5,0.5"][1].outcome is (Outcome.MISMATCH if off == 5.0 else Outcome.OK)


def test_a_quantized_output_keeps_the_limits_of_its_grid(tmp_path: Path) -> None:
    path = linear_model(tmp_path / "linear.onnx")
    model = golden_for(path, tmp_path / "golden", samples=8)
    case = Case("linear", model, Inputs(golden=str(tmp_path / "golden")))
    job = VerifyJob(case, find_flow("onnxruntime-int8-qdq-per-channel"), tolerance_dir=str(tmp_path / "tolerance"))
    _all_pairs(job, ("derived", "default", "torch", "fixed:0,0"))


def test_a_run_that_derived_no_tolerance_cannot_be_judged_by_one(tmp_path: Path) -> None:
    job = _identity(tmp_path, NUMBERS, NUMBERS)
    asked, result = _run(job, "torch")
    with pytest.raises(UsageError, match="check again with --tolerance derived"):
        by_choice(result, asked, "derived")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1),
    noise=st.sampled_from([0.0, 1e-7, 1e-6, 1e-5, 1e-3, 0.1]),
    dtype=st.sampled_from(["float32", "float64", "float16"]),
    special=st.sampled_from([None, np.nan, np.inf, 0.0]),
    old=st.sampled_from(CHOICES[1:]),
    new=st.sampled_from(CHOICES[1:]),
)
def test_any_error_is_judged_again_as_it_would_have_been(
    tmp_path: Path, seed: int, noise: float, dtype: str, special: float | None, old: str, new: str
) -> None:
    random = np.random.default_rng(seed)
    expected = (random.standard_normal((3, 16)) * 10.0 ** random.integers(-2, 3, (3, 16))).astype(dtype)
    actual = (expected * (1 + noise * random.standard_normal((3, 16)))).astype(dtype)
    if special is not None:
        actual[tuple(random.integers(0, (3, 16)))] = special
    job = _identity(tmp_path / f"{seed}-{noise}-{dtype}-{special}", actual, expected)
    _same(job, {old: _run(job, old), new: _run(job, new)}, old, new)
