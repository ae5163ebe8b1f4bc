"""Building and running against the classes that each version really has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from generated_tensorrt import VERSIONS, World, make
from onnx import parser

from assay.backends.onnx_checked import load_checked, signature_of
from assay.backends.tensorrt.api import api_of
from assay.backends.tensorrt.build import built
from assay.backends.tensorrt.cuda import Cuda
from assay.backends.tensorrt.engine import Declared, TensorRTEngine
from assay.backends.tensorrt.logs import Listener
from assay.backends.tensorrt.precision import NAMES
from assay.backends.tensorrt.settings import Settings
from assay.errors import InvalidModel, Lowering, NotRunnable, Unsupported

_TWICE = "g (float[n, 3] x) => (float[n, 3] y) { y = Add(x, x) }"
_DIMS = {"n": (1, 4, 8)}
_X = np.arange(6, dtype=np.float32).reshape(2, 3)


def _write(folder: Path, text: str) -> Path:
    path = folder / "model.onnx"
    onnx.save(parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}'), path)
    return path


def _world(**changes: Any) -> World:
    plain: dict[str, Any] = {
        "inputs": {"x": ("FLOAT", (-1, 3))},
        "outputs": {"y": ("FLOAT", (-1, 3))},
        "compute": lambda feeds: {"y": feeds["x"] * 2},
    }
    return World(**plain | changes)


class _Version:
    """A model on its way through one version."""

    def __init__(self, version: str, world: World, folder: Path, text: str = _TWICE) -> None:
        self.trt = make(version, world)
        self.path = _write(folder, text)
        self.api, self.listener = api_of(self.trt), Listener(self.trt)

    def build(self, dims: Any = _DIMS, **settings: Any) -> bytes:
        proto = load_checked(self.path)
        chosen = Settings(**{"precision": "fp32"} | settings)
        return built(self.trt, self.api, self.path, proto, signature_of(proto), chosen, dims, self.listener)

    def engine(self, device: Cuda, **settings: Any) -> TensorRTEngine:
        declared = Declared(signature_of(load_checked(self.path)), Settings(**{"precision": "fp32"} | settings))
        return TensorRTEngine(self.trt, self.api, b"plan", declared, self.listener, device)

    def called(self, name: str) -> list[list[Any]]:
        return [given for call, given in self.trt.calls if call == name]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_generation_is_told_by_what_is_there() -> None:
    assert [api_of(make(one, _world())).generation for one in VERSIONS] == ["8", "10", "10", "11"]


def test_a_plan_is_built_and_run(version: str, tmp_path: Path, device: Cuda) -> None:
    one = _Version(version, _world(), tmp_path)
    assert one.build() == b"plan"
    outputs = one.engine(device).run({"x": _X})
    np.testing.assert_array_equal(outputs["y"], _X * 2)
    assert outputs["y"].dtype == np.float32


def test_explicit_batch_only_where_it_is_needed(version: str, tmp_path: Path) -> None:
    one = _Version(version, _world(), tmp_path)
    one.build()
    assert one.called("Builder.create_network") == [[1 if version.startswith("8") else 0]]


def test_the_profile_has_least_usual_and_most(version: str, tmp_path: Path) -> None:
    one = _Version(version, _world(), tmp_path)
    one.build()
    assert one.called("IOptimizationProfile.set_shape") == [["x", (1, 3), (4, 3), (8, 3)]]
    assert len(one.called("IBuilderConfig.add_optimization_profile")) == 1


def test_a_size_that_nobody_named_is_asked_for(version: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r'dimension "n" of input "x".*--dim n='):
        _Version(version, _world(), tmp_path).build(dims={})


def _flags(one: _Version) -> dict[str, bool]:
    names = one.trt.BuilderFlag
    on = {names(given[0]).name: True for given in one.called("IBuilderConfig.set_flag")}
    return on | {names(given[0]).name: False for given in one.called("IBuilderConfig.clear_flag")}


_EXPRESSED = {
    "fp32": {"8": {"TF32": False}, "10": {"TF32": False}, "11": {"TF32": False}},
    "tf32": {"8": {"TF32": True}, "10": {"TF32": True}, "11": {"TF32": True}},
    "fp16": {"8": {"TF32": False, "FP16": True}, "10": {"TF32": False, "FP16": True}, "11": "carries no float16"},
    "bf16": {"8": "no builder flag BF16", "10": {"TF32": False, "BF16": True}, "11": "carries no bfloat16"},
    "int8-qdq": {"8": "quantize it first", "10": "quantize it first", "11": "quantize it first"},
    "fp8-qdq": {"8": "of float8", "10": "of float8", "11": "of float8"},
}


@pytest.mark.parametrize("precision", NAMES)
def test_a_precision_is_expressed_or_refused(version: str, precision: str, tmp_path: Path) -> None:
    one = _Version(version, _world(), tmp_path)
    wanted: Any = _EXPRESSED[precision][one.api.generation]
    if isinstance(wanted, str):
        with pytest.raises(Unsupported, match=wanted):
            one.build(precision=precision)
        assert not one.called("Builder.build_serialized_network")
    else:
        one.build(precision=precision)
        assert _flags(one) == wanted


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
    one = _Version(version, _world(), tmp_path, text)
    one.build(precision=precision)
    assert _flags(one).get(flag, False) is not version.startswith("11")


def test_quantization_around_another_zero_is_refused(version: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="'q' has another zero point"):
        _Version(version, _world(), tmp_path, _QDQ % 3).build(precision="int8-qdq")


def test_strongly_typed_networks(version: str, tmp_path: Path) -> None:
    one = _Version(version, _world(), tmp_path, _HALF)
    if one.api.generation == "8":
        with pytest.raises(Unsupported, match="no strongly typed networks"):
            one.build(strongly_typed=True)
        return
    one.build(precision="fp16", strongly_typed=True)
    assert "FP16" not in _flags(one)
    if one.api.generation == "10":
        assert one.called("Builder.create_network") == [[1 << one.trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED]]


def test_memory_pool_level_and_compatibility(version: str, tmp_path: Path) -> None:
    one = _Version(version, _world(), tmp_path)
    one.build(workspace_mib=64, version_compatible=True)
    pool = one.trt.MemoryPoolType.WORKSPACE
    assert one.called("IBuilderConfig.set_memory_pool_limit") == [[pool, 64 << 20]]
    assert _flags(one)["VERSION_COMPATIBLE"]


def test_a_version_compatible_plan_is_allowed_its_own_runtime(version: str, tmp_path: Path, device: Cuda) -> None:
    assert (
        _Version(version, _world(), tmp_path).engine(device, version_compatible=True)._runtime.engine_host_code_allowed
    )


def test_the_timing_cache_is_read_and_written(version: str, tmp_path: Path) -> None:
    one = _Version(version, _world(), tmp_path)
    cache = tmp_path / "tactics"
    one.build(timing_cache=str(cache))
    one.build(timing_cache=str(cache))
    assert cache.read_bytes() == b"times"
    assert one.called("IBuilderConfig.create_timing_cache") == [[b""], [b"times"]]


@pytest.mark.parametrize(
    ("code", "kind"),
    [("UNSUPPORTED_NODE", Unsupported), ("INVALID_NODE", InvalidModel), ("MEM_ALLOC_FAILED", MemoryError),
     ("INTERNAL_ERROR", Lowering)],
)  # fmt: skip
def test_the_parser_names_the_node(version: str, code: str, kind: type[Exception], tmp_path: Path) -> None:
    error = {"code": code, "desc": "no importer", "node": 3, "node_name": "fancy", "node_operator": "Fancy"}
    with pytest.raises(kind) as caught:
        _Version(version, _world(parser_error=error), tmp_path).build()
    assert ("fancy" if not version.startswith("8") else "number 3") in str(caught.value)


_SKIPPED = "Skipping tactic 0 due to insuficient memory on requested size of 29147520 detected for tactic 0."
_NONE = "Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[a...b]}.)"


def test_a_failed_build_is_explained_by_the_log(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import generated_tensorrt

    for says, kind in (([("ERROR", _NONE)], Unsupported), ([("WARNING", _SKIPPED), ("ERROR", _NONE)], MemoryError)):
        one = _Version(version, _world(fails="build", says=says), tmp_path)
        monkeypatch.setattr(generated_tensorrt, "LOGGERS", [one.listener.logger])
        with pytest.raises(kind):
            one.build()


def test_a_stale_plan_says_so(version: str, tmp_path: Path, device: Cuda, monkeypatch: pytest.MonkeyPatch) -> None:
    import generated_tensorrt

    text = "6: The engine plan file is generated on an incompatible device, expecting compute 8.6 got compute 7.5, please rebuild."
    one = _Version(version, _world(fails="deserialize", says=[("ERROR", text)]), tmp_path)
    monkeypatch.setattr(generated_tensorrt, "LOGGERS", [one.listener.logger])
    with pytest.raises(InvalidModel, match=r"expecting compute 8\.6 got compute 7\.5.*Lower the model again"):
        one.engine(device)


def test_a_builder_that_is_null_is_a_missing_device(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def null(_logger: object) -> None:
        raise TypeError("pybind11::init(): factory function returned nullptr")

    one = _Version(version, _world(), tmp_path)
    monkeypatch.setattr(one.trt, "Builder", null)
    with pytest.raises(NotRunnable, match=r"no CUDA device.*returned nullptr"):
        one.build()


def test_a_shape_outside_of_the_profile(version: str, tmp_path: Path, device: Cuda) -> None:
    engine = _Version(version, _world(), tmp_path).engine(device)
    with pytest.raises(ValueError, match="outside of the engine's optimization profile"):
        engine.run({"x": np.zeros((9, 3), np.float32)})


def test_an_output_that_the_data_size(version: str, tmp_path: Path, device: Cuda) -> None:
    text = "g (float[n] x) => (int64[1, m] y) { y = NonZero(x) }"
    world = _world(
        inputs={"x": ("FLOAT", (-1,))},
        outputs={"y": ("INT64" if not version.startswith("8") else "INT32", (1, -2))},
        compute=lambda feeds: {"y": np.array(np.nonzero(feeds["x"]))},
    )
    outputs = _Version(version, world, tmp_path, text).engine(device).run({"x": np.array([0, 2, 0, 3], np.float32)})
    assert outputs["y"].tolist() == [[1, 3]]
    # 8.6 has no int64: what it gave is told, and the comparison will say that the type is another.
    assert outputs["y"].dtype == (np.int32 if version.startswith("8") else np.int64)


def test_int64_goes_in_as_int32_where_there_is_no_other(tmp_path: Path, device: Cuda) -> None:
    text = "g (int64[n] x) => (float[n] y) { y = Cast<to = 1>(x) }"
    world = _world(
        inputs={"x": ("INT32", (-1,))}, outputs={"y": ("FLOAT", (-1,))}, compute=lambda feeds: {"y": feeds["x"]}
    )
    engine = _Version("8.6.1", world, tmp_path, text).engine(device)
    assert engine.run({"x": np.array([1, -2])})["y"].tolist() == [1, -2]
    with pytest.raises(ValueError, match="do not fit"):
        engine.run({"x": np.array([2**40])})


def test_an_input_that_decides_shapes_stays_on_the_host(
    version: str, tmp_path: Path, device: Cuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads: list[int] = []
    monkeypatch.setattr(device, "upload", lambda pointer, array: uploads.append(pointer))
    one = _Version(version, _world(host_inputs=("x",)), tmp_path)
    np.testing.assert_array_equal(one.engine(device).run({"x": _X})["y"], _X * 2)
    assert not uploads


def test_device_memory_and_layers_are_facts(version: str, tmp_path: Path, device: Cuda) -> None:
    layers = '{"Layers": [{"Name": "a + b", "LayerType": "gemm", "Inputs": [{"Name": "x", "DataType": "Half"}], "Outputs": []}]}'
    facts = _Version(version, _world(layers=layers), tmp_path).engine(device).facts()
    assert facts.backend_version == version
    assert facts.precision == "float16"
    assert [(one.operator, one.role, one.count) for one in facts.placements] == [("gemm", "fused", 1)]
    assert facts.options["device_memory_bytes"] == ("1024" if version in ("8.6.1", "10.0.1") else "2048")


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
        use(make(version, _world()))
