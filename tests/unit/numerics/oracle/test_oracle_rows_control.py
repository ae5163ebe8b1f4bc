"""Loop, If and sequences in several rows at once say what each row says alone; what decides the way is the same in all."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from assay.errors import Lowering
from assay.numerics.oracle.batched.evaluation import Rows, evaluate_rows, stackable
from assay.numerics.oracle.batched.operator import NotBatchable
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.oracle.hooks import SILENT, Hook

ROWS = 3
COLLECT = """g (float[4, 3] x, int64 most, bool go) => (float[3] last, float[4, 3] stack, float[8, 3] joined, float[1, 3] second) {
    zero = Constant<value: tensor = int64[1] {0}>()
    start = ReduceMax<keepdims=0>(x, zero)
    empty = SequenceEmpty()
    last, parts, stack = Loop(most, go, start, empty) <body = body (int64 i, bool c, float[3] h, seq(float[1, 3]) s)
      => (bool again, float[3] next, seq(float[1, 3]) grown, float[3] row) {
        again = Identity(c)
        here = Gather(x, i)
        even = Mod(i, two)
        odd = Cast<to=9>(even)
        row = If(odd) <then_branch = odd_rows () => (float[3] a) { a = Neg(here) },
                       else_branch = even_rows () => (float[3] b) { b = Mul(here, h) }>
        next = Add(h, row)
        wide = Unsqueeze(next, zero)
        once = SequenceInsert(s, wide)
        twice = Exp(wide)
        grown = SequenceInsert(once, twice, first)
    }>
    joined = ConcatFromSequence<axis=0>(parts)
    second = SequenceAt(parts, one)
    two = Constant<value: tensor = int64 {2}>()
    one = Constant<value: tensor = int64 {1}>()
    first = Constant<value: tensor = int64 {0}>()
}"""
UNTIL = """g (float[3] x) => (float[3] y) {
    go = Constant<value: tensor = bool {1}>()
    y = Loop("", go, x) <body = body (int64 i, bool c, float[3] h) => (bool again, float[3] next) {
        next = Mul(h, h)
        total = ReduceSum<keepdims=0>(next)
        again = Greater(total, small)
    }>
    small = Constant<value: tensor = double {0.1}>()
}"""


class _Quiet(Rows):
    def touches(self, outputs: tuple[str, ...]) -> bool:
        return False

    def row(self, number: int) -> Hook:
        return SILENT


def _evaluator(text: str) -> WideEvaluator:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    nodes = sorted(model.graph.node, key=lambda node: node.op_type != "Constant")  # what bodies read comes before them
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return WideEvaluator(model)


def test_a_loop_in_rows_is_that_of_each_row() -> None:
    evaluator = _evaluator(COLLECT)
    assert stackable(evaluator)
    still: dict[str, Any] = {"most": np.array(4), "go": np.array(True)}
    x = np.random.default_rng(3).standard_normal((ROWS, 4, 3))
    rows = evaluate_rows(evaluator, {**still, "x": x}, ["x"], ROWS, _Quiet(), evaluator.output_names)
    for row in range(ROWS):
        alone = evaluator.evaluate({**still, "x": x[row]})
        for name, ours, theirs in zip(evaluator.output_names, rows[row], alone, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=name)
            assert ours.shape == theirs.shape


def test_rows_that_would_go_several_ways_are_not_evaluated_together() -> None:
    evaluator = _evaluator(UNTIL)
    x = np.stack([np.full(3, number) for number in (0.5, 0.9, 0.99)])
    with pytest.raises(NotBatchable):
        evaluate_rows(evaluator, {"x": x}, ["x"], ROWS, _Quiet(), ["y"])
    turns = [evaluator.evaluate({"x": row})[0] for row in x]
    assert len({turn.round(6)[0] for turn in turns}) == ROWS


def test_a_failure_inside_names_the_operator() -> None:
    evaluator = _evaluator(COLLECT)
    feeds: dict[str, Any] = {"most": np.array(9), "go": np.array(True), "x": np.zeros((ROWS, 4, 3))}
    with pytest.raises(Lowering, match="Gather"):
        evaluate_rows(evaluator, feeds, ["x"], ROWS, _Quiet(), evaluator.output_names)
