"""What a kept line of the benchmark of real models is worth."""

from __future__ import annotations

import importlib
import json
import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from assay.core.job import VerifyJob

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("real_models_lines")
    sys.modules.pop("real_models_lines", None)


def test_the_page_is_made_of_the_kept_lines(lines: Any) -> None:
    results = BENCHMARKS.parent / "docs" / "results"
    known = tomllib.loads((BENCHMARKS / "real_models.toml").read_text())
    stored = [lines.Line(**json.loads(text)) for text in (results / "real-models.jsonl").read_text().splitlines()]
    made = importlib.import_module("real_models_page").page(stored, known["model"], known["found"])
    sys.modules.pop("real_models_page")
    assert (results / "real-models.md").read_text() == "\n".join(made) + "\n", (
        "run benchmarks/real_models.py --only none --keep ... --output ..."
    )


def line(lines: Any, **changed: Any) -> Any:
    usual = lines.Line(
        model="m", inputs="plausible", flow="mnn-f32", precision="float32", quantized=False, verdict="fail", reference="reference-f64",
        distance=7e-4, peer="openvino", pair=1e-7, empty=False, seconds=1.0, progress_s=0.1, load=1.0, day="2026-11-25", reason="",
    )  # fmt: skip
    return replace(usual, **changed)


def test_a_fault_below_the_coarse_limit_is_one_where_independent_engines_agree_far_closer(lines: Any) -> None:
    assert line(lines).answer == "right"
    assert line(lines, verdict="pass").answer == "WRONG"
    assert line(lines, pair=3e-5).answer == "WRONG", "independent engines are a twentieth of that apart"
    assert line(lines, pair=None).answer == "WRONG", "one witness: the limit of the precision"


def test_the_limit_follows_the_distance_of_the_pair(lines: Any) -> None:
    assert line(lines, pair=0.0).limit == pytest.approx(1000 * 2**-24)
    assert line(lines, pair=1e-7).limit == pytest.approx(1e-4)
    assert line(lines, pair=1e-4).limit == 2e-3
    assert line(lines, pair=1e-2).limit == pytest.approx(3e-2)
    assert line(lines, pair=1e-7, precision="int8").limit == 5e-2, "float32 engines say nothing of other precisions"
    assert line(lines, pair=None, quantized=True).limit == 5e-2
    half = line(lines, pair=1e-7, precision="float16", rounded=7e-5)
    assert half.limit == pytest.approx(10 * 2**-11), "ten roundings, where rounded weights do less than one"
    assert replace(half, rounded=1.5e-3).limit == pytest.approx(1.5e-2)
    assert replace(half, rounded=1.0).limit == 2e-2
    assert replace(half, rounded=None).limit == 2e-2


def test_the_limit_of_a_low_precision_follows_what_rounding_every_value_does(lines: Any) -> None:
    brain = line(lines, pair=1e-7, precision="bfloat16", verdict="pass", distance=5.3e-2, rounded=3.4e-2)
    assert brain.answer == "WRONG", "the limit of the precision is 5 %"
    stored = replace(brain, stored=4.0e-2)
    assert stored.limit == pytest.approx(8.0e-2)
    assert stored.answer == "right", "a right engine in bfloat16 is 4 % off"
    cut_off = line(
        lines, pair=1e-7, precision="float16", verdict="pass", distance=3.9e-2, rounded=1.2e-2, stored=1.3e-2
    )
    assert cut_off.answer == "WRONG"
    assert replace(cut_off, stored=1e-9).limit == pytest.approx(10 * 2**-11)
    assert replace(stored, pair=0.1).limit == pytest.approx(0.3)
    assert replace(stored, verdict="inconclusive").answer == "open"
    assert replace(stored, verdict="inconclusive", stored=0.2).answer == "undecidable"


