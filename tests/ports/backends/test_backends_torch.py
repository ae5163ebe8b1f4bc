"""The torch backend itself: what it computes in, what it says it compiled, what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from assay.backends.torch.backend import Torch
from assay.backends.torch.engine import TorchEngine
from assay.backends.torch.errors import torch_failure
from assay.core.flow import Flow
from assay.errors import InvalidModel, Lowering, Unavailable, Unsupported, UsageError
from assay.models.conversion import convert_to
from assay.models.program import open_program
from assay.testing.tiny_models import INPUT, tiny_expected, tiny_model

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

_EAGER, _DOUBLE, _INDUCTOR, _AHEAD = Torch.flows[:4]
_IMAGE = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return convert_to(tiny_model(tmp_path / "tiny.onnx"), "torch", tmp_path)


def test_eager_tells_its_operators_and_types(tiny: Path) -> None:
    engine = Torch().lower(tiny, _EAGER)
    engine.run({INPUT: _IMAGE})
    facts = engine.facts()
    assert facts.precision == "float32"
    placed = {
        placement.operator: (placement.device, placement.precision, placement.count) for placement in facts.placements
    }
    assert placed["aten.conv2d.default"] == ("cpu", "float32", 1)
    assert placed["aten.argmax.default"] == ("cpu", "int64", 1)
    assert type(facts.backend_version) is str


def test_double_is_double_inside(tiny: Path, write: Any, tmp_path: Path) -> None:
    """1 + 2^-40 - 1 is lost in float32, and in a graph that casts in the middle too."""
    text = """g (float[n] x) => (float[n] y) {
        one = Constant<value_float=1.0>()
        big = Add(x, one)
        cast = Cast<to=1>(big)
        y = Sub(cast, one)
    }"""
    program = convert_to(write(text), "torch", tmp_path)
    small = np.full(3, 2.0**-40, np.float32)
    assert Torch().lower(program, _EAGER).run({"x": small})["y"].tolist() == [0.0] * 3
    assert Torch().lower(program, _DOUBLE).run({"x": small})["y"].tolist() == [2.0**-40] * 3
    engine = Torch().lower(tiny, _DOUBLE)
    outputs = engine.run({INPUT: _IMAGE})
    assert {name: array.dtype.name for name, array in outputs.items()} == {
        "scores": "float64",
        "features": "float64",
        "best": "int64",
    }
    assert torch.get_default_dtype() == torch.float32
    np.testing.assert_allclose(outputs["scores"], tiny_expected(_IMAGE)["scores"], rtol=1e-6)


class _Cache(torch.nn.Module):
    """Adds what it is given to what it holds, and gives its buffer itself."""

    def __init__(self, persistent: bool) -> None:
        super().__init__()
        self.register_buffer("held", torch.ones(4), persistent=persistent)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.held.add_(x)
        return self.held


@contextmanager
def _little_to_compile() -> Iterator[None]:
    """No headers beforehand, and no try of what the processor's vectors can do: they take longer than one small program."""
    from torch._inductor import config, cpu_vec_isa

    cpu_vec_isa.valid_vec_isa_list.cache_clear()
    try:
        with config.patch({"aot_inductor.precompile_headers": False, "cpp.vec_isa_ok": False}):
            yield
    finally:
        cpu_vec_isa.valid_vec_isa_list.cache_clear()


@pytest.mark.parametrize(
    ("flow", "persistent"),
    [
        *((flow, kept) for flow in (_EAGER, _DOUBLE, _INDUCTOR) for kept in (True, False)),
        (_AHEAD, False),
        pytest.param(_AHEAD, True, marks=pytest.mark.slow),  # to compile it takes half a minute
    ],
    ids=lambda value: value.name if isinstance(value, Flow) else None,
)
def test_every_run_starts_from_the_buffers_that_were_exported(flow: Flow, persistent: bool, tmp_path: Path) -> None:
    """An engine that kept what the run before left was called nondeterministic, and Inductor's, which had compiled, wrong."""
    torch.export.save(torch.export.export(_Cache(persistent), (torch.ones(4),)), tmp_path / "cache.pt2")
    with _little_to_compile() if flow is _AHEAD else nullcontext():
        engine = Torch().lower(tmp_path / "cache.pt2", flow)
    answers = [next(iter(engine.run({"x": np.full(4, step, np.float32)}).values())) for step in (1, 2, 1)]
    assert [answer.tolist() for answer in answers] == [[2.0] * 4, [3.0] * 4, [2.0] * 4]
    engine.save(tmp_path)
    again = Torch().load(tmp_path, flow)
    assert next(iter(again.run({"x": np.ones(4, np.float32)}).values())).tolist() == [2.0] * 4


