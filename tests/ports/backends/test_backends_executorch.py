"""ExecuTorch itself: what each delegate took, bounds of sizes, bytes that must live, and what the runtime would not survive."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from assay.backends.executorch import delegates as executorch_delegates
from assay.backends.executorch.backend import ExecuTorch
from assay.backends.executorch.delegates import Delegate
from assay.backends.executorch.errors import load_failure, lowering_failure
from assay.backends.executorch.lower import Built
from assay.core.flow import Flow
from assay.core.model import TensorSpec
from assay.errors import InvalidModel, Lowering, NotRunnable, Unavailable, Unsupported, UsageError
from assay.models.conversion import convert_to
from assay.models.program import save_program
from assay.testing.backend_checks import check_backend
from assay.testing.tiny_models import INPUT, tiny_expected, tiny_model

_FLOWS = {flow.name: flow for flow in ExecuTorch.flows}
_XNNPACK = _FLOWS["executorch-xnnpack"]
_PORTABLE = _FLOWS["executorch-portable"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ExecuTorch().prepare()
    folder = tmp_path_factory.mktemp("tiny")
    return convert_to(tiny_model(folder / "tiny.onnx"), "torch", folder)


@pytest.fixture(scope="module")
def saved(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    ExecuTorch().lower(tiny, _XNNPACK).save(folder)
    return folder


def _image(batch: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(batch).normal(size=(batch, 3, 8, 8)).astype(np.float32)


def test_conforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the delegates that need half a minute, and without the portable kernels alone, which run what XNNPACK leaves: those are
    under `test_every_flow_conforms`."""
    monkeypatch.setattr(ExecuTorch, "flows", (_XNNPACK, _FLOWS["executorch-arm-tosa"]))
    check_backend(ExecuTorch())


@pytest.mark.slow
def test_every_flow_conforms() -> None:
    check_backend(ExecuTorch())


def test_what_the_delegate_took_is_counted(saved: Path) -> None:
    facts = ExecuTorch().load(saved, _XNNPACK).facts()
    where = {placement.operator: placement.device for placement in facts.placements}
    assert where["aten.convolution"] == "XnnpackBackend"
    assert where["aten.argmax"] == "portable"
    assert facts.undelegated == ("aten.argmax",)
    assert facts.delegated == sum(
        placement.count for placement in facts.placements if placement.device == "XnnpackBackend"
    )
    assert facts.precision == "float32"


def test_portable_delegates_nothing_by_design(tiny: Path) -> None:
    facts = ExecuTorch().lower(tiny, _PORTABLE).facts()
    assert facts.delegated is None
    assert facts.undelegated == ()
    assert {placement.device for placement in facts.placements} == {"portable"}