@pytest.fixture
def independent(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("independent")
    sys.modules.pop("independent", None)


@pytest.fixture
def roundings(monkeypatch: pytest.MonkeyPatch, independent: Any) -> Any:
    yield importlib.import_module("roundings")
    sys.modules.pop("roundings", None)


def test_weights_are_initializers_and_constants_also_of_branches(roundings: Any, tmp_path: Path) -> None:
    from onnx import TensorProto, helper, numpy_helper, save

    third = numpy_helper.from_array(np.full((2,), 1 / 3, np.float32), "third")

    def branch(name: str) -> Any:
        nodes = [
            helper.make_node("Constant", [], [f"{name}_third"], value=third),
            helper.make_node("Mul", ["x", f"{name}_third"], [name]),
        ]
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])])

    nodes = [
        helper.make_node("Constant", [], ["yes"], value=numpy_helper.from_array(np.array(True))),
        helper.make_node("If", ["yes"], ["y"], then_branch=branch("then"), else_branch=branch("other")),
    ]
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    model = helper.make_model(
        helper.make_graph(nodes, "g", value[:1], value[1:]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    path = tmp_path / "model.onnx"
    save(model, str(path))
    weights, values = roundings.rounded(path, [{"x": np.array([3.0, 3.0], np.float32)}], "bfloat16")
    on_grids = [abs(3 * float(ml_dtypes.bfloat16(grid / 3)) / grid - 1) for grid in roundings.GRIDS]
    assert on_grids[0] == pytest.approx(1.953e-3, rel=1e-3), "a third in bfloat16"
    assert weights == pytest.approx(max(on_grids), rel=1e-3)
    assert 0.0 < values < 3 * 2**-8
    assert roundings.rounded(path, [], "float32") == (None, None)


@pytest.mark.parametrize(
    ("changed", "answer"),
    [
        ({"verdict": "pass", "distance": 1e-7}, "right"),
        ({"verdict": "pass", "distance": 1e-7, "empty": True}, "vacuous"),
        ({"verdict": "skip", "distance": None}, "skip"),
        ({"verdict": "pass", "distance": None}, "open"),
        ({"verdict": "inconclusive"}, "open"),
        ({"distance": None, "reason": "crash in lower: SIGSEGV"}, "crash"),
        ({"verdict": "inconclusive", "reason": "other precision in compare: float32"}, "other precision"),
        ({"verdict": "inconclusive", "pair": 0.4}, "undecidable"),
        ({"verdict": "pass", "pair": 0.4}, "undecidable"),
        ({"verdict": "fail", "pair": 0.4, "distance": 0.41}, "undecidable"),
        ({"verdict": "fail", "pair": 1e-6, "distance": 1e-6}, "WRONG"),
        ({"verdict": "too long", "distance": None, "pair": None}, "open"),
    ],
)
def test_answers(lines: Any, changed: dict[str, Any], answer: str) -> None:
    assert line(lines, **changed).answer == answer


def test_later_lines_replace_earlier_ones(lines: Any, tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    lines.kept(file, [line(lines), line(lines, flow="onnxruntime")])
    assert len(lines.kept(file, [line(lines, verdict="pass")])) == 2
    assert [one.verdict for one in lines.kept(file, [])] == ["pass", "fail"]


def test_a_reason_names_no_folder_of_the_machine_and_no_address(lines: Any) -> None:
    home = Path.home()
    death = f"died in {home}/work/model.onnx of\n <function f at 0x7f630e908ae0>"
    assert lines.portable(death) == "died in model.onnx of <function f at 0x…>"
    assert lines.portable("try `assay check /models/of/me/net.onnx --flow f`") == "try `assay check net.onnx --flow f`"
    assert (
        lines.portable("no shape for If '/model/decoder/If_output_0'") == "no shape for If '/model/decoder/If_output_0'"
    )
    assert lines.portable("one two three", limit=8) == "one two …"


def test_the_evaluator_of_onnx_is_a_witness_of_grids_before_opset_19_too(independent: Any, tmp_path: Path) -> None:
    from onnx import parser, save

    text = """<ir_version: 8, opset_import: ["" : 15]> g (float[2, 3] x) => (float[2, 3] y)
    <float s = {0.5}, int8 z = {3}, int8[2, 3] w = {1, -2, 3, 4, 5, -6}, float[3] each = {0.5, 1, 2}, int8[3] zeros = {0, 1, 2}>
    { q = QuantizeLinear (x, s, z)
      d = DequantizeLinear (q, s, z)
      v = DequantizeLinear <axis = 1> (w, each, zeros)
      y = Add (d, v) }"""
    path = tmp_path / "model.onnx"
    save(parser.parse_model(text), str(path))
    feeds = [{"x": np.array([[0.25, 0.75, -0.3], [200, -200, 1.1]], np.float32)}]
    (by_onnx,), (by_onnxruntime,) = independent.by_onnx(path, feeds), independent.by_onnxruntime(path, feeds)
    assert np.array_equal(by_onnx["y"], by_onnxruntime["y"])


def test_the_benchmark_reads_fields_that_a_report_has() -> None:
    text = (BENCHMARKS / "real_models.py").read_text()
    fields = set(re.findall(r'\["job"\]\["(\w+)"\]', text))
    assert fields
    assert fields <= set(VerifyJob.__struct_fields__)


def test_int8_rounds_weights_by_channel_and_what_they_multiply(roundings: Any, tmp_path: Path) -> None:
    from onnx import numpy_helper, parser, save

    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2, 2] y) <float[3, 2] w> { y = MatMul (x, w) }"""
    model = parser.parse_model(text)
    weight = np.array([[1, 100], [-0.4, 30], [0.3, -7]], np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    path = tmp_path / "model.onnx"
    save(model, str(path))
    x = np.array([[1, 2, 3], [4, 5.01, 6]], np.float32)
    weights, operands = roundings.rounded(path, [{"x": x}], "int8")
    each = []
    for levels in roundings.LEVELS:
        scale = np.abs(weight).max(axis=0) / levels
        off = x @ (np.rint(weight / scale) * scale).astype(np.float32) - x @ weight
        each.append(np.linalg.norm(off) / np.linalg.norm(x @ weight))
    assert weights == pytest.approx(max(each), rel=1e-3)
    assert operands > weights
