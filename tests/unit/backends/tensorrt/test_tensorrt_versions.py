"""Building against the classes that each version really has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from generated_tensorrt import VERSIONS, make
from one_version import Version, world_of

from assay.backends.tensorrt.api import api_of
from assay.backends.tensorrt.precision import NAMES
from assay.errors import InvalidModel, Lowering, NotRunnable, Unsupported


def test_the_generation_is_told_by_what_is_there() -> None:
    assert [api_of(make(version, world_of())).generation for version in VERSIONS] == ["8", "10", "10", "11"]


def test_explicit_batch_only_where_it_is_needed(version: str, tmp_path: Path) -> None:
    engine = Version(version, world_of(), tmp_path)
    engine.build()
    assert engine.called("Builder.create_network") == [[1 if version.startswith("8") else 0]]


def test_the_profile_has_least_usual_and_most(version: str, tmp_path: Path) -> None:
    engine = Version(version, world_of(), tmp_path)
    engine.build()
    assert engine.called("IOptimizationProfile.set_shape") == [["x", (1, 3), (4, 3), (8, 3)]]
    assert len(engine.called("IBuilderConfig.add_optimization_profile")) == 1


def test_a_size_that_nobody_named_is_asked_for(version: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r'dimension "n" of input "x".*--dim n='):
        Version(version, world_of(), tmp_path).build(dims={})


def _flags(version: Version) -> dict[str, bool]:
    names = version.trt.BuilderFlag
    on = {names(given[0]).name: True for given in version.called("IBuilderConfig.set_flag")}
    return on | {names(given[0]).name: False for given in version.called("IBuilderConfig.clear_flag")}


_EXPRESSED = {
    "fp32": {"8": {"TF32": False}, "10": {"TF32": False}, "11": {"TF32": False}},
    "tf32": {"8": {"TF32": True}, "10": {"TF32": True}, "11": {"TF32": True}},
    "fp16": {"8": {"TF32": False, "FP16": True}, "10": {"TF32": False, "FP16": True}, "11": "carries no float16"},
    "bf16": {"8": "has no flag BF16", "10": {"TF32": False, "BF16": True}, "11": "carries no bfloat16"},
    "int8-qdq": {"8": "quantize it first", "10": "quantize it first", "11": "quantize it first"},
    "fp8-qdq": {"8": "of float8", "10": "of float8", "11": "of float8"},
}


@pytest.mark.parametrize("precision", NAMES)
def test_a_precision_is_expressed_or_refused(version: str, precision: str, tmp_path: Path) -> None:
    engine = Version(version, world_of(), tmp_path)
    wanted: Any = _EXPRESSED[precision][engine.api.generation]
    if isinstance(wanted, str):
        with pytest.raises(Unsupported, match=wanted):
            engine.build(precision=precision)
        assert not engine.called("Builder.build_serialized_network")
    else:
        engine.build(precision=precision)
        assert _flags(engine) == wanted


_HALF = "g (float16[n, 3] x) => (float16[n, 3] y) { y = Add(x, x) }"
_QDQ = """g (float[n, 3] x) => (float[n, 3] y) {
    s = Constant<value = float {0.1}>()
    z = Constant<value = int8 {%s}>()
    q = QuantizeLinear(x, s, z)
    y = DequantizeLinear(q, s, z)
}"""
_FP8 = """g (float[n, 3] x) => (float[n, 3] y) {
    s = Constant<value = float {0.1}>()
    q = QuantizeLinear<output_dtype = 17>(x, s)
    y = DequantizeLinear(q, s)
}"""


@pytest.mark.parametrize(
    ("precision", "text", "flag"), [("fp16", _HALF, "FP16"), ("int8-qdq", _QDQ % 0, "INT8"), ("fp8-qdq", _FP8, "FP8")]
)
def test_what_the_model_carries(version: str, precision: str, text: str, flag: str, tmp_path: Path) -> None:
    engine = Version(version, world_of(), tmp_path, text)
    engine.build(precision=precision)
    assert _flags(engine).get(flag, False) is not version.startswith("11")


def test_quantization_around_another_zero_is_refused(version: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="'q' has another zero point"):
        Version(version, world_of(), tmp_path, _QDQ % 3).build(precision="int8-qdq")


def test_strongly_typed_networks(version: str, tmp_path: Path) -> None:
    engine = Version(version, world_of(), tmp_path, _HALF)
    if engine.api.generation == "8":
        with pytest.raises(Unsupported, match="no strongly typed networks"):
            engine.build(strongly_typed=True)
        return
    engine.build(precision="fp16", strongly_typed=True)
    assert "FP16" not in _flags(engine)
    if engine.api.generation == "10":
        assert engine.called("Builder.create_network") == [
            [1 << engine.trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED]
        ]


def test_memory_pool_level_and_compatibility(version: str, tmp_path: Path) -> None:
    engine = Version(version, world_of(), tmp_path)
    engine.build(workspace_mib=64, version_compatible=True)
    pool = engine.trt.MemoryPoolType.WORKSPACE
    assert engine.called("IBuilderConfig.set_memory_pool_limit") == [[pool, 64 << 20]]
    assert _flags(engine)["VERSION_COMPATIBLE"]


def test_the_timing_cache_is_read_and_written(version: str, tmp_path: Path) -> None:
    engine = Version(version, world_of(), tmp_path)
    cache = tmp_path / "tactics"
    engine.build(timing_cache=str(cache))
    engine.build(timing_cache=str(cache))
    assert cache.read_bytes() == b"times"
    assert engine.called("IBuilderConfig.create_timing_cache") == [[b""], [b"times"]]


@pytest.mark.parametrize(
    ("code", "kind"),
    [("UNSUPPORTED_NODE", Unsupported), ("INVALID_NODE", InvalidModel), ("MEM_ALLOC_FAILED", MemoryError),
     ("INTERNAL_ERROR", Lowering)],
)  # fmt: skip
def test_the_parser_names_the_node(version: str, code: str, kind: type[Exception], tmp_path: Path) -> None:
    error = {"code": code, "desc": "no importer", "node": 3, "node_name": "fancy", "node_operator": "Fancy"}
    with pytest.raises(kind) as caught:
        Version(version, world_of(parser_error=error), tmp_path).build()
    assert ("fancy" if not version.startswith("8") else "at node '3'") in str(caught.value)


_SKIPPED = "Skipping tactic 0 due to insuficient memory on requested size of 29147520 detected for tactic 0."
_NONE = "Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[a...b]}.)"


def test_a_failed_build_is_explained_by_the_log(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import generated_tensorrt

    for says, kind in (([("ERROR", _NONE)], Unsupported), ([("WARNING", _SKIPPED), ("ERROR", _NONE)], MemoryError)):
        engine = Version(version, world_of(fails="build", says=says), tmp_path)
        monkeypatch.setattr(generated_tensorrt, "LOGGERS", [engine.listener.logger])
        with pytest.raises(kind):
            engine.build()


def test_a_builder_that_is_null_is_a_missing_device(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def null(_logger: object) -> None:
        raise TypeError("pybind11::init(): factory function returned nullptr")

    engine = Version(version, world_of(), tmp_path)
    monkeypatch.setattr(engine.trt, "Builder", null)
    with pytest.raises(NotRunnable, match=r"no CUDA device.*returned nullptr"):
        engine.build()


@pytest.mark.parametrize(
    ("version", "use"),
    [
        ("11.1.0", lambda trt: trt.BuilderFlag.FP16),
        ("11.1.0", lambda trt: trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH),
        ("11.1.0", lambda trt: trt.ICudaEngine().device_memory_size),
        ("10.0.1", lambda trt: trt.Builder(None).build_engine(None, None)),
        ("8.6.1", lambda trt: trt.ICudaEngine().device_memory_size_v2),
        ("10.0.1", lambda trt: setattr(trt.IBuilderConfig(), "max_workspace_size", 1)),
        ("10.0.1", lambda trt: trt.IBuilderConfig().set_flag(flags=1)),
    ],
)
def test_the_generated_module_lacks_what_the_version_lacks(version: str, use: Any) -> None:
    with pytest.raises((AttributeError, TypeError)):
        use(make(version, world_of()))
