"""Command lines, versions and modes of trtexec."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.backends.tensorrt.settings import Settings
from assay.backends.tensorrt.trtexec import Mode, build_command, mode_of, version_of
from assay.core.model import TensorSpec
from assay.errors import Unsupported

_INPUTS = (TensorSpec("image", "float32", ("n", 3, 8, 8)), TensorSpec("scale", "float32", (1,)))
_DIMS = {"n": (1, 4, 8)}


def _command(major: int, **settings: object) -> list[str]:
    chosen = Settings(**{"precision": "fp32"} | settings)  # type: ignore[arg-type]
    return build_command("trtexec", Path("m.onnx"), Path("m.plan"), _INPUTS, chosen, _DIMS, major)


@pytest.mark.parametrize(
    ("banner", "wanted"),
    [
        ("&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec", (8, 6, 1)),
        ("&&&& FAILED TensorRT.trtexec [TensorRT v8205] # ./trtexec", (8, 2, 5)),
        ("&&&& RUNNING TensorRT.trtexec [TensorRT v100001] # trtexec", (10, 0, 1)),
        ("&&&& PASSED TensorRT.trtexec [TensorRT v101600] [b25]", (10, 16, 0)),
        ("&&&& PASSED TensorRT.trtexec [TensorRT v110100]", (11, 1, 0)),
        ("bash: trtexec: command not found", (0, 0, 0)),
    ],
)
def test_versions(banner: str, wanted: tuple[int, int, int]) -> None:
    assert version_of(banner) == wanted


def test_a_default_of_10_is_not_a_default_of_11() -> None:
    assert mode_of([], 10) == Mode(cuda_graph=False, spin_wait=False, data_transfers=True)
    assert mode_of([], 11) == Mode(cuda_graph=True, spin_wait=True, data_transfers=False)
    same = ["--useCudaGraph", "--useSpinWait", "--noDataTransfers", "--infStreams=2", "--warmUp=500"]
    assert mode_of(same, 10) == mode_of(["--infStreams=2", "--warmUp=500"], 11)


def test_types_are_flags_until_11() -> None:
    assert "--fp16" in _command(8, precision="fp16")
    assert "--fp16" not in _command(11, precision="fp16")
    assert "--fp16" not in _command(10, precision="fp16", strongly_typed=True)
    assert "--stronglyTyped" in _command(10, strongly_typed=True)
    with pytest.raises(Unsupported, match="has no flag --bf16"):
        _command(8, precision="bf16")
    assert "--noTF32" in _command(11)
    assert "--noTF32" not in _command(11, precision="tf32")


def test_shapes_of_dynamic_inputs_only() -> None:
    assert _command(10)[-3:] == ["--minShapes=image:1x3x8x8", "--optShapes=image:4x3x8x8", "--maxShapes=image:8x3x8x8"]


def test_what_else_is_asked_for() -> None:
    command = _command(10, workspace_mib=64, version_compatible=True, timing_cache="t")
    assert {"--memPoolSize=workspace:64", "--versionCompatible", "--timingCacheFile=t", "--skipInference"} <= set(
        command
    )
