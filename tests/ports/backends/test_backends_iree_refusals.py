"""What IREE does not take, and artifacts that are damaged or of another machine."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.backends.iree.backend import IREE
from assay.backends.iree.compile import dispatches
from assay.backends.iree.errors import compiler_failure, runtime_failure
from assay.errors import InvalidModel, Lowering, NotRunnable, Unsupported
from assay.testing.tiny_models import tiny_model

_FLOWS = {flow.name: flow for flow in IREE.flows}


_FLOW = _FLOWS["iree-llvm-cpu"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The conformance model, lowered once for the CPU."""
    folder = tmp_path_factory.mktemp("iree")
    IREE().lower(tiny_model(folder / "tiny.onnx"), _FLOW).save(folder)
    return folder


def test_an_operator_of_another_domain_is_not_taken_for_onnx(write: Any) -> None:
    text = "g (float[1] x) => (float[1] y) { y = my.domain.Relu(x) }"
    with pytest.raises(Unsupported, match=r"has no my\.domain\.Relu"):
        IREE().lower(write(text, more=', "my.domain" : 1'), _FLOW)


def test_what_has_no_lowering_is_named(write: Any) -> None:
    text = "g (float[1, 1, 6, 6] x, float[1, 5] r) => (float[1, 1, 2, 2] y) { y = MaxRoiPool<pooled_shape = [2, 2]>(x, r) }"
    with pytest.raises(Unsupported, match=r"no lowering of torch\.aten\.max_pool2d as used here at 'y'") as caught:
        IREE().lower(write(text), _FLOW)
    assert caught.value.node == "y"


_ILLEGAL = (
    "<unknown>:0: error: loc(\"fancy\"): failed to legalize operation 'torch.operator' that was explicitly marked illegal: "
    '%0 = "torch.operator"(%arg0) <{name = "onnx.Fancy"}> : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>'
)


def test_an_older_opset_is_not_converted_silently() -> None:
    old, new = compiler_failure(_ILLEGAL, 13), compiler_failure(_ILLEGAL, 17)
    assert isinstance(old, Unsupported)
    assert "written for opset 13" in str(old)
    assert "transform opset:17" in str(old)
    assert isinstance(new, Unsupported)
    assert "opset" not in str(new)
    assert new.node == "fancy"


def test_words_of_failures() -> None:
    assert "signal 11" in str(compiler_failure("Error code: -11\nDiagnostics:\n\nInvoked with: x", 17))
    assert isinstance(
        compiler_failure("<stdin>:1:1: error: missing GPU target in #hal.executable.target", 17), Unsupported
    )
    dispatch = "c/allocator_libc.c:57: RESOURCE_EXHAUSTED; failed; while invoking native function hal.fence.await;"
    assert type(runtime_failure(dispatch)) is Lowering
    assert isinstance(
        runtime_failure("x.c:1: RESOURCE_EXHAUSTED; while invoking native function hal.device.queue.alloca"),
        MemoryError,
    )


def test_names_of_dispatches() -> None:
    source = "\n".join(
        f"hal.executable.export public @{name} ordinal(0)"
        for name in (
            "main$async_dispatch_0_conv_Dx4x8x8x3x3x3_f32",
            "main$async_dispatch_1_matmul_like_Dx5x4_f16xf16xf32",
            "main$async_dispatch_2_slow_memcpy",
            "main$async_dispatch_3_elementwise_broadcast_D_i32xf32",
        )
    )
    assert [(dispatch.operator, dispatch.precision, dispatch.role) for dispatch in dispatches([source], "vmvx")] == [
        ("conv", "float32", ""),
        ("elementwise_broadcast", "float32", ""),
        ("matmul_like", "float16", ""),
        ("slow_memcpy", "", "reformat"),
    ]


def test_a_truncated_artifact(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "model.vmfb"
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(InvalidModel, match="truncated or replaced"):
        IREE().load(tmp_path, _FLOW)
    file.unlink()
    with pytest.raises(InvalidModel, match="is missing"):
        IREE().load(tmp_path, _FLOW)


def _redone(folder: Path, module: bytes) -> None:
    """The module as if it had been saved so."""
    (folder / "model.vmfb").write_bytes(module)
    declared = json.loads((folder / "declared.json").read_bytes())
    declared["digest"] = hashlib.sha256(module).hexdigest()
    (folder / "declared.json").write_text(json.dumps(declared))


def test_a_module_for_another_processor_is_lowered_and_not_run(tmp_path: Path) -> None:
    """Piledriver's successors have xop and fma4, which no processor has had since."""
    flow = msgspec.structs.replace(_FLOW, options={"cpu": "bdver4"})
    engine = IREE().lower(tiny_model(tmp_path / "tiny.onnx"), flow)
    engine.save(tmp_path)
    with pytest.raises(NotRunnable, match=r"built for another processor: this one has no fma4, (sse4a, )?xop; lower"):
        IREE().load(tmp_path, flow)


def test_a_module_of_another_version(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    module = (tmp_path / "model.vmfb").read_bytes()
    bytecode = struct.pack("<I", 17 << 16)
    assert bytecode in module[:256], "the version of the bytecode stands elsewhere in this version of iree"
    _redone(tmp_path, module.replace(bytecode, struct.pack("<I", 16 << 16), 1))
    with pytest.raises(InvalidModel, match=r"supports 17\.0, module has 16\.0"):
        IREE().load(tmp_path, _FLOW)
