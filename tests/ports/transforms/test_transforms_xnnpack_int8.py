"""int8 as XNNPACK computes it: names and sizes kept, near the float model, and the same numbers in torch and in the delegate."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from assay.backends.executorch import ExecuTorch
from assay.core.flow import Flow
from assay.errors import Unsupported, UsageError
from assay.models.conversion import deliver
from assay.models.files import file_digest
from assay.models.program import open_program
from assay.ports import Tensors
from assay.testing.tiny_models import INPUT, OUTPUTS, tiny_expected, tiny_model
from assay.transforms.xnnpack_int8 import XnnpackInt8
from assay.worker.references import QUANTIZED, evaluate


def _samples(count: int, batch: int = 1) -> list[Tensors]:
    draw = np.random.default_rng(batch).normal
    return [{INPUT: draw(size=(batch, 3, 8, 8)).astype(np.float32)} for _ in range(count)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        XnnpackInt8().prepare()
        ExecuTorch().prepare()
    folder = tmp_path_factory.mktemp("tiny")
    return deliver(tiny_model(folder / "tiny.onnx"), "torch", folder)


@pytest.mark.parametrize("kind", XnnpackInt8.kinds[:2])
def test_quantized_and_near_at_another_batch(tiny: Path, tmp_path: Path, kind: str) -> None:
    before = file_digest(tiny)
    written = XnnpackInt8().apply(tiny, tmp_path, kind, _samples(8))
    assert file_digest(tiny) == before
    program = open_program(written)
    assert [spec.name for spec in program.outputs] == list(OUTPUTS)
    assert program.inputs[0].shape == ("batch", 3, 8, 8)
    scales = [str(node.target) for node in program.exported.graph.nodes if "dequantize_per_channel" in str(node.target)]
    assert bool(scales) == (kind == "static-per-channel")
    (sample,) = _samples(1, batch=5)
    (answers,) = evaluate(written, [sample], oracles=QUANTIZED)
    expected = tiny_expected(sample[INPUT])["features"].astype(np.float64)
    error = float(np.sum((answers["features"] - expected) ** 2))
    assert 20 < 10 * np.log10(float(np.sum(expected**2)) / error) < 60


def test_the_delegate_computes_what_torch_says_of_the_quantized_model(tiny: Path, tmp_path: Path) -> None:
    written = XnnpackInt8().apply(tiny, tmp_path, "", _samples(8))
    flow = Flow(name="f", backend="executorch", options={"delegate": "xnnpack"}, precision="int8")
    engine = ExecuTorch().lower(written, flow)
    facts = engine.facts()
    assert facts.precision == "int8"
    assert ("aten.convolution", "int8") in {(one.operator, one.precision) for one in facts.placements}
    (sample,) = _samples(1, batch=3)
    (answers,) = evaluate(written, [sample], oracles=QUANTIZED)
    actual = engine.run(sample)
    step = float(np.ptp(answers["features"])) / 255
    assert float(np.abs(actual["features"] - answers["features"]).max()) <= 1.01 * step


def test_refusals(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="static-per-channel, static-per-tensor, dynamic-per-channel, not 'no-such'"):
        XnnpackInt8().apply(tiny, tmp_path, "no-such", _samples(1))
    with pytest.raises(UsageError, match="no samples to calibrate with"):
        XnnpackInt8().apply(tiny, tmp_path, "", ())
    onnx.save(
        parser.parse_model('<ir_version: 10, opset_import: ["" : 21]>\ng (float[n] x) => (float[n] y) { y = Sin(x) }'),
        tmp_path / "sine.onnx",
    )
    sine = deliver(tmp_path / "sine.onnx", "torch", tmp_path)
    with pytest.raises(Unsupported, match=r"nothing to quantize in this model \(it has aten\.sin"):
        XnnpackInt8().apply(sine, tmp_path, "", [{"x": np.ones(3, np.float32)}])
