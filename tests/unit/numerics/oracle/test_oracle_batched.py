"""Several evaluations at once say what each says alone: on every node case of the standard that computes in double."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import pytest

from assay.errors import AssayError
from assay.numerics.oracle.batched.evaluation import LIFTS, Rows, _Rowed, evaluate_rows, stackable
from assay.numerics.oracle.batched.operator import NotBatchable
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.oracle.hooks import SILENT, Hook

ROWS = 3
UNCHECKED = ("Cast", "CastLike", "ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceInsert")
"""Cases about types that are not there once all is in double; sequences, of which the standard has no case of one operator on
tensors (`test_oracle_rows_control`)."""


class _Quiet(Rows):
    def touches(self, outputs: tuple[str, ...]) -> bool:
        return False

    def row(self, number: int) -> Hook:
        return SILENT

    def broken(self, outputs: tuple[str, ...], why: str) -> None:
        pytest.fail(f"a form that was lifted failed: {why}")


@pytest.fixture(scope="module")
def by_operator(node_cases: list[Any]) -> dict[str, list[Any]]:
    by_operator: dict[str, list[Any]] = {name: [] for name in LIFTS}
    model: Any
    for case in node_cases:
        model = case.model
        nodes = list(model.graph.node) if model else []
        if len(nodes) == 1 and nodes[0].op_type in by_operator and case.data_sets:
            by_operator[nodes[0].op_type].append(case)
    return by_operator


def _moved(value: np.ndarray[Any, Any], row: int) -> np.ndarray[Any, Any]:
    """Another row: what is real is moved a little, within its sign; other things change places."""
    return np.asarray(value * (1 + row / 64)) if value.dtype.kind == "f" else np.roll(value, row)


def _agree(case: Any) -> bool:
    """Whether the rows of a case could be evaluated at all; asserts that they say what each says alone."""
    inputs, _ = case.data_sets[0]
    feeds = dict(zip((info.name for info in case.model.graph.input), inputs, strict=False))
    if not all(isinstance(array, np.ndarray) for array in inputs):
        return False
    first = next(iter(feeds))
    real = [name for name, value in feeds.items() if value.ndim and (value.dtype.kind == "f" or name == first)]
    wide = {name: value.astype(np.float64) if value.dtype.kind == "f" else value for name, value in feeds.items()}
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    try:
        evaluator = WideEvaluator(model)
        if not stackable(evaluator):
            return False
        each = [
            evaluator.evaluate({name: _moved(value, row) if name in real else value for name, value in wide.items()})
            for row in range(ROWS)
        ]
        rows = {name: np.stack([_moved(wide[name], row) for row in range(ROWS)]) for name in real}
    except (AssayError, ValueError):
        return False
    # All inputs in rows, then the first alone.
    for moved in [real, real[:1]] if len(real) > 1 else [real]:
        some = {name: rows[name] for name in moved}
        still = {name: wide[name] for name in real if name not in moved}
        expected = each
        if still:
            expected = [
                evaluator.evaluate({**wide, **{name: value[row] for name, value in some.items()}})
                for row in range(ROWS)
            ]
        try:
            found = evaluate_rows(evaluator, {**wide, **some}, moved, ROWS, _Quiet(), evaluator.output_names)
        except (AssayError, NotBatchable):
            return False
        for row in range(ROWS):
            for ours, theirs in zip(found[row], expected[row], strict=True):
                assert ours.shape == theirs.shape, case.name
                assert ours.dtype == theirs.dtype, case.name
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=case.name)
    return True


@pytest.mark.parametrize("operator", sorted(LIFTS))
def test_rows_say_what_each_says_alone(
    operator: str, by_operator: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lifted: set[str] = set()
    original = _Rowed._lifted

    def counted(self: _Rowed, *arguments: Any) -> Any:
        batched = original(self, *arguments)
        if batched is not None:
            lifted.add(self._node.op_type)
        return batched

    monkeypatch.setattr(_Rowed, "_lifted", counted)
    cases = by_operator[operator]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        ran = [case.name for case in cases if _agree(case)]
    assert ran or operator in UNCHECKED, "no case was evaluated: nothing was checked"
    if ran:
        assert operator in lifted, f"every one of {ran} was evaluated row by row: the lift is never used"


def test_what_only_gives_a_type_does_not_give_its_rank() -> None:
    text = "g (float[3] x, float[2, 2, 3] like) => (float[3] y) { y = CastLike(x, like) }"
    evaluator = WideEvaluator(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}'))
    still = {"x": np.arange(3.0), "like": np.zeros((2, 2, 3))}
    for name in still:
        feeds = {**still, name: np.stack([still[name] + row for row in range(ROWS)])}
        rows = evaluate_rows(evaluator, feeds, [name], ROWS, _Quiet(), ["y"])
        for row, (y,) in enumerate(rows):
            np.testing.assert_array_equal(y, still["x"] + (row if name == "x" else 0))
