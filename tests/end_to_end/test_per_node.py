"""Local judgement: correct flows pass in every precision, and the node that lies is the one that is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import ModelProto, numpy_helper

from assay import plugins
from assay.commands.check import run_check
from assay.core.model import TensorSpec
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.finding_text import finding_text
from assay.models.conversion import convert_to
from assay.models.expose_intermediates import expose_intermediates, part
from assay.models.expose_program_intermediates import expose_program_intermediates
from assay.models.goldens import read_golden
from assay.models.program import open_program, save_program
from assay.onnx_to_torch.dtypes import to_numpy
from assay.options.check import CheckOptions
from assay.worker.per_node.node_comparison import NodeComparisons
from int8_sums import skip_where_sums_saturate

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
MODEL = DIGITS / "models" / "classifier.onnx"


def per_node_results(flows: dict[str, str], tmp_path: Path, task: str = "per_node") -> dict[str, Result]:
    """Each flow (its table in assay.toml) judged node by node on the classifier, by name."""
    config = tmp_path / "flows.toml"
    config.write_text("".join(f"[flow.{name}]\n{table}\n" for name, table in flows.items()))
    options = CheckOptions(
        models=(MODEL,), flows=tuple(flows), golden=DIGITS / "goldens" / "classifier", config=config, only_kind=task,
        history=str(tmp_path / "history"), per_node=True,
    )  # fmt: skip
    return {f"{one.flow}|{one.kind}": one for one in run_check(options).results}


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
        assert 0 < max(one.metrics["budget_used"] for one in result.comparisons) < 1
        errors = {error.operator: error for error in result.node_errors if error.sqnr_db is not None}
        floor_db = {"single": 120.0, "half": 55.0, "int8": 30.0, "bf16": 40.0}[name.partition("|")[0]]
        assert all(error.sqnr_db is not None and error.sqnr_db > floor_db for error in errors.values()), name
        assert {"Conv", "Gemm", "MaxPool"} <= set(errors), name


XNNPACK = (
    'backend = "executorch"\noptions = { delegate = "xnnpack" }\ntransforms = ["xnnpack-int8"]\nprecision = "int8"'
)


@pytest.mark.slow
def test_a_quantized_program_is_tapped_where_it_is_put_on_a_grid(tmp_path: Path) -> None:
    """XNNPACK computes what lies between two grids as one: the engine with the taps is the engine without."""
    (result,) = per_node_results({"xnnpack": XNNPACK}, tmp_path).values()
    assert result.outcome is Outcome.OK, result.detail
    assert "10 nodes are right on their own inputs" in result.detail
    assert "the tapped engine's" not in result.detail


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torchao imports
def test_a_program_whose_layer_is_off_by_a_step_is_told_from_one_next_to_a_tie(tmp_path: Path) -> None:
    """The taps of a program compared with a graph of which one layer has another scale: as if the engine had."""
    transform = plugins.load("assay.transforms", "xnnpack-int8")()
    transform.prepare()
    samples = [dict(one) for one in read_golden(DIGITS / "goldens" / "classifier").inputs[:4]]
    program = convert_to(MODEL, "torch", tmp_path, shapes={name: one.shape for name, one in samples[0].items()})
    tapped, graph, taps = expose_program_intermediates(transform.apply(program, tmp_path, "", samples), tmp_path)
    assert len(taps) == 9
    assert set(taps) < {name for node in graph.graph.node for name in node.output}
    opened = open_program(tapped)
    values = []
    for sample in samples[:2]:
        args, kwargs = opened.arguments(sample)
        found = opened.results(opened.exported.module()(*args, **kwargs))
        values.append({**sample, **{name: to_numpy(one) for name, one in found.items()}})
    sound = NodeComparisons(graph, values, "int8", (), 0)
    assert all(seen is not None and seen.budget <= 1.0 for seen in map(sound.judge, sound.all))
    node = next(one for one in graph.graph.node if one.output[0] == "quantize_per_tensor_4")
    scale = next(one for one in graph.graph.initializer if one.name == node.input[1])
    graph.graph.initializer.append(numpy_helper.from_array(numpy_helper.to_array(scale) * np.float32(1.01), "wrong"))
    node.input[1] = "wrong"
    lying = NodeComparisons(graph, values, "int8", (), 0)
    blamed = [one for one in lying.all if (seen := lying.judge(one)) is not None and seen.budget > 1.0]
    assert [one.output[0] for one in blamed] == ["quantize_per_tensor_4"]


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
        return [one.output for one in seen if one is not None and one.budget > 1.0]

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
    found = per_node_results(flows, tmp_path)
    for name, node in (("single", "/2/Conv (Conv)"), ("int8", "image_QuantizeLinear (QuantizeLinear)"),
                       ("bf16", "/2/Conv (Conv)")):  # fmt: skip
        result = found[f"{name}|per_node"]
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
    assert "Output 'z' is missing" in result.detail
    assert [one.kind for one in result.findings] == ["missing_output"]


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
    assert [one.name for one in alone.graph.input] == ["image"]
    assert {one.name for one in alone.graph.initializer} == {"0.weight", "0.bias"}
    assert [one.name for one in alone.graph.output] == [nodes[1].output[0]]
    onnx.checker.check_model(alone)
    with pytest.raises(KeyError):
        part(model, [model.graph.node[3]], values)


def test_every_inner_tensor_becomes_an_output_behind_the_models_own(tmp_path: Path) -> None:
    path, plain, taps = expose_intermediates(MODEL, tmp_path)
    tapped = onnx.load(str(path))
    assert [one.name for one in tapped.graph.output] == [*(one.name for one in plain.graph.output), *taps]
    made = {name for node in plain.graph.node for name in node.output}
    assert set(taps) == made - {one.name for one in plain.graph.output}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torchao imports
def test_a_program_quantized_while_running_is_judged_by_the_rows_that_enter_its_products(tmp_path: Path) -> None:
    """XNNPACK finds a range for each row, torch's graph one for all: the engine's own inputs say which ranges are right."""
    import torch

    class Two(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = torch.nn.Linear(16, 32), torch.nn.Linear(32, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(torch.relu(self.first(x)))  # type: ignore[no-any-return]

    torch.manual_seed(0)
    made = torch.export.export(Two().eval(), (torch.ones(4, 16),))
    whole = save_program(made, tmp_path / "two.pt2", (TensorSpec("x", "float32", (4, 16)),), ["y"])
    transform = plugins.load("assay.transforms", "xnnpack-int8")()
    transform.prepare()
    quantized = transform.apply(whole, tmp_path, "dynamic-per-channel", [{"x": np.ones((4, 16), np.float32)}])
    tapped, graph, taps = expose_program_intermediates(quantized, tmp_path)
    assert taps == ["relu"]
    backend = plugins.load("assay.backends", "executorch")()
    backend.prepare()
    flow = plugins.find_flow("executorch-xnnpack-dynamic-int8-per-channel")
    engine = backend.lower(tapped, flow)
    rng = np.random.default_rng(3)
    samples = [{"x": (scale * rng.standard_normal((4, 16))).astype(np.float32)} for scale in (1.0, 20.0)]
    samples[1]["x"][2] = 0.0  # a row without a range
    values = [{**sample, **engine.run(sample)} for sample in samples]
    sound = NodeComparisons(graph, values, "int8", (), 0)
    assert [one.output[0] for one in sound.all] == ["relu", "y"]
    found = [sound.judge(one) for one in sound.all]
    assert all(seen is not None and seen.budget <= 1.0 for seen in found), found
    for name, wrong in (("relu", 1.01), ("y", 0.99)):
        lying = [{**one, name: (one[name] * np.float32(wrong)).astype(np.float32)} for one in values]
        nodes = NodeComparisons(graph, lying, "int8", (), 0)
        told = [one.output[0] for one in nodes.all if (seen := nodes.judge(one)) is not None and seen.budget > 1.0]
        assert told[0] == name
    plain = engine_free(open_program(quantized), samples)
    assert max(float(np.abs(one - value["y"]).max()) for one, value in zip(plain, values, strict=True)) > 1e-3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torchao imports
def test_convolutions_quantized_while_running_are_judged_and_a_lost_bias_or_a_step_is_named(tmp_path: Path) -> None:
    """Spelled out, a range is clamped as ReLU6 is: the values keep their names all the same."""
    sound, graph = tapped_depthwise(tmp_path / "sound")
    taps = {one.output[0] for one in sound(graph).all}
    assert taps == {"hardtanh_1", "flatten", "y"}
    found = [sound(graph).judge(one) for one in sound(graph).all]
    assert all(seen is not None and seen.budget <= 1.0 for seen in found), found
    for layer, name, factor, node in ((2, "bias", 0.0, "hardtanh_1"), (4, "weight", 128 / 127, "flatten")):
        lying, _ = tapped_depthwise(tmp_path / node, f"{layer}.{name}", factor)
        nodes = lying(graph)
        told = [one.output[0] for one in nodes.all if (seen := nodes.judge(one)) is not None and seen.budget > 1.0]
        assert told == [node]


def tapped_depthwise(
    folder: Path, broken: str = "", factor: float = 1.0
) -> tuple[Callable[[ModelProto], NodeComparisons], ModelProto]:
    """A net whose parameter `broken` is `factor` times what it should be, run by XNNPACK, to compare with a graph; and its own graph."""
    import torch

    folder.mkdir()
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, 2), torch.nn.ReLU6(),
        torch.nn.Conv2d(8, 8, 3, groups=8), torch.nn.ReLU6(),
        torch.nn.Conv2d(8, 12, 1), torch.nn.ReLU6(),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(12, 5),
    ).eval()  # fmt: skip
    if broken:
        net.get_parameter(broken).data.mul_(factor)
    shape = (2, 3, 13, 11)
    made = torch.export.export(net, (torch.ones(shape),))
    whole = save_program(made, folder / "net.pt2", (TensorSpec("x", "float32", shape),), ["y"])
    transform = plugins.load("assay.transforms", "xnnpack-int8")()
    transform.prepare()
    tapped, graph, _ = expose_program_intermediates(transform.apply(whole, folder, "dynamic-per-channel", ()), folder)
    backend = plugins.load("assay.backends", "executorch")()
    backend.prepare()
    engine = backend.lower(tapped, plugins.find_flow("executorch-xnnpack-dynamic-int8-per-channel"))
    samples = [{"x": np.random.default_rng(one).standard_normal(shape).astype(np.float32)} for one in range(2)]
    values = [{**sample, **engine.run(sample)} for sample in samples]
    return lambda held: NodeComparisons(held, values, "int8", (), 0), graph


def engine_free(program: Any, samples: list[dict[str, Any]]) -> list[Any]:
    """What torch makes of its own graph."""
    found = []
    for sample in samples:
        args, kwargs = program.arguments(sample)
        found.append(to_numpy(program.results(program.exported.module()(*args, **kwargs))["y"]))
    return found
