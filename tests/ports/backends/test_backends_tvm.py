"""TVM itself: its targets, names, what it called, and the traps of its importer and loader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import pytest

from assay.backends.tvm.backend import TVM
from assay.backends.tvm.compile import target_of
from assay.backends.tvm.errors import tvm_failure
from assay.core.flow import Flow
from assay.errors import Lowering, NotRunnable, Unsupported, UsageError
from assay.testing.backend_checks import check_backend
from assay.testing.tiny_models import INPUT, tiny_model

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:tvm", "ignore::DeprecationWarning")

_FLOWS = {flow.name: flow for flow in TVM.flows}
_FLOW = _FLOWS["tvm-llvm"]
_IMAGE = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)


def test_conforms() -> None:
    check_backend(TVM())


def test_a_run_leaves_the_calling_thread_on_the_cores_that_it_may_use(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; import numpy as np; from assay.backends.tvm.backend import TVM\n"
        "backend, before = TVM(), os.sched_getaffinity(0); backend.prepare()\n"
        "engine = backend.lower(Path(sys.argv[1]), backend.flows[0])\n"
        "engine.run({sys.argv[2]: np.zeros((2, 3, 8, 8), np.float32)})\n"
        "sys.exit(os.sched_getaffinity(0) != before)\n"
    )
    command = [sys.executable, "-c", script, str(tiny_model(tmp_path / "tiny.onnx")), INPUT]
    assert subprocess.run(command, check=False).returncode == 0


def test_targets_are_dictionaries() -> None:
    import tvm

    with pytest.raises(ValueError, match="no longer supported"):
        tvm.target.Target("llvm -mcpu=generic")
    for flow in TVM.flows:
        options = {spec.name: flow.options.get(spec.name, spec.default) for spec in TVM.options}
        target = target_of(options, flow)
        assert tvm.target.Target(target).kind.name == target["kind"]


def test_targets_that_kill_are_not_offered(tmp_path: Path) -> None:
    for kind in ("metal", "vulkan"):
        with pytest.raises(UsageError, match="llvm, cuda, opencl"):
            TVM().lower(tiny_model(tmp_path / "tiny.onnx"), Flow(name="x", backend="tvm", options={"target": kind}))


def test_a_processor_that_llvm_does_not_know(tmp_path: Path) -> None:
    flow = Flow(name="x", backend="tvm", options={"cpu": "no-such-cpu"})
    with pytest.raises(UsageError, match=r"cannot be .no-such-cpu.; use one of: "):
        TVM().lower(tiny_model(tmp_path / "tiny.onnx"), flow)


def _called(flow: str, folder: Path) -> dict[str, str]:
    engine = TVM().lower(tiny_model(folder / "tiny.onnx"), _FLOWS[flow])
    assert not engine.facts().placements
    engine.run({INPUT: _IMAGE})
    facts = engine.facts()
    assert facts.precision == "float32"
    assert facts.options["threads"] == "1"
    assert engine.run({INPUT: _IMAGE})["best"].shape == (2,)
    return {placement.operator: placement.role for placement in facts.placements}


def test_optimization_is_seen_in_what_was_called(tmp_path: Path) -> None:
    assert _called("tvm-llvm", tmp_path)["fused_conv2d_relu"] == "fused"
    plain = _called("tvm-llvm-o0", tmp_path)
    assert plain["conv2d"] == plain["relu"] == "compute"
    assert "fused_conv2d_relu" not in plain


@pytest.mark.parametrize("flow", ["tvm-cuda", "tvm-opencl"])
def test_lowered_without_its_device(flow: str, tmp_path: Path) -> None:
    import tvm

    if tvm.device(flow.removeprefix("tvm-")).exist:
        pytest.skip("its device is here")
    engine = TVM().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOWS[flow])
    engine.save(tmp_path)
    assert (tmp_path / "model.so").stat().st_size > 10_000
    assert engine.facts().options["target.kind"] == flow.removeprefix("tvm-")
    with pytest.raises(NotRunnable, match=r"runtime for|device on this machine"):
        TVM().load(tmp_path, _FLOWS[flow])


def test_an_engine_at_the_path_of_another(write: Any, tmp_path: Path) -> None:
    """Two jobs of one worker save to one place: the loader of the system would give the first library again."""
    place, x = tmp_path / "artifact", np.array([-1.0, 2.0], np.float32)
    place.mkdir()
    answers = []
    for operator in ("Relu", "Neg"):
        engine = TVM().lower(write(f"g (float[n] x) => (float[n] y) {{ y = {operator}(x) }}"), _FLOW)
        engine.save(place)
        answers.append(TVM().load(place, _FLOW).run({"x": x})["y"].tolist())
    assert answers == [[0, 2], [1, -2]]


def test_an_operator_of_another_domain_is_not_taken_for_onnx(write: Any) -> None:
    text = "g (float[1] x) => (float[1] y) { y = my.domain.Relu(x) }"
    with pytest.raises(Unsupported, match=r"has no my\.domain\.Relu"):
        TVM().lower(write(text, more=', "my.domain" : 1'), _FLOW)


def test_names_order_and_what_is_not_read(write: Any) -> None:
    text = (
        "g (float[n] a, float[m] unread, float[n] b) => (float[n] z, float[n] a2) { z = Sub(a, b)\n a2 = Identity(a) }"
    )
    engine = TVM().lower(write(text), _FLOW)
    first, two = np.array([1, 2], np.float32), np.array([5, 5], np.float32)
    outputs = engine.run({"b": two, "a": first, "unread": np.ones(3, np.float32)})
    assert {name: array.tolist() for name, array in outputs.items()} == {"z": [-4, -3], "a2": [1, 2]}
    assert list(outputs) == ["z", "a2"]


def test_types_and_ranks(write: Any) -> None:
    engine = TVM().lower(write("g (float[n] x) => (bfloat16[n] y) { y = Cast<to = 16>(x) }"), _FLOW)
    assert engine.run({"x": np.array([1.0], np.float32)})["y"].dtype == np.dtype(ml_dtypes.bfloat16)
    engine = TVM().lower(write("g (float x) => (bool y) { y = IsNaN(x) }"), _FLOW)
    answer = engine.run({"x": np.array(np.nan, np.float32)})["y"]
    assert (answer.shape, answer.dtype, bool(answer)) == ((), np.bool_, True)
    engine = TVM().lower(write("g (float[n, 3] x) => (int64[2] y) { y = Shape(x) }"), _FLOW)
    assert engine.run({"x": np.zeros((4, 3), np.float32)})["y"].tolist() == [4, 3]


@pytest.mark.parametrize("wrong", [_IMAGE[:, :2], _IMAGE.astype(np.float64), _IMAGE[0]])
def test_inputs_are_checked(tmp_path: Path, wrong: Any) -> None:
    engine = TVM().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    with pytest.raises(ValueError, match='Input "image"'):
        engine.run({INPUT: wrong})


def test_text_is_refused(write: Any) -> None:
    with pytest.raises(Unsupported, match="does not pass through tvm"):
        TVM().lower(write("g (string[n] x) => (string[n] y) { y = Identity(x) }"), _FLOW)


@pytest.mark.parametrize(
    ("text", "node", "kind"),
    [
        ("g (float[4] x) => (float[4] y) { y = Bernoulli(x) }", "Bernoulli", Unsupported),
        # It says "Only constant axes currently supported" with an AssertionError.
        ("g (float[2, 2] x, int64[1] a) => (float[2, 1] y) { y = ReduceSum(x, a) }", "y", Unsupported),
        # It looks for num_heads, an attribute of com.microsoft's Attention, and trips.
        ("g (float[1, 2, 3, 4] q) => (float[1, 2, 3, 4] y) { y = Attention(q, q, q) }", "y", Lowering),
    ],
)
def test_what_the_importer_cannot_is_told_with_the_node(write: Any, text: str, node: str, kind: type[Lowering]) -> None:
    with pytest.raises(Lowering) as caught:
        TVM().lower(write(text, opset=24, ir=11), _FLOW)
    assert type(caught.value) is kind
    assert caught.value.node == node


def test_words_of_failures() -> None:
    assert isinstance(tvm_failure(RuntimeError("std::bad_alloc"), step="running"), MemoryError)
    assert isinstance(tvm_failure(NotImplementedError(""), step="importing"), Unsupported)
    assert type(tvm_failure(KeyError("x"), step="importing")) is Lowering
    assert "KeyError: 'x'" in str(tvm_failure(KeyError("x"), step="importing"))


def test_a_truncated_artifact(tmp_path: Path) -> None:
    TVM().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW).save(tmp_path)
    file = tmp_path / "model.so"
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(Lowering, match="truncated or replaced"):
        TVM().load(tmp_path, _FLOW)


def test_a_library_for_another_processor_is_lowered_and_not_run(tmp_path: Path) -> None:
    """Piledriver's successors have xop and fma4, which no processor has had since."""
    flow = msgspec.structs.replace(_FLOW, options={"cpu": "bdver4"})
    TVM().lower(tiny_model(tmp_path / "tiny.onnx"), flow).save(tmp_path)
    with pytest.raises(NotRunnable, match=r"built for another processor: this one has no fma4, (sse4a, )?xop; lower"):
        TVM().load(tmp_path, flow)


