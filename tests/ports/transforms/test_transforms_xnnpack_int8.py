"""int8 as XNNPACK computes it: names and sizes kept, near the float model, and the same numbers in torch and in the delegate."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import parser

from assay.backends.executorch import ExecuTorch
from assay.core.flow import Flow
from assay.core.model import TensorSpec
from assay.errors import Unsupported, UsageError
from assay.models.conversion import convert_to
from assay.models.files import file_digest
from assay.models.program import open_program, save_program
from assay.ports import Tensors
from assay.testing.tiny_models import INPUT, OUTPUTS, tiny_expected, tiny_model
from assay.transforms.xnnpack_int8 import XnnpackInt8
from assay.worker.reference.reference_evaluation import QUANTIZED, evaluate


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
    return convert_to(tiny_model(folder / "tiny.onnx"), "torch", folder)


@pytest.mark.parametrize("kind", XnnpackInt8.arguments[:2])
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
    assert ("aten.convolution", "int8") in {(placement.operator, placement.precision) for placement in facts.placements}
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
    sine = convert_to(tmp_path / "sine.onnx", "torch", tmp_path)
    with pytest.raises(Unsupported, match=r"nothing to quantize in this model \(it has aten\.sin"):
        XnnpackInt8().apply(sine, tmp_path, "", [{"x": np.ones(3, np.float32)}])


class _Words(torch.nn.Module):
    """Positions are computed, indices joined."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = torch.nn.Embedding(40, 16), torch.nn.Embedding(64, 16)
        self.up, self.down = torch.nn.Linear(16, 24), torch.nn.Linear(24, 5)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places = (torch.arange(ids.shape[1]) + 1) * 2
        x = self.words(torch.cat([ids, ids + 1], 1)[:, 3:10]) + self.places(places)
        return self.down(torch.relu(self.up(x) * 1.5 + 0.25))  # type: ignore[no-any-return]


def _words(folder: Path) -> tuple[torch.nn.Module, Path, list[Tensors]]:
    torch.manual_seed(0)
    net = _Words().eval()
    program = torch.export.export(net, (torch.ones(2, 7, dtype=torch.int64),))
    path = save_program(program, folder / "words.pt2", (TensorSpec("ids", "int64", (2, 7)),), ["y"])
    return net, path, [{"ids": np.random.default_rng(one).integers(0, 38, (2, 7))} for one in range(8)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", XnnpackInt8.arguments)
def test_whole_numbers_stay_whole(tmp_path: Path, kind: str) -> None:
    XnnpackInt8().prepare()
    net, words, (sample, *others) = _words(tmp_path)
    written = XnnpackInt8().apply(words, tmp_path, kind, others)
    (answers,) = evaluate(written, [sample], oracles=QUANTIZED)
    expected = net(torch.from_numpy(sample["ids"])).detach().numpy()
    error = float(np.sum((answers["y"] - expected).astype(np.float64) ** 2))
    assert 25 < 10 * np.log10(float(np.sum(expected.astype(np.float64) ** 2)) / error) < 60


@pytest.mark.filterwarnings("ignore")
def test_ranges_found_while_running_need_no_samples(tmp_path: Path) -> None:
    XnnpackInt8().prepare()
    _, words, (sample, *others) = _words(tmp_path)
    answers = []
    for number, given in enumerate(((), others)):
        (folder := tmp_path / str(number)).mkdir()
        written = XnnpackInt8().apply(words, folder, "dynamic-per-channel", given)
        answers.append(evaluate(written, [sample], oracles=QUANTIZED)[0]["y"])
    np.testing.assert_array_equal(*answers)


@pytest.mark.filterwarnings("ignore")
def test_a_weight_that_is_computed_from_inputs_has_no_range_without_samples(tmp_path: Path) -> None:
    class Product(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.linear(x, x + 1)

    XnnpackInt8().prepare()
    program = torch.export.export(Product(), (torch.ones(4, 8),))
    path = save_program(program, tmp_path / "product.pt2", (TensorSpec("x", "float32", (4, 8)),), ["y"])
    with pytest.raises(Unsupported, match="computed from inputs"):
        XnnpackInt8().apply(path, tmp_path, "dynamic-per-channel", ())
