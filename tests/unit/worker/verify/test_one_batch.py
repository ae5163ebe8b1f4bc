"""A batch that is open is 1 in the samples: engines that are wrong at other sizes are seen all the same, and right ones are not blamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from batch_models import (
    BATCH_TO_ONE_ROW,
    COLUMNS_ALONE,
    COLUMNS_TOGETHER,
    LOW,
    ROWS_ALONE,
    ROWS_TOGETHER,
    STATE_OF_ONE_ROW,
    STORED,
    TOGETHER_BESIDE_A_MASK,
    TWO_OF_ONE_ROW,
    WEIGHT,
)
from onnx import TensorProto, helper

from assay.core.case import Case, Contract, Inputs, Tolerance
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.repeats import Pattern
from assay.core.result import VerifyResult
from assay.judge.job_outcome import with_outcome
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.testing import faults
from assay.worker.dispatch import execute
from assay.worker.stages import Stages


def _answer_batches_with(
    answered: Callable[[np.ndarray], np.ndarray], monkeypatch: pytest.MonkeyPatch, *, name: str = "y", axis: int = 0
) -> None:
    monkeypatch.setitem(
        faults.AT_SIZES,
        "wrong_above_1",
        lambda outputs: {name: answered(outputs["y"])} if outputs["y"].shape[axis] > 1 else outputs,
    )


def _saved(
    nodes: list[onnx.NodeProto], path: Path, batch: str | int, answers: str | int, *, last: bool, has_level: bool
) -> Model:
    way = -1 if last else 1
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3][::way])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [answers, 2][::way])
    level = [helper.make_tensor_value_info("level", TensorProto.FLOAT, [])] if has_level else []
    graph = helper.make_graph(nodes, "rows", [x, *level], [y], STORED)
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return open_model(path)


def _answer_to(x: np.ndarray, nodes: list[onnx.NodeProto]) -> np.ndarray:
    if nodes is ROWS_TOGETHER:
        return np.ones((1, 2), np.float32)
    if nodes is TOGETHER_BESIDE_A_MASK:
        return np.array([[1, LOW]], np.float32)
    return np.concatenate([x @ WEIGHT] * (2 if nodes is TWO_OF_ONE_ROW else 1))


def _verified(
    nodes: list[onnx.NodeProto],
    folder: Path,
    *,
    batch: str | int = "n",
    answers: str | int = "",
    levels: Sequence[float] = (),
    fault: str = "none",
    last: bool = False,
    exactly: bool = False,
    **dims: tuple[int, int, int],
) -> VerifyResult:
    """`last`: rows lie along the last axis; `answers`: what the batch of the output is called, if otherwise; `levels`: for each sample,
    of an input that has no rows; `exactly`: elements are judged by their own size."""
    model = _saved(nodes, folder / "rows.onnx", batch, answers or batch, last=last, has_level=bool(levels))
    inputs = [{"x": np.random.default_rng(seed).normal(size=(1, 3)).astype(np.float32)} for seed in range(5)]
    outputs = [{"y": _answer_to(sample["x"], nodes)} for sample in inputs]
    if levels:
        for sample, number in zip(inputs, levels, strict=True):
            sample["level"] = np.full((), number, np.float32)
    if last:
        inputs, outputs = (
            [{name: np.ascontiguousarray(array.T) for name, array in sample.items()} for sample in samples]
            for samples in (inputs, outputs)
        )
    write_golden(
        folder / "golden", model=model, inputs=inputs, outputs=outputs, seed=1, producer="numpy",
        producer_version="1", who="tests", reason="a test", created_at="",
    )  # fmt: skip
    flow = Flow("faulty", "faulty", {"fault": fault})
    limits = Limits(repeat_share=100.0)
    job = VerifyJob(
        Case(
            "rows",
            model,
            Inputs(dims=dims),
            Contract(tolerances={"*": Tolerance(rtol=1e-5, atol=1e-5)} if exactly else {}),
        ),
        flow,
        limits=limits,
        scratch=str(folder),
        reference_dir=str(folder / "golden"),
    )
    result = with_outcome(execute(job, Stages(lambda stage: None)), job)
    assert isinstance(result, VerifyResult)
    return result


@pytest.mark.parametrize("fault", ["by_mates", "wrong_above_1"])
def test_what_is_wrong_in_a_batch_only_is_seen(fault: str, tmp_path: Path) -> None:
    result = _verified(ROWS_ALONE, tmp_path, fault=fault)
    assert result.outcome is Outcome.NONDETERMINISTIC, result.detail
    (instability,) = result.repeats.found
    assert (instability.pattern, instability.tensor) == (Pattern.BATCH_MATES, "y")
    assert "the answer to a row depends on the other rows of its batch" in result.detail


def test_a_right_engine_is_not_blamed(tmp_path: Path) -> None:
    result = _verified(ROWS_ALONE, tmp_path)
    assert (result.outcome, result.repeats.found, result.repeats.mates) == (Outcome.OK, (), 4)


@pytest.mark.parametrize(
    ("batch", "answers"),
    [("unk__56", "unk__57"), ("?", "?"), ("", "m"), ("n", "?")],
    ids=lambda name: name or "nameless",
)
def test_a_batch_that_has_another_name_at_each_end(batch: str, answers: str, tmp_path: Path) -> None:
    (tmp_path / "wrong").mkdir()
    wrong = _verified(ROWS_ALONE, tmp_path / "wrong", batch=batch, answers=answers, fault="wrong_above_1")
    assert [found.pattern for found in wrong.repeats.found] == [Pattern.BATCH_MATES]
    for nodes in (ROWS_ALONE, ROWS_TOGETHER):
        folder = tmp_path / str(len(nodes))
        folder.mkdir()
        assert _verified(nodes, folder, batch=batch, answers=answers).repeats.found == ()


@pytest.mark.parametrize(
    ("levels", "mates"),
    [((3, 3, 3, 3, 3), 4), ((3, 1, 3, 2, 3), 3), ((3, 1, 2, 4, 5), 0)],
    ids=["same", "some", "none"],
)
def test_samples_with_the_same_of_what_has_no_rows_are_one_batch(
    levels: tuple[float, ...], mates: int, tmp_path: Path
) -> None:
    right = _verified(ROWS_ALONE, tmp_path, levels=levels)
    assert (right.repeats.found, right.repeats.mates) == ((), mates)
    wrong = _verified(ROWS_ALONE, tmp_path, levels=levels, fault="wrong_above_1")
    assert [found.pattern for found in wrong.repeats.found] == [Pattern.BATCH_MATES] * bool(mates)


@pytest.mark.parametrize(
    ("answered", "words"),
    [
        (lambda y: y.sum(), "at n=4: Sample 0: output 'y' has shape [] where [4, 2] is expected"),
        (lambda y: np.concatenate([y, y]), "at n=4: Sample 0: output 'y' has shape [8, 2] where [4, 2] is expected"),
        (lambda y: y.astype(np.float64), "Sample 0: output 'y' is float64 where float32 is expected"),
        (lambda y: np.where(np.arange(len(y))[:, None] == 2, np.float32(np.nan), y), "2 elements have NaN on one side only, at [2, 0, 0]"),
    ],
    ids=["no-axis", "twice-the-rows", "type", "nan"],
)  # fmt: skip
def test_a_batch_of_another_form_is_seen_and_told(
    answered: Callable[[np.ndarray], np.ndarray], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _answer_batches_with(answered, monkeypatch)
    result = _verified(ROWS_ALONE, tmp_path, fault="wrong_above_1")
    assert result.outcome is Outcome.NONDETERMINISTIC, result.detail
    assert [instance.pattern for instance in result.repeats.found] == [Pattern.BATCH_MATES]
    assert words in result.detail
    assert "by up to" not in result.detail


def test_a_batch_without_its_output_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _answer_batches_with(lambda y: y, monkeypatch, name="z")
    result = _verified(ROWS_ALONE, tmp_path, fault="wrong_above_1")
    assert result.outcome is Outcome.NONDETERMINISTIC, result.detail
    assert "output 'y' is missing" in result.detail


def test_a_model_that_reshapes_its_batch_has_no_rows(tmp_path: Path) -> None:
    """The engine gives the one row that the reference gives, too."""
    result = _verified(BATCH_TO_ONE_ROW, tmp_path)
    assert (result.outcome, result.repeats.found) == (Outcome.OK, ()), result.detail


def test_a_model_that_makes_two_rows_of_one_has_no_rows(tmp_path: Path) -> None:
    """A detector that reshapes its boxes to [-1, 4] says nothing else of them."""
    result = _verified(TWO_OF_ONE_ROW, tmp_path, answers="m")
    assert (result.outcome, result.repeats.found, result.repeats.mates) == (Outcome.OK, (), 0), result.detail


def test_a_batch_that_the_graph_forbids_is_not_asked_for(tmp_path: Path) -> None:
    """The state is stored for one row: MNN (3.6) reads what lies behind it for the others."""
    result = _verified(STATE_OF_ONE_ROW, tmp_path, fault="wrong_above_1")
    assert (result.outcome, result.repeats.found, result.repeats.mates) == (Outcome.OK, (), 0), result.detail


def test_rows_that_depend_on_each_other_in_the_model_do_so_in_the_engine(tmp_path: Path) -> None:
    assert not _verified(ROWS_TOGETHER, tmp_path).repeats.found


def test_rows_depend_on_each_other_beside_a_number_that_hides_it(tmp_path: Path) -> None:
    assert not _verified(TOGETHER_BESIDE_A_MASK, tmp_path, exactly=True).repeats.found


def test_what_an_engine_answers_after_a_batch_that_it_refuses_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model says that its batch is open, and reshapes it to 1: OpenVINO (2026.4) refuses, and its next answer may be false."""
    refusals = []

    def refuses(outputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        if len(outputs["y"]) > 1:
            refusals.append(len(outputs["y"]))
            raise RuntimeError("no such batch")
        return {"y": outputs["y"] + len(refusals)}

    monkeypatch.setitem(faults.AT_SIZES, "wrong_above_1", refuses)
    result = _verified(ROWS_ALONE, tmp_path, fault="wrong_above_1")
    assert (result.outcome, result.repeats.found, refusals) == (Outcome.OK, (), [4]), result.detail


@pytest.mark.parametrize(("batch", "dims"), [(1, {}), ("n", {"n": (1, 1, 1)})])
def test_a_fixed_batch_is_not_left(batch: str | int, dims: dict[str, Any], tmp_path: Path) -> None:
    assert _verified(ROWS_ALONE, tmp_path, batch=batch, fault="wrong_above_1", **dims).repeats.mates == 0


def test_a_batch_may_lie_along_any_axis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _answer_batches_with(lambda y: y + np.float32(0.09), monkeypatch, axis=1)
    right = _verified(COLUMNS_ALONE, tmp_path, last=True)
    assert (right.outcome, right.repeats.found, right.repeats.mates) == (Outcome.OK, (), 4), right.detail
    wrong = _verified(COLUMNS_ALONE, tmp_path, last=True, fault="wrong_above_1")
    assert wrong.outcome is Outcome.NONDETERMINISTIC, wrong.detail
    assert [instance.pattern for instance in wrong.repeats.found] == [Pattern.BATCH_MATES]


def test_columns_that_depend_on_each_other_are_no_batch(tmp_path: Path) -> None:
    result = _verified(COLUMNS_TOGETHER, tmp_path, last=True)
    assert (result.outcome, result.repeats.found) == (Outcome.OK, ()), result.detail


@pytest.mark.parametrize(
    "is_wrong", [lambda rows: rows > 33, lambda rows: rows > 1 and rows % 2 == 1], ids=["beyond-33", "odd"]
)
def test_a_long_and_odd_batch_is_asked_for(
    is_wrong: Callable[[int], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the last row is wrong, as tails of loops over rows are."""
    tail = np.float32(0.09)

    def answered(y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[:-1], y[-1:] + tail]) if is_wrong(len(y)) else y

    _answer_batches_with(answered, monkeypatch)
    result = _verified(ROWS_ALONE, tmp_path, fault="wrong_above_1")
    assert result.outcome is Outcome.NONDETERMINISTIC, result.detail
    assert [instance.pattern for instance in result.repeats.found] == [Pattern.BATCH_MATES]


def test_an_output_that_the_model_does_not_name_has_rows_along_the_first_axis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(faults.AT_SIZES, "wrong_above_1", lambda outputs: {"z": outputs["y"]})
    result = _verified(ROWS_ALONE, tmp_path, fault="wrong_above_1")
    assert result.outcome is Outcome.MISMATCH, result.detail
    assert "output 'y' is missing" in result.detail