def test_threads_are_put_back(tiny: Path) -> None:
    before = torch.get_num_threads()
    flow = Flow(name="two", backend="torch", options={"threads": before + 1})
    Torch().lower(tiny, flow).run({INPUT: _IMAGE})
    assert torch.get_num_threads() == before


def test_options_that_contradict_each_other(tiny: Path) -> None:
    flow = Flow(name="both", backend="torch", options={"precision": "float64", "compiler": "inductor"})
    with pytest.raises(UsageError, match="can be float64 with compiler=eager only"):
        Torch().lower(tiny, flow)


@pytest.mark.parametrize("wrong", [_IMAGE[:, :2], _IMAGE.astype(np.float64), _IMAGE[0]])
def test_inputs_of_another_kind(tiny: Path, wrong: Any) -> None:
    with pytest.raises(ValueError, match='Input "image"'):
        Torch().lower(tiny, _EAGER).run({INPUT: wrong})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_device(tiny: Path) -> None:
    for flow in (
        Flow(name="gpu", backend="torch", options={"device": "cuda"}),
        Flow(name="gpu", backend="torch", device="cuda"),
    ):
        with pytest.raises(Unavailable, match="CUDA"):
            Torch().lower(tiny, flow)


def test_a_timed_call_that_a_device_has_no_memory_for(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU: the device that takes shapes alone, an event that does nothing, and the error as torch words it."""

    class Event:
        def __init__(self, *, enable_timing: bool) -> None: ...
        def record(self) -> None: ...

    def full(*_args: object, **_kwargs: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(torch.cuda, "Event", Event)
    engine = TorchEngine(open_program(tiny), full, {"precision": "float32", "device": "meta", "tf32": "default"})
    call = engine.device_call({INPUT: _IMAGE})
    assert call is not None
    with pytest.raises(MemoryError, match="CUDA out of memory"):
        call()


@pytest.mark.parametrize("flow", [_INDUCTOR, _AHEAD])
def test_without_a_compiler(tiny: Path, flow: Flow) -> None:
    from torch._inductor import config, cpp_builder

    cpp_builder.cpp_compiler_search.cache_clear()
    try:
        with (
            config.patch({"cpp.cxx": ("no-such-compiler",)}),
            pytest.raises(Unavailable, match=r"apt-get install g\+\+"),
        ):
            Torch().lower(tiny, flow)
    finally:
        cpp_builder.cpp_compiler_search.cache_clear()


def test_an_artifact_that_lost_its_package(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "engine"
    folder.mkdir()
    Torch().lower(tiny, _EAGER).save(folder)
    with pytest.raises(Lowering, match=r"package\.pt2 is missing"):
        Torch().load(folder, _AHEAD)
    (folder / "package.pt2").write_bytes(b"cut")
    with pytest.raises(InvalidModel, match=r"torch cannot load this saved engine .*: build it again with this version"):
        Torch().load(folder, _AHEAD)
    (folder / "program.pt2").write_bytes(b"cut")
    with pytest.raises(InvalidModel, match="not an archive"):
        Torch().load(folder, _EAGER)


@pytest.mark.parametrize(
    ("error", "kind", "node"),
    [
        (RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Float8_e5m2'"), Unsupported, "addmm_impl_cpu_"),
        (
            NotImplementedError("Could not run 'aten::_spdiags' with arguments from the 'CUDA' backend"),
            Unsupported,
            "aten::_spdiags",
        ),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes"),
            MemoryError,
            "",
        ),
        (
            RuntimeError("No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')"),
            Unavailable,
            "",
        ),
        (RuntimeError("The size of tensor a (3) must match\nthe size of tensor b (4)"), Lowering, ""),
    ],
)
def test_words_become_outcomes(error: Exception, kind: type[Exception], node: str) -> None:
    failure = torch_failure(error)
    assert type(failure) is kind
    assert getattr(failure, "node", "") == node
    assert "\n" not in str(failure)