def test_a_partitioner_that_takes_nothing_is_told(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XNNPACK's own, told to take only an operator that is not there. The record says it by itself: the facts would be right
    without it, too, since the program does not name the delegate (`test_a_delegate_that_the_artifact_lacks_...`)."""

    def picky() -> list[Any]:
        from executorch.backends.xnnpack.partition.config import SoftmaxConfig
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return [XnnpackPartitioner(configs=[SoftmaxConfig])]

    monkeypatch.setitem(executorch_delegates.DELEGATES, "xnnpack", Delegate("XnnpackBackend", picky))
    engine = ExecuTorch().lower(tiny, _XNNPACK)
    engine.save(tmp_path)
    facts, record = engine.facts(), msgspec.json.decode((tmp_path / "built.json").read_bytes(), type=Built)
    assert (facts.delegated, record.delegated) == (0, 0)
    assert {placement.device for placement in record.placements} == {"portable"}
    assert "aten.convolution" in facts.undelegated


def test_a_delegate_that_the_artifact_lacks_counts_for_nothing(tiny: Path, saved: Path, tmp_path: Path) -> None:
    """The record says XNNPACK; the program beside it is another one."""
    ExecuTorch().lower(tiny, _PORTABLE).save(tmp_path)
    (tmp_path / "built.json").write_bytes((saved / "built.json").read_bytes())
    assert ExecuTorch().load(tmp_path, _XNNPACK).facts().delegated == 0


def test_one_engine_takes_every_size_within_its_bounds(saved: Path) -> None:
    engine = ExecuTorch().load(saved, _XNNPACK)
    assert engine.facts().options["bounds.batch"] == "1..32"
    for batch in (32, 1, 7):
        outputs = engine.run({INPUT: _image(batch)})
        expected = tiny_expected(_image(batch))
        np.testing.assert_allclose(outputs["scores"], expected["scores"], rtol=1e-5, atol=1e-5)
        assert outputs["features"].shape == expected["features"].shape
    with pytest.raises(Unsupported, match='"batch" is 33; the program was made for 1 to 32'):
        engine.run({INPUT: _image(33)})


def test_the_case_names_the_bounds(tiny: Path) -> None:
    flow = Flow(name="f", backend="executorch", dims={"batch": (2, 4, 40)})
    engine = ExecuTorch().lower(tiny, flow)
    assert engine.run({INPUT: _image(40)})["best"].shape == (40,)
    with pytest.raises(Unsupported, match="2 to 40"):
        engine.run({INPUT: _image(1)})


def test_samples_that_are_larger_than_the_default_are_taken(tiny: Path) -> None:
    engine = ExecuTorch().lower(tiny, Flow(name="f", backend="executorch", sample_sizes={f"{INPUT}[0]": (40, 40, 40)}))
    assert engine.facts().options["bounds.batch"] == "1..40"
    assert engine.run({INPUT: _image(40)})["best"].shape == (40,)


def test_a_size_that_is_lost_on_the_way_is_told(tmp_path: Path) -> None:
    """executorch 1.4 makes the digits' detector for the example's batch, and then fails with error 0x12 on any other."""
    digits = Path(__file__).parents[3] / "examples" / "digits" / "models"
    engine = ExecuTorch().lower(convert_to(digits / "detector.onnx", "torch", tmp_path), _PORTABLE)
    assert engine.facts().options["bounds.batch"] == "1..1"
    image = np.zeros((2, 1, 64, 64), np.uint8)
    assert engine.run({"image": image[:1]})["boxes"].shape == (1, 64, 4)
    with pytest.raises(Unsupported, match="made for 1 to 1"):
        engine.run({"image": image})


def test_the_bytes_of_the_program_live_as_long_as_it_is_run(saved: Path) -> None:
    """The runtime reads weights from them: dropped, they gave error 0x10 or a crash (1.4)."""
    engine = ExecuTorch().load(saved, _XNNPACK)
    gc.collect()
    _ = [bytes([number % 256]) * (saved / "model.pte").stat().st_size for number in range(500)]
    np.testing.assert_allclose(engine.run({INPUT: _image(2)})["scores"], tiny_expected(_image(2))["scores"], atol=1e-5)
    kept = [referent for referent in gc.get_referents(engine.__dict__) if isinstance(referent, bytes)]
    assert any(len(data) == (saved / "model.pte").stat().st_size for data in kept)


def test_results_are_copies(saved: Path) -> None:
    engine = ExecuTorch().load(saved, _XNNPACK)
    first = engine.run({INPUT: _image(2)})
    kept = {name: array.copy() for name, array in first.items()}
    engine.run({INPUT: _image(2) * 3})
    assert all(np.array_equal(first[name], kept[name]) for name in kept)


@pytest.mark.parametrize("wrong", [_image(2)[:, :2], _image(2).astype(np.float64), _image(2)[0], _image(2)[:0]])
def test_inputs_it_would_not_survive_are_refused(saved: Path, wrong: np.ndarray[Any, Any]) -> None:
    with pytest.raises(ValueError, match='Input "image"'):
        ExecuTorch().load(saved, _XNNPACK).run({INPUT: wrong})


def test_an_array_that_is_not_contiguous(saved: Path) -> None:
    engine = ExecuTorch().load(saved, _XNNPACK)
    image = np.ascontiguousarray(_image(4).transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(engine.run({INPUT: image})["scores"], engine.run({INPUT: _image(4)})["scores"])


def test_a_truncated_artifact(saved: Path, tmp_path: Path) -> None:
    for file in saved.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    artifact = tmp_path / "model.pte"
    artifact.write_bytes(artifact.read_bytes()[:200])
    with pytest.raises((InvalidModel, Unsupported)):
        ExecuTorch().load(tmp_path, _XNNPACK)


def test_a_missing_record(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "model.pte").write_bytes((saved / "model.pte").read_bytes())
    with pytest.raises(InvalidModel, match=r"built\.json of the saved engine cannot be read"):
        ExecuTorch().load(tmp_path, _XNNPACK)


def test_a_runtime_without_the_delegate_is_no_failure(saved: Path, tmp_path: Path) -> None:
    """The same artifact, said to be Core ML's: loading tells where it would run."""
    for name, old, new in (
        ("model.pte", b"XnnpackBackend", b"CoreMLBackend\0"),
        ("built.json", b'"delegate":"xnnpack"', b'"delegate":"coreml"'),
    ):
        (tmp_path / name).write_bytes((saved / name).read_bytes().replace(old, new))
    with pytest.raises(NotRunnable, match="no CoreMLBackend; it runs on macOS"):
        ExecuTorch().load(tmp_path, _XNNPACK)


def test_a_missing_lowering_library_is_named_with_its_install(tiny: Path) -> None:
    with pytest.raises(Unavailable, match="pip install tosa-tools"):
        ExecuTorch().lower(tiny, _FLOWS["executorch-arm-tosa"])


def test_bad_options_before_anything_expensive(tiny: Path) -> None:
    for options in ({"most": 0}, {"threads": 0}):
        with pytest.raises(UsageError):
            ExecuTorch().lower(tiny, Flow(name="f", backend="executorch", options=options))


def test_softmax_replaced_by_zeros_is_not_softmax(write: Any, tmp_path: Path) -> None:
    """4 x 1000 probabilities are all below the 0.1 that the field's own harness allows, so that zeros pass it. The oracle's
    limits follow from the arithmetic: the engine's answers are far inside, zeros far outside."""
    from assay.core.case import Contract
    from assay.numerics.compare import compare_outputs

    model = convert_to(write("g (float[4, 1000] x) => (float[4, 1000] y) { y = Softmax(x) }"), "torch", tmp_path)
    x = np.random.default_rng(0).normal(size=(4, 1000)).astype(np.float32)
    wide = np.exp(x.astype(np.float64) - x.max())
    expected = [{"y": (wide / wide.sum(axis=-1, keepdims=True)).astype(np.float32)}]
    actual = ExecuTorch().lower(model, _XNNPACK).run({"x": x})
    (good,), none = compare_outputs([actual], expected, Contract())
    assert good.findings == ()
    assert none == ()
    (bad,), _ = compare_outputs([{"y": np.zeros_like(actual["y"])}], expected, Contract())
    assert any(finding.kind == "values" for finding in bad.findings)


@pytest.mark.parametrize(
    ("text", "kind", "node"),
    [
        ("Missing out variants: {'aten::foo', 'aten::bar'}", Unsupported, "aten::bar, aten::foo"),
        ("something broke in operator aten.x.default", Lowering, "aten.x.default"),
        ("std::bad_alloc", MemoryError, ""),
    ],
)
def test_words_become_causes(text: str, kind: type[Exception], node: str) -> None:
    failure = lowering_failure(RuntimeError(text), step="lowering for xnnpack")
    assert type(failure) is kind
    assert getattr(failure, "node", "") == node


def test_what_a_list_of_passes_wraps_is_told_itself() -> None:
    inner = TypeError("new(): data must be a sequence (got NoneType)")
    wrapped = Exception("An error occurred when running the 'P' pass after the following passes: ['P', 'P']")
    wrapped.__cause__ = inner
    assert str(lowering_failure(wrapped, step="lowering")) == f"ExecuTorch failed lowering: TypeError: {inner}"


def test_a_type_that_a_delegate_lacks_is_unsupported() -> None:
    """Core ML's answer to an input of bytes."""
    import torch

    failure = lowering_failure(KeyError(torch.uint8), step="lowering for coreml")
    assert type(failure) is Unsupported
    assert str(failure) == "the delegate of ExecuTorch has no type torch.uint8."


def test_what_a_partitioner_keeps_and_its_delegate_does_not_take_is_unsupported(tmp_path: Path) -> None:
    import torch

    program = torch.export.export(torch.nn.PixelShuffle(2), (torch.ones(1, 4, 3, 3),))
    path = save_program(program, tmp_path / "shuffle.pt2", (TensorSpec("x", "float32", (1, 4, 3, 3)),), ["y"])
    flow = Flow(name="f", backend="executorch", options={"delegate": "openvino"})
    with pytest.raises(Unsupported, match=r"keeps aten\.pixel_shuffle\.default from being decomposed") as caught:
        ExecuTorch().lower(path, flow)
    assert caught.value.node == "aten.pixel_shuffle.default"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Failed to load method forward, error: 0x:14", Unsupported),  # as 1.4 writes it where a kernel is missing
        ("loading method forward failed with error 0x14", Unsupported),
        ("Failed to load method forward, error: 0x:23", InvalidModel),
    ],
)
def test_a_kernel_that_the_runtime_lacks_is_no_damaged_program(said: str, kind: type[Lowering]) -> None:
    assert type(load_failure("model.pte", RuntimeError(said))) is kind


def test_an_operator_that_the_delegate_is_not_offered_stays_portable(tiny: Path) -> None:
    backend = ExecuTorch()
    names = backend.passes_run(tiny, _XNNPACK)
    assert "partitioner(convolution.default)" in names
    without = backend.without_passes(_XNNPACK, ["partitioner(convolution.default)"])
    assert without.options["undelegated"] == "convolution.default"
    assert backend.passes_run(tiny, without) == tuple(
        name for name in names if name != "partitioner(convolution.default)"
    )
    assert [name for name in backend.lower(tiny, without).facts().undelegated if "convolution" in name]
    with pytest.raises(UsageError, match="the partitioner of xnnpack does not name 'foo'; it has"):
        backend.lower(tiny, backend.without_passes(_XNNPACK, ["foo"]))
    portable = {**without.options, "delegate": "portable"}
    assert backend.lower(tiny, msgspec.structs.replace(without, options=portable)).facts().delegated is None
