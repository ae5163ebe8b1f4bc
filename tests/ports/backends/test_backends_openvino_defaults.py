"""What OpenVINO does unasked that changes numbers, and how it is found to be the cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from onnx import numpy_helper, parser, save_model

from assay.backends.openvino.backend import OpenVINO
from assay.backends.openvino.defaults import GROUP_SIZE
from assay.core.flow import Flow
from assay.ports import Engine
from assay.testing.builders import make_job
from assay.worker.verify.numeric_defaults import tried

FLOWS = {flow.name: flow for flow in OpenVINO.flows}
PINNED = Flow("pinned", "openvino", {"precision": "float32"})
X = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
WHOLE = np.random.default_rng(1).integers(-127, 128, (64, 32)).astype(np.int8)


@pytest.fixture
def compressed(tmp_path: Path) -> Path:
    """A product with weights of eight bits."""
    model = parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]>
        g (float[n, 64] x) => (float[n, 32] y) { w = DequantizeLinear(whole, scale)
            y = MatMul(x, w) }"""
    )
    stored = {"whole": WHOLE, "scale": np.float32(0.01)}
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items())
    save_model(model, str(tmp_path / "compressed.onnx"))
    return tmp_path / "compressed.onnx"


def _is_right(engine: Engine) -> bool:
    exact = X.astype(np.float64) @ (WHOLE * np.float64(np.float32(0.01)))
    return bool(np.abs(engine.run({"x": X})["y"] - exact).max() < 1e-4)


def test_the_flow_that_promises_float32_quantizes_nothing(compressed: Path) -> None:
    engine = OpenVINO().lower(compressed, FLOWS["openvino-f32"])
    assert engine.facts().numeric_defaults == ()
    assert _is_right(engine)


def test_quantized_activations_are_named_and_found_to_be_the_cause(compressed: Path, tmp_path: Path) -> None:
    engine = OpenVINO().lower(compressed, PINNED)
    if _is_right(engine):
        pytest.skip("this processor does not quantize activations")
    (told,) = engine.facts().numeric_defaults
    assert (told.name, told.effect, told.option, told.off, told.cures) == (
        GROUP_SIZE,
        "dynamic-quantization",
        GROUP_SIZE,
        0,
        None,
    )
    (found,) = tried(_job(compressed, tmp_path, PINNED), engine.facts(), _is_right).numeric_defaults
    assert found == msgspec.structs.replace(told, cures=True)
    (other,) = tried(_job(compressed, tmp_path, PINNED), engine.facts(), lambda engine: False).numeric_defaults
    assert other.cures is False


def test_what_cannot_be_built_without_it_says_nothing(compressed: Path, tmp_path: Path) -> None:
    engine = OpenVINO().lower(compressed, PINNED)
    facts = engine.facts()
    found = tried(_job(tmp_path / "lost.onnx", tmp_path, PINNED), facts, _is_right)
    assert all(default.cures is None for default in found.numeric_defaults)


def _job(model: Path, scratch: Path, flow: Flow) -> Any:
    job = make_job(flow="openvino")
    case = msgspec.structs.replace(job.case, model=msgspec.structs.replace(job.case.model, source=str(model)))
    return msgspec.structs.replace(job, case=case, flow=flow, scratch=str(scratch))