def test_a_schedule_by_dlight_is_another_engine_with_the_same_answers(tmp_path: Path) -> None:
    model, flow = tiny_model(tmp_path / "tiny.onnx"), msgspec.structs.replace(_FLOW, options={"schedule": "dlight"})
    assert "ApplyDefaultSchedule" in TVM().passes_run(model, flow)
    assert "ApplyDefaultSchedule" not in TVM().passes_run(model, _FLOW)
    engines = [TVM().lower(model, each_flow) for each_flow in (_FLOW, flow)]
    usual, other = (engine.run({INPUT: _IMAGE}) for engine in engines)
    assert all(np.allclose(usual[name], other[name], rtol=1e-5, atol=1e-6) for name in usual)
    assert [engine.facts().options["schedule"] for engine in engines] == ["default", "dlight"]


@pytest.mark.parametrize("more", [{"target": "cuda"}, {"optimization": "none"}])
def test_dlight_has_rules_for_an_optimized_engine_of_this_processor_alone(more: dict[str, str], tmp_path: Path) -> None:
    flow = msgspec.structs.replace(_FLOW, options={"schedule": "dlight", **more})
    with pytest.raises(UsageError, match='"schedule" can be dlight with target=llvm, optimization=full only'):
        TVM().lower(tiny_model(tmp_path / "tiny.onnx"), flow)
