"""Local judgement: correct flows pass in every precision, and the node that lies is the one that is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from assay.core.result import Outcome, Result
from assay.faces.api import CheckOptions, run_check
from assay.models.instrument import instrument, part

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
MODEL = DIGITS / "models" / "classifier.onnx"


def local(flows: dict[str, str], tmp_path: Path, task: str = "local") -> dict[str, Result]:
    """Each flow (its table in assay.toml) judged locally on the classifier, by name."""
    config = tmp_path / "flows.toml"
    config.write_text("".join(f"[flow.{name}]\n{table}\n" for name, table in flows.items()))
    options = CheckOptions(
        models=(MODEL,), flows=tuple(flows), golden=DIGITS / "goldens" / "classifier", config=config, task=task,
        history=str(tmp_path / "history"), local=True,
    )  # fmt: skip
    return {f"{one.flow}|{one.task}": one for one in run_check(options).results}


ORT = 'backend = "onnxruntime"'


def test_correct_flows_pass_in_every_precision(tmp_path: Path) -> None:
    flows = {
        "single": ORT,
        "half": f'{ORT}\ntransforms = ["fp16"]\nprecision = "float16"',
        "int8": f'{ORT}\ntransforms = ["int8-qdq"]\nprecision = "int8"',
        "bf16": 'backend = "openvino"\nprecision = "bfloat16"\noptions = { precision = "bfloat16" }',
    }
    for name, result in local(flows, tmp_path).items():
        assert result.outcome is Outcome.OK, (name, result.detail)
        assert "12 nodes" in result.detail or "nodes are right" in result.detail
        assert 0 < max(one.metrics["budget_used"] for one in result.comparisons) < 1


def test_the_lying_node_is_named_also_where_low_precision_hides_it_at_the_end(tmp_path: Path) -> None:
    lie = "drop-bias-element@/2/Conv"
    bf16 = 'backend = "openvino"\nprecision = "bfloat16"\noptions = { precision = "bfloat16" }'
    flows = {
        "single": f'{ORT}\ntransforms = ["mutant:{lie}"]',
        "int8": f'{ORT}\ntransforms = ["int8-qdq", "mutant:zero-point-step@image_QuantizeLinear"]\nprecision = "int8"',
        "bf16": f'{bf16}\ntransforms = ["mutant:scale-off=0.02@/2/Conv"]',
    }
    found = local(flows, tmp_path)
    for name, node in (("single", "/2/Conv (Conv)"), ("int8", "image_QuantizeLinear (QuantizeLinear)"),
                       ("bf16", "/2/Conv (Conv)")):  # fmt: skip
        result = found[f"{name}|local"]
        assert result.outcome is Outcome.MISMATCH, (name, result.detail)
        assert result.node == node
        assert f"the first wrong node is {node}" in result.detail


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
    path, plain, taps = instrument(MODEL, tmp_path)
    tapped = onnx.load(str(path))
    assert [one.name for one in tapped.graph.output] == [*(one.name for one in plain.graph.output), *taps]
    made = {name for node in plain.graph.node for name in node.output}
    assert set(taps) == made - {one.name for one in plain.graph.output}
