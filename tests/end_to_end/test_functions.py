"""An operator beside the body of its function: agreement passes, a body that computes something else is named."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from assay.core.case import Case, Contract, Inputs, Tolerance
from assay.core.job import VerifyJob
from assay.core.model import Model, TensorSpec
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.judge.words.note_text import note_text
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.plugins import find_flow
from assay.suites.onnx_functions import OnnxFunctions, paired
from assay.suites.onnx_node import OnnxNode
from assay.testing.suite_checks import check_suite
from assay.worker.stages import Stages
from assay.worker.verify.function_equivalence import shuffled
from judged_job import execute_judged as execute

X = np.array([[-1.5, 0.25, 3.0]], np.float32)


def _model(path: Path, *nodes: onnx.NodeProto) -> Model:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in "xy"]
    graph = helper.make_graph(nodes, path.stem, values[:1], values[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("nobody.knows", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(path))
    return msgspec.structs.replace(open_model(path), name=path.stem)


def _run(folder: Path, *body: onnx.NodeProto, published: np.ndarray, flow: str = "reference") -> Result:
    operator = _model(folder / "test_relu.onnx", helper.make_node("Relu", ["x"], ["y"]))
    other = _model(folder / "test_relu_expanded.onnx", *body)
    write_golden(
        folder / "golden", model=operator, inputs=[{"x": X}], outputs=[{"y": published}], seed=0, producer="t",
        producer_version="", who="t", reason="t", created_at="",
    )  # fmt: skip
    contract = Contract(tolerances={"*": Tolerance(2e-3, 2e-7)}, published=True)
    case = Case("onnx-functions/c", operator, Inputs(golden=str(folder / "golden"), samples=1), contract, body=other)
    return execute(VerifyJob(case, find_flow(flow)), Stages(lambda stage: None))


_ZERO = helper.make_node("Constant", [], ["zero"], value=helper.make_tensor("z", TensorProto.FLOAT, [], [0.0]))
_RIGHT = (_ZERO, helper.make_node("Max", ["x", "zero"], ["y"]))
_LEAKY = (helper.make_node("LeakyRelu", ["x"], ["y"], alpha=0.1),)
_PARTS = (  # x itself where x[0, 0] is negative, as on the published inputs, and relu elsewhere
    _ZERO,
    helper.make_node("Constant", [], ["at"], value=helper.make_tensor("a", TensorProto.INT64, [1], [0])),
    helper.make_node("Gather", ["x", "at"], ["first"], axis=1),
    helper.make_node("Less", ["first", "zero"], ["negative"]),
    helper.make_node("Relu", ["x"], ["relu"]),
    helper.make_node("Where", ["negative", "relu", "x"], ["y"]),
)


def test_an_operator_and_its_body_that_agree_pass(tmp_path: Path) -> None:
    result = _run(tmp_path, *_RIGHT, published=np.maximum(X, 0))
    assert (result.outcome, result.stage) == (Outcome.OK, Stage.COMPARE)
    assert result.comparisons[0].elements == 6, "the published sample, and the same numbers shuffled"


@pytest.mark.parametrize(
    ("body", "published", "message"),
    [
        (_LEAKY, np.maximum(X, 0), "the published outputs are those of the operator"),
        (_LEAKY, np.where(X < 0, X * np.float32(0.1), X), "the published outputs are those of the body"),
        (_LEAKY, X + 1, "the published outputs are those of neither"),
        (_PARTS, np.maximum(X, 0), "on the published inputs both are right, on the same numbers shuffled they part"),
    ],
)
def test_a_disagreement_names_both_and_who_is_right(
    body: tuple[onnx.NodeProto, ...], published: np.ndarray, message: str, tmp_path: Path
) -> None:
    result = _run(tmp_path, *body, published=published)
    assert result.outcome is Outcome.MISMATCH
    assert result.findings[-1].kind == "function_body"
    assert result.detail.startswith("test_relu and its function body test_relu_expanded disagree: ")
    assert result.detail.endswith(message)


def test_a_lane_without_an_answer_says_which_it_is(tmp_path: Path) -> None:
    nobody = helper.make_node("Relu", ["x"], ["y"], domain="nobody.knows")
    result = _run(tmp_path, nobody, published=np.maximum(X, 0), flow="onnxruntime")
    assert result.outcome is not Outcome.OK
    assert result.ended is not None
    assert note_text(result.ended).startswith("its function body: ")


def test_shuffling_keeps_the_numbers_and_leaves_whole_ones_in_place() -> None:
    sample = {"x": np.arange(100, dtype=np.float16), "i": np.arange(100), "t": np.array(["a", "b"], object)}
    mixed = shuffled(sample, 3)
    assert not np.array_equal(mixed["x"], sample["x"])
    assert np.array_equal(np.sort(mixed["x"]), sample["x"])
    assert np.array_equal(mixed["i"], sample["i"])
    assert np.array_equal(shuffled(sample, 3)["x"], mixed["x"])


@pytest.mark.slow
def test_every_body_of_the_node_cases_is_paired_but_those_that_draw_at_random() -> None:
    bodies = [case.name for case in OnnxNode().cases(seed=0) if "_expanded" in case.name]
    check_suite(OnnxFunctions(), at_least=400)
    paired = {case.name.partition("/")[2] for case in OnnxFunctions().cases(seed=0)}
    assert {name.partition("/")[2] for name in bodies} - paired == {
        "test_bernoulli_expanded", "test_bernoulli_double_expanded", "test_bernoulli_seed_expanded",
    }  # fmt: skip
    contracts = {case.model.name: case.contract for case in OnnxFunctions().cases(seed=0)}
    assert set(contracts["test_attention_4d_causal"].tolerances) == {"*"}
    assert len(contracts["test_attention_4d_causal_bf16"].tolerances) == 2


def _published(folder: Path, name: str, dtype: str, operator: str = "Relu") -> Case:
    path = folder / f"{name}.onnx"
    _model(path, helper.make_node(operator, ["x"], ["y"]))
    model = Model(name, str(path), "1", (), (TensorSpec("y", dtype, (2,)),))
    return Case(f"onnx-node/{name}", model, Inputs(), Contract(tolerances={"*": Tolerance(1e-3, 1e-7)}, published=True))


def test_two_roundings_of_bfloat16_are_no_disagreement(tmp_path: Path) -> None:
    known = [
        _published(tmp_path, name, dtype)
        for name, dtype in (("test_a", "float32"), ("test_a_bf16", "bfloat16"), ("test_alone", "float32"))
    ]
    bodies = [
        _published(tmp_path, f"{name}_expanded", dtype)
        for name, dtype in (("test_a", "float32"), ("test_a_bf16", "bfloat16"), ("test_of_nobody", "float32"))
    ]
    cases = {case.model.name: case for case in paired([*known, *bodies], seed=0)}
    assert {name: case.body.name for name, case in cases.items() if case.body} == {
        "test_a": "test_a_expanded", "test_a_bf16": "test_a_bf16_expanded",
    }  # fmt: skip
    assert cases["test_a_bf16"].contract.tolerances["y"].rtol == 4 * 2.0**-8
    assert cases["test_a"].contract.tolerances == {"*": Tolerance(2e-3, 2e-7)}


@pytest.mark.parametrize(
    ("operator", "body", "is_paired"),
    [
        ("Relu", "Relu", True),
        ("Bernoulli", "Bernoulli", False),
        ("Relu", "RandomUniformLike", False),
        ("Bernoulli", "Relu", False),
    ],
)
def test_an_operator_that_draws_at_random_and_one_whose_body_does_are_not_paired(
    tmp_path: Path, operator: str, body: str, is_paired: bool
) -> None:
    pair = [
        _published(tmp_path, "test_a", "float32", operator),
        _published(tmp_path, "test_a_expanded", "float32", body),
    ]
    assert bool([*paired(pair, seed=0)]) is is_paired
