"""Local judgement: correct flows pass in every precision, and the node that lies is the one that is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest
from classifier_per_node import MODEL, per_node_results
from onnx import numpy_helper

from assay.commands.check import run_check
from assay.core.outcome import Outcome
from assay.judge.words.finding_text import finding_text
from assay.models.expose_intermediates import expose_intermediates, part
from assay.options.check import CheckOptions
from assay.worker.per_node.node_comparison import NodeComparisons
from int8_sums import skip_where_sums_saturate

ORT = 'backend = "onnxruntime"'


def test_correct_flows_pass_in_every_precision(tmp_path: Path) -> None:
    skip_where_sums_saturate()
    flows = {
        "single": ORT,
        "half": f'{ORT}\ntransforms = ["fp16"]\nprecision = "float16"',
        "int8": f'{ORT}\ntransforms = ["int8-qdq"]\nprecision = "int8"',
        "bf16": 'backend = "openvino"\nprecision = "bfloat16"\noptions = { precision = "bfloat16" }',
    }
    for name, result in per_node_results(flows, tmp_path).items():
        assert result.outcome is Outcome.OK, (name, result.detail)
        assert "12 nodes" in result.detail or "nodes are right" in result.detail
        assert 0 < max(comparison.metrics["budget_used"] for comparison in result.comparisons) < 1
        errors = {error.operator: error for error in result.node_errors if error.sqnr_db is not None}
        floor_db = {"single": 120.0, "half": 55.0, "int8": 30.0, "bf16": 40.0}[name.partition("|")[0]]
        assert all(error.sqnr_db is not None and error.sqnr_db > floor_db for error in errors.values()), name
        assert {"Conv", "Gemm", "MaxPool"} <= set(errors), name


def test_what_only_moves_numbers_is_off_by_two_roundings_at_most() -> None:
    """A leak of one per cent lies within what a convolution before it may be off by: that excuses nothing."""
    body = """<ir_version: 10, opset_import: ["" : 21]>
        g (float[1, 8, 9] x) => (float[1, 4, 9] y) { c = Conv(x, w)  y = Relu(c) }"""
    model = onnx.parser.parse_model(body)
    weights = np.random.default_rng(0).standard_normal((4, 8, 1)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))

    def stored(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return array.astype(ml_dtypes.bfloat16).astype(np.float32)

    x = stored(np.random.default_rng(1).standard_normal((1, 8, 9)).astype(np.float32))
    exact = np.einsum("oi,bik->bok", weights[:, :, 0].astype(np.float64), x.astype(np.float64))
    c = stored(exact.astype(np.float32))
    for slope, rounded, right in ((0.0, c, True), (0.0, exact, True), (0.01, c, False)):
        y = stored(np.where(rounded > 0, rounded, slope * rounded).astype(np.float32))
        nodes = NodeComparisons(model, [{"x": x, "c": c, "y": y}], "bfloat16", (), 0)
        seen = nodes.judge(model.graph.node[1])
        assert seen is not None
        assert (seen.budget <= 1.0) is right, (slope, seen)


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_infinities_and_nan_are_told_where_the_node_has_others(precision: str) -> None:
    """A mask of -infinity beside numbers: it must not excuse what stands beside it."""
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 21]> g (bool[4] c, float[4] x) => (float[4] y, float[4] e, float[4] a) <float m = {0}>
        { y = Where(c, x, m)\n e = Exp(x)\n a = Add(x, y) }"""
    )
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array(-np.inf, np.float32), "m"))
    chosen, x = np.array([True, True, False, False]), np.array([1, 2, 3, 4], np.float32)
    right = {"c": chosen, "x": x, "y": np.where(chosen, x, -np.inf).astype(np.float32), "e": np.exp(x)}
    right["a"] = right["x"] + right["y"]
    lowest = np.where(np.isinf(right["y"]), -65504, right["y"]).astype(np.float32)

    def wrong(**answers: Any) -> list[str]:
        fed = {**right, **{name: np.asarray(array, np.float32) for name, array in answers.items()}}
        nodes = NodeComparisons(model, [fed], precision, (), 0)
        seen = [nodes.judge(node) for node in nodes.all]
        return [judged.output for judged in seen if judged is not None and judged.budget > 1.0]

    exponent = right["e"].astype({"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}.get(precision, np.float32))
    right["e"] = exponent.astype(np.float32)
    assert wrong() == []
    assert precision == "float32" or wrong(y=lowest, a=x + lowest) == [], "the end of the type in place of an infinity"
    assert wrong(y=np.where(chosen, -np.inf, x))[0] == "y"
    assert wrong(y=[1, np.nan, -np.inf, -np.inf])[0] == "y"
    assert wrong(y=[1, 2, 3, -np.inf])[0] == "y"
    assert wrong(a=[2, 4, 3, -np.inf]) == ["a"], "a mask that was ignored"
    assert wrong(e=[np.exp(1), np.nan, np.exp(3), np.exp(4)]) == ["e"]
    assert wrong(e=[np.exp(1), np.inf, np.exp(3), np.exp(4)]) == ["e"]


def test_the_lying_node_is_named_also_where_low_precision_hides_it_at_the_end(tmp_path: Path) -> None:
    skip_where_sums_saturate()
    lie = "drop-bias-element@/2/Conv"
    bf16 = 'backend = "openvino"\nprecision = "bfloat16"\noptions = { precision = "bfloat16" }'
    flows = {
        "single": f'{ORT}\ntransforms = ["mutant:{lie}"]',
        "int8": f'{ORT}\ntransforms = ["int8-qdq", "mutant:zero-point-step@image_QuantizeLinear"]\nprecision = "int8"',
        "bf16": f'{bf16}\ntransforms = ["mutant:scale-off=0.02@/2/Conv"]',
    }
    by_job = per_node_results(flows, tmp_path)
    for name, node in (("single", "/2/Conv (Conv)"), ("int8", "image_QuantizeLinear (QuantizeLinear)"),
                       ("bf16", "/2/Conv (Conv)")):  # fmt: skip
        result = by_job[f"{name}|per_node"]
        assert result.outcome is Outcome.MISMATCH, (name, result.detail)
        assert result.node == node
        assert f"the first wrong node is {node}" in result.detail


def test_an_output_that_is_missing_is_the_fault_of_the_node_that_gives_it(tmp_path: Path) -> None:
    """The tapped engine has many outputs: one of the model's own that is not among them is no reason to judge the others only."""
    body = """<ir_version: 10, opset_import: ["" : 21]>
        g (float[1, 4] x) => (float[1, 4] y, float[1, 4] z) { a = Exp(x)  y = Neg(a)  z = Sin(a) }"""
    onnx.save(onnx.parser.parse_model(body), tmp_path / "two.onnx")
    config = tmp_path / "flows.toml"
    config.write_text(f'[flow.lossy]\n{ORT}\ntransforms = ["mutant:missing-output@z"]\n')
    options = CheckOptions(
        models=(tmp_path / "two.onnx",),
        flows=("lossy",),
        config=config,
        only_kind="per_node",
        history=str(tmp_path / "h"),
    )
    (result,) = run_check(options).results
    assert result.outcome is Outcome.MISMATCH, result.detail
    assert "output 'z' is missing" in result.detail
    assert [finding.kind for finding in result.findings] == ["missing_output"]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("body", "name", "given"),
    [
        ("y = Transpose<perm = [0, 2, 1]>(x)", "y", (2, 3, 4)),
        ("y = ReduceSum<keepdims = 1>(x, axis)", "y", (1, 3, 4)),
        ("y = Relu(x)", "y", (2, 12)),
    ],
)
def test_a_node_that_gives_another_shape_is_named(precision: str, body: str, name: str, given: tuple[int, ...]) -> None:
    """It was passed over, or ended the job with an error of numpy."""
    text = f'<ir_version: 10, opset_import: ["" : 21]> g (float[2, 3, 4] x) => (float[N, M, K] y) {{ {body} }}'
    model = onnx.parser.parse_model(text)
    model.graph.initializer.append(numpy_helper.from_array(np.array([2], np.int64), "axis"))
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    seen = NodeComparisons(model, [{"x": x, name: np.ones(given, np.float32)}], precision, (), 0).judge(
        model.graph.node[0]
    )
    assert seen is not None
    assert seen.budget == np.inf
    assert f"has shape {list(given)}" in finding_text(seen.finding)


def test_a_part_of_a_model_is_a_model_with_what_it_needs() -> None:
    model = onnx.load(str(MODEL))
    nodes = list(model.graph.node[:2])
    shapes = {"image": (1, 1, 8, 8), nodes[0].output[0]: (1, 16, 8, 8), nodes[1].output[0]: (1, 16, 8, 8)}
    values = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    alone = part(model, nodes, values)
    assert [value.name for value in alone.graph.input] == ["image"]
    assert {tensor.name for tensor in alone.graph.initializer} == {"0.weight", "0.bias"}
    assert [value.name for value in alone.graph.output] == [nodes[1].output[0]]
    onnx.checker.check_model(alone)
    with pytest.raises(KeyError):
        part(model, [model.graph.node[3]], values)


def test_every_inner_tensor_becomes_an_output_behind_the_models_own(tmp_path: Path) -> None:
    path, plain, taps = expose_intermediates(MODEL, tmp_path)
    tapped = onnx.load(str(path))
    assert [value.name for value in tapped.graph.output] == [*(value.name for value in plain.graph.output), *taps]
    made = {name for node in plain.graph.node for name in node.output}
    assert set(taps) == made - {value.name for value in plain.graph.output}
