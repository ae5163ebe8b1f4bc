"""`assay check` by derived tolerances, on a real model and real backends: right flows pass, a flow that lies about its type does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import assay
from assay.commands.composition import open_services
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.verdict import VerdictStatus
from assay.judge.words.note_text import note_text
from assay.judge.words.warnings_text import warnings_of
from assay.models.tolerance_file import read_header
from assay.pipeline.open_run import judge_run

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
LYING = """
[flows]
use = ["onnxruntime", "openvino-f32", "openvino-bf16", "lying"]

[flow.lying]
backend = "openvino"
options = { precision = "bfloat16" }
precision = "float32"

[[model]]
path = "classifier.onnx"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(DIGITS / "models" / "classifier.onnx", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _by_flow(checked: assay.Checked) -> dict[str, Result]:
    return {result.flow: result for result in checked.results}


def test_right_flows_pass_and_a_flow_that_lies_about_its_type_does_not(here: Path) -> None:
    (here / "assay.toml").write_text(LYING)
    results = _by_flow(assay.check(measure=False))
    facts = results["lying"].facts
    assert facts is not None
    if facts.precision == "float32":
        assert results["openvino-bf16"].outcome is Outcome.OTHER_PRECISION
        assert results["lying"].outcome is Outcome.OK
        pytest.skip("this processor has no bfloat16: both say so, and what follows needs it")
    for flow in ("onnxruntime", "openvino-f32", "openvino-bf16"):
        assert results[flow].outcome is Outcome.OK, results[flow].detail
        metrics = results[flow].comparisons[0].metrics
        assert 0 < metrics["budget_used"] < 1
        assert metrics["budget_used"] == max(
            metrics[name] for name in ("budget_norm", "budget_element", "budget_slice")
        )
        assert {"share_out_of_torch", "share_out_of_onnx", "noise_share"} <= metrics.keys()
    lying = results["lying"]
    assert lying.outcome is Outcome.MISMATCH
    assert "noise" in lying.detail
    assert lying.comparisons[0].metrics["budget_used"] > 100
    profiles = list((here / ".assay" / "profiles").iterdir())
    assert sorted(header.precision for profile in profiles if (header := read_header(profile))) == [
        "bfloat16",
        "float32",
    ]
    stamps = {profile: (profile / "profile.json").stat().st_mtime_ns for profile in profiles}
    (here / "assay.toml").write_text(
        LYING.replace('"classifier.onnx"', '"classifier.onnx"\ntolerance = "fixed:0.1,0.1"')
    )
    again = _by_flow(assay.check(measure=False))
    fixed = again["lying"]
    assert fixed.outcome is Outcome.MISMATCH
    assert "noise" not in fixed.detail, "a tolerance that the user fixed stands"
    assert "bfloat16" in fixed.detail, "and excuses no coarser precision"
    assert stamps == {profile: (profile / "profile.json").stat().st_mtime_ns for profile in profiles}


def test_a_model_without_an_evaluation_in_double_is_judged_by_what_perturbed_runs_teach(here: Path) -> None:
    """A pool with a mask is an operator of ONNX Runtime alone; the function behind it says whose digits they are."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 4, 7])
    weights = [
        numpy_helper.from_array(np.random.default_rng(0).standard_normal((1, 1, 4, 8)).astype(np.float32), "c"),
        numpy_helper.from_array(np.ones((1, 1, 4, 8), np.int32), "mask"),
    ]
    nodes = [
        helper.make_node("Mul", ["x", "c"], ["p"]),
        helper.make_node("MaxpoolWithMask", ["p", "mask"], ["d"], domain="com.microsoft", kernel_shape=[1, 2]),
        helper.make_node("Softplus", ["d"], ["y"], name="root"),
    ]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), here / "pools.onnx")
    (here / "assay.toml").write_text(
        '[flows]\nuse = ["onnxruntime", "lying"]\n[[model]]\npath = "pools.onnx"\n'
        '[flow.lying]\nbackend = "onnxruntime"\ntransforms = ["mutant:scale-off=1e-4@root"]\n'
    )
    by_flow = _by_flow(assay.check(measure=False))
    assert by_flow["onnxruntime"].outcome is Outcome.OK, by_flow["onnxruntime"].detail
    assert any(
        "learnt from 16 perturbed runs of onnxruntime-disable" in note_text(note)
        for note in by_flow["onnxruntime"].notes
    )
    assert {comparison.tolerance for comparison in by_flow["onnxruntime"].comparisons if not comparison.at} == {
        "learnt"
    }
    assert by_flow["lying"].outcome is Outcome.MISMATCH, by_flow["lying"].detail


def test_a_model_whose_noise_cannot_be_learnt_either_says_so(here: Path) -> None:
    """A pool of whole numbers: no input and no weight is a real number that could be perturbed."""
    x = helper.make_tensor_value_info("x", TensorProto.INT32, [1, 1, 4, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 4, 7])
    nodes = [
        helper.make_node("Cast", ["x"], ["r"], to=TensorProto.FLOAT),
        helper.make_node("MaxpoolWithMask", ["r", "mask"], ["d"], domain="com.microsoft", kernel_shape=[1, 2]),
        helper.make_node("Softplus", ["d"], ["y"]),
    ]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(np.ones((1, 1, 4, 8), np.int32), "mask")])
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), here / "pools.onnx")
    (result,) = assay.check("pools.onnx", flows=["onnxruntime"], measure=False).results
    assert result.outcome is Outcome.OK, result.detail
    assert any(note.code == NoteCode.NO_TOLERANCE and "MaxpoolWithMask" in note_text(note) for note in result.notes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torch.export imports
def test_an_exported_program_is_judged_by_the_graph_that_torch_makes_of_it(here: Path) -> None:
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(12, 9), torch.nn.GELU(approximate="tanh"), torch.nn.Linear(9, 4)).eval()
    torch.export.save(torch.export.export(net, (torch.ones(3, 12),)), here / "net.pt2")
    (here / "assay.toml").write_text(
        '[flows]\nuse = ["torch-eager", "lying"]\n[[model]]\npath = "net.pt2"\n'
        '[flow.lying]\nbackend = "torch"\ntransforms = ["mutant:scale-off=2e-5@node_linear"]\n'
    )
    by_flow = _by_flow(assay.check(measure=False))
    assert by_flow["torch-eager"].outcome is Outcome.OK, by_flow["torch-eager"].detail
    assert 0 < by_flow["torch-eager"].comparisons[0].metrics["budget_norm"] < 1
    assert NoteCode.NO_TOLERANCE not in {note.code for note in by_flow["torch-eager"].notes}
    assert by_flow["lying"].outcome is Outcome.MISMATCH, by_flow["lying"].detail


def test_a_logarithm_of_what_float32_rounds_to_zero_is_the_models_own(here: Path) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]> g (float[2, 16] x) => (float[2, 16] y)
        { scale = Constant<value_float = 45.0>()\n z = Mul(x, scale)\n p = Softmax<axis = -1>(z)\n y = Log(p) }"""
    )
    onnx.save(model, here / "saturated.onnx")
    flows = ["onnxruntime-disable", "torch-eager"]
    results = _by_flow(assay.check("saturated.onnx", flows=flows, measure=False))
    for flow in flows:
        assert results[flow].outcome is Outcome.OK, results[flow].detail
        assert any("these were not judged" in text for text in warnings_of(results[flow]))


def test_an_error_that_grew_below_its_limit_is_told(here: Path) -> None:
    first = assay.check("classifier.onnx", flows=["onnxruntime"], measure=False)
    (result,) = first.results
    with open_services(str(here / ".assay")) as services:
        (comparison,) = result.comparisons
        worse = msgspec.structs.replace(comparison, metrics={**comparison.metrics, "budget_norm": 0.9})
        grown = msgspec.structs.replace(result, comparisons=(worse,))
        later = msgspec.structs.replace(first.run, id="99991231T235959-ffffff")
        judgement = judge_run(later, [grown], services)
        assert judgement.verdicts[0].word is VerdictStatus.PASS
        assert "changed: the norm error of output 'logits' is 3.6 noise widths" in judgement.verdicts[0].reason
        assert first.run.id in judgement.verdicts[0].reason
        assert "changed" not in judge_run(later, [result], services).verdicts[0].reason
