"""Operators of com.microsoft, evaluated in double by their steps, beside unoptimised ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from contrib_case import Case
from contrib_cases import cases
from onnx import helper

from assay.numerics.operators.index import in_domain, onnx_operators
from assay.numerics.operators.record import MICROSOFT
from assay.numerics.oracle.batched.evaluation import Rows, evaluate_rows
from assay.numerics.oracle.contrib.decompose_contrib import decomposed
from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
from assay.numerics.oracle.hooks import Hook
from assay.numerics.tolerance.simulate.double_evaluation import as_type
from assay.ports import Tensor

ALL = list(cases())


def _by_onnxruntime(case: Case) -> list[Tensor]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(case.model().SerializeToString(), options, ["CPUExecutionProvider"])
    tensors: list[Tensor] = session.run(None, case.feeds())
    return tensors


@pytest.mark.parametrize("case", ALL, ids=[f"{at}-{case.operator}" for at, case in enumerate(ALL)])
def test_an_operator_gives_what_onnxruntime_gives(case: Case) -> None:
    expected = _by_onnxruntime(case)
    wide = WideEvaluator(case.model()).evaluate(as_type(case.feeds(), np.float64))
    for answers, digits in ((wide, 2e-6), (Evaluator(case.model()).evaluate(case.feeds()), 4e-6)):
        for theirs, mine in zip(expected, answers, strict=True):
            assert mine.shape == theirs.shape
            if theirs.dtype.kind in "iub":
                assert mine.dtype == theirs.dtype
                off = np.abs(mine.astype(np.int64) - theirs.astype(np.int64))
                assert off.max(initial=0) <= 1
                assert np.count_nonzero(off) <= off.size / 20  # ties and quotients next to one
            else:
                # Polynomials of sigmoid and tanh err by some 1e-7 of 1.
                room = digits * np.linalg.norm(theirs) + 1e-7 * np.sqrt(theirs.size)
                assert np.linalg.norm(mine - theirs) <= room


def test_every_record_has_a_case() -> None:
    without_steps = {
        operator.name for operator in onnx_operators().values() if operator.domain == MICROSOFT and operator.reference
    } - {"Tokenizer"}  # it gives texts, which are compared in test_oracle_text
    taken_apart = {operator.name for operator in onnx_operators().values() if operator.decomposition}
    assert {case.operator for case in ALL} == {
        *taken_apart,
        *in_domain(MICROSOFT, lambda record: record.kernel),
        *without_steps,
    }


@pytest.mark.parametrize(
    "case",
    [case for case in ALL if case.operator in in_domain(MICROSOFT, lambda record: record.batched) and case.stored],
)
def test_evaluations_side_by_side_say_what_each_says_alone(case: Case) -> None:
    """Each with grids of its own range."""
    feeds = as_type(case.feeds(), np.float64)
    rows = {name: np.stack([value, 3 * value, value - 1]) for name, value in feeds.items() if value.dtype.kind == "f"}
    evaluator = WideEvaluator(case.model())
    batched = evaluate_rows(evaluator, {**feeds, **rows}, list(rows), 3, Lifted(), evaluator.output_names)
    for row, mine in enumerate(batched):
        alone = evaluator.evaluate({**feeds, **{name: value[row] for name, value in rows.items()}})
        for ours, theirs in zip(mine, alone, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


class Lifted(Rows):
    def touches(self, outputs: tuple[str, ...]) -> bool:
        return False

    def row(self, number: int) -> Hook:
        pytest.fail("evaluated row by row")

    def broken(self, outputs: tuple[str, ...], why: str) -> None:
        pytest.fail(why)


def test_what_a_model_defines_itself_stays() -> None:
    """A function of the model goes before the operator of that name."""
    case = Case("Gelu", (np.ones(3, np.float32),))
    model = case.model()
    body = [helper.make_node("Neg", ["a"], ["b"])]
    opsets = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function("com.microsoft", "Gelu", ["a"], ["b"], body, opsets))
    assert decomposed(model) is model
    assert WideEvaluator(model).evaluate({"x0": np.ones(3)})[0].tolist() == [-1, -1, -1]


def test_shapes_behind_other_such_operators_become_known() -> None:
    """FusedMatMul turns its operand by its rank, which inference does not know behind a Gelu of that domain."""
    first = Case("Gelu", (np.ones((2, 3), np.float32),)).model()
    second = helper.make_node("FusedMatMul", ["Y", "Y"], ["Z"], domain="com.microsoft", transB=1)
    first.graph.node.append(second)
    first.graph.output[0].name = "Z"
    assert {node.domain for node in decomposed(first).graph.node} == {""}


def test_in_a_branch_too() -> None:
    inner = helper.make_graph(
        [helper.make_node("QuickGelu", ["x"], ["y"], domain="com.microsoft")],
        "then",
        [],
        [onnx.ValueInfoProto(name="y")],
    )
    node = helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=inner)
    inputs = [
        helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2]),
    ]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [2])])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    evaluator = WideEvaluator(helper.make_model(graph, opset_imports=opsets))
    (answer,) = evaluator.evaluate({"c": np.array(True), "x": np.array([0.0, 50.0])})
    np.testing.assert_allclose(answer, [0, 50])
