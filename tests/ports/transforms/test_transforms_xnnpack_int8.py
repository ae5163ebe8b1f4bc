"""int8 as XNNPACK computes it: names and sizes kept, near the float model, and the same numbers in torch and in the delegate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import parser

from assay.backends.executorch.backend import ExecuTorch
from assay.core.flow import Flow
from assay.core.model import TensorSpec
from assay.errors import Unsupported, UsageError
from assay.models.conversion import convert_to
from assay.models.files import file_digest
from assay.models.program import open_program, save_program
from assay.ports import Tensor, Tensors
from assay.testing.tiny_models import INPUT, OUTPUTS, tiny_expected, tiny_model
from assay.transforms import xnnpack_int8
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


@pytest.fixture(scope="module")
def quantized(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`tiny` quantized in each way, once for all."""

    def apply(kind: str) -> Path:
        before = file_digest(tiny)
        written = XnnpackInt8().apply(tiny, tmp_path_factory.mktemp("quantized"), kind, _samples(8))
        assert file_digest(tiny) == before
        return written

    return cache(apply)


@pytest.mark.parametrize("kind", ["", "static-per-tensor"])
def test_quantized_and_near_at_another_batch(quantized: Callable[[str], Path], kind: str) -> None:
    written = quantized(kind)
    program = open_program(written)
    assert [spec.name for spec in program.outputs] == list(OUTPUTS)
    assert program.inputs[0].shape == ("batch", 3, 8, 8)
    scales = [str(node.target) for node in program.exported.graph.nodes if "dequantize_per_channel" in str(node.target)]
    assert bool(scales) == (kind == ""), "as a rule, each channel has a scale"
    (sample,) = _samples(1, batch=5)
    (answers,) = evaluate(written, [sample], oracles=QUANTIZED)
    expected = tiny_expected(sample[INPUT])["features"].astype(np.float64)
    error = float(np.sum((answers["features"] - expected) ** 2))
    assert 20 < 10 * np.log10(float(np.sum(expected**2)) / error) < 60


def test_the_delegate_computes_what_torch_says_of_the_quantized_model(quantized: Callable[[str], Path]) -> None:
    written = quantized("")
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


@pytest.mark.filterwarnings("ignore")
def test_a_model_without_an_operator_has_nothing_to_compute_and_needs_no_rewriting(tmp_path: Path) -> None:
    onnx.save(
        parser.parse_model(
            '<ir_version: 10, opset_import: ["" : 21]>\ng (float[3] x) => (float[3] y) { y = Identity(x) }'
        ),
        tmp_path / "same.onnx",
    )
    same = convert_to(tmp_path / "same.onnx", "torch", tmp_path)
    XnnpackInt8().prepare()
    with pytest.raises(
        Unsupported, match="no operator is left of this model: there is nothing to compute in int8"
    ) as caught:
        XnnpackInt8().apply(same, tmp_path, "", [{"x": np.ones(3, np.float32)}])
    assert caught.value.cause == "nothing_to_do"


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


class _QuantizedWords:
    """`_Words` as a program, quantized in each way once for all."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            XnnpackInt8().prepare()
        torch.manual_seed(0)
        self.net = _Words().eval()
        program = torch.export.export(self.net, (torch.ones(2, 7, dtype=torch.int64),))
        self._path = save_program(program, folder / "words.pt2", (TensorSpec("ids", "int64", (2, 7)),), ["y"])
        self.sample, *self._others = ({"ids": np.random.default_rng(seed).integers(0, 38, (2, 7))} for seed in range(8))
        self.answer = cache(self._answer)

    def _answer(self, kind: str, calibrated: bool = True) -> Tensor:
        """Of torch, to `sample`."""
        (folder := self._path.with_name(f"{kind}-{calibrated}")).mkdir(exist_ok=True)
        written = XnnpackInt8().apply(self._path, folder, kind, self._others if calibrated else ())
        (answers,) = evaluate(written, [self.sample], oracles=QUANTIZED)
        return answers["y"]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> _QuantizedWords:
    return _QuantizedWords(tmp_path_factory.mktemp("words"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", XnnpackInt8.arguments)
def test_whole_numbers_stay_whole(words: _QuantizedWords, kind: str) -> None:
    answer = words.answer(kind)
    expected = words.net(torch.from_numpy(words.sample["ids"])).detach().numpy()
    error = float(np.sum((answer - expected).astype(np.float64) ** 2))
    assert 25 < 10 * np.log10(float(np.sum(expected.astype(np.float64) ** 2)) / error) < 60


@pytest.mark.filterwarnings("ignore")
def test_ranges_found_while_running_need_no_samples(words: _QuantizedWords) -> None:
    kind = "dynamic-per-channel"
    np.testing.assert_array_equal(words.answer(kind, calibrated=False), words.answer(kind))


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


@pytest.mark.filterwarnings("ignore")
def test_batch_norms_are_looked_for_where_there_are_some_and_nothing_else_changes(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tracing the patterns of batch norms takes most of the time of a small model."""
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer_utils as utils
    from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

    traced, trace = [0], utils._get_aten_graph_module_for_pattern

    def counted(*args: object) -> object:
        traced[0] += 1
        return trace(*args)

    monkeypatch.setattr(utils, "_get_aten_graph_module_for_pattern", counted)

    def prepared() -> str:
        model = open_program(tiny).exported.module()
        return str(prepare_pt2e(model, XnnpackInt8().quantizer("static-per-channel")).code)

    quickly = prepared()
    assert traced == [0]
    monkeypatch.setattr(xnnpack_int8, "_has_batch_norm", lambda model: True)
    assert prepared() == quickly
    assert traced[0] > 0
    monkeypatch.undo()
    alone = torch.export.export(torch.nn.BatchNorm2d(3).eval(), (torch.ones(1, 3, 2, 2),)).module()
    assert xnnpack_int8._has_batch_norm(alone)
