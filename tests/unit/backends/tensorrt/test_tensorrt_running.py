"""Running against the classes that each version really has, on device memory that is the host's."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from one_version import Version, world_of

from assay.backends.cuda import Cuda
from assay.errors import InvalidModel, Lowering

_X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_a_plan_is_built_and_run(version: str, tmp_path: Path, device: Cuda) -> None:
    engine = Version(version, world_of(), tmp_path)
    assert engine.build() == b"plan"
    outputs = engine.engine(device).run({"x": _X})
    np.testing.assert_array_equal(outputs["y"], _X * 2)
    assert outputs["y"].dtype == np.float32


def test_a_version_compatible_plan_is_allowed_its_own_runtime(version: str, tmp_path: Path, device: Cuda) -> None:
    assert (
        Version(version, world_of(), tmp_path).engine(device, version_compatible=True)._runtime.engine_host_code_allowed
    )


def test_a_stale_plan_says_so(version: str, tmp_path: Path, device: Cuda, monkeypatch: pytest.MonkeyPatch) -> None:
    import generated_tensorrt

    text = "6: The engine plan file is generated on an incompatible device, expecting compute 8.6 got compute 7.5, please rebuild."
    engine = Version(version, world_of(fails="deserialize", says=[("ERROR", text)]), tmp_path)
    monkeypatch.setattr(generated_tensorrt, "LOGGERS", [engine.listener.logger])
    with pytest.raises(InvalidModel, match=r"expecting compute 8\.6 got compute 7\.5.*build it again"):
        engine.engine(device)


def test_a_shape_outside_of_the_profile(version: str, tmp_path: Path, device: Cuda) -> None:
    engine = Version(version, world_of(), tmp_path).engine(device)
    with pytest.raises(ValueError, match="outside of the engine's optimization profile"):
        engine.run({"x": np.zeros((9, 3), np.float32)})


def test_an_output_that_the_data_size(version: str, tmp_path: Path, device: Cuda) -> None:
    text = "g (float[n] x) => (int64[1, m] y) { y = NonZero(x) }"
    world = world_of(
        inputs={"x": ("FLOAT", (-1,))},
        outputs={"y": ("INT64" if not version.startswith("8") else "INT32", (1, -2))},
        compute=lambda feeds: {"y": np.array(np.nonzero(feeds["x"]))},
    )
    outputs = Version(version, world, tmp_path, text).engine(device).run({"x": np.array([0, 2, 0, 3], np.float32)})
    assert outputs["y"].tolist() == [[1, 3]]
    # 8.6 has no int64: what it gave is told, and the comparison will say that the type is another.
    assert outputs["y"].dtype == (np.int32 if version.startswith("8") else np.int64)


def test_int64_goes_in_as_int32_where_there_is_no_other(tmp_path: Path, device: Cuda) -> None:
    text = "g (int64[n] x) => (float[n] y) { y = Cast<to = 1>(x) }"
    world = world_of(
        inputs={"x": ("INT32", (-1,))}, outputs={"y": ("FLOAT", (-1,))}, compute=lambda feeds: {"y": feeds["x"]}
    )
    engine = Version("8.6.1", world, tmp_path, text).engine(device)
    assert engine.run({"x": np.array([1, -2])})["y"].tolist() == [1, -2]
    with pytest.raises(ValueError, match="beyond int32"):
        engine.run({"x": np.array([2**40])})


def test_an_input_that_decides_shapes_stays_on_the_host(
    version: str, tmp_path: Path, device: Cuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads: list[int] = []
    monkeypatch.setattr(device, "upload", lambda pointer, array: uploads.append(pointer))
    engine = Version(version, world_of(host_inputs=("x",)), tmp_path)
    np.testing.assert_array_equal(engine.engine(device).run({"x": _X})["y"], _X * 2)
    assert not uploads


def test_device_memory_and_layers_are_facts(version: str, tmp_path: Path, device: Cuda) -> None:
    layers = '{"Layers": [{"Name": "a + b", "LayerType": "gemm", "Inputs": [{"Name": "x", "DataType": "Half"}], "Outputs": []}]}'
    facts = Version(version, world_of(layers=layers), tmp_path).engine(device).facts()
    assert facts.backend_version == version
    assert facts.precision == "float16"
    assert [(placement.operator, placement.role, placement.count) for placement in facts.placements] == [
        ("gemm", "fused", 1)
    ]
    assert facts.options["device_memory_bytes"] == ("1024" if version in ("8.6.1", "10.0.1") else "2048")


def test_a_call_in_place_is_timed_by_events(version: str, tmp_path: Path, device: Cuda) -> None:
    session = Version(version, world_of(), tmp_path)
    engine = session.engine(device)
    call = engine.device_call({"x": _X})
    assert call is not None
    before = len(session.called("IExecutionContext.execute_async_v3"))
    seconds = [call() for _ in range(3)]
    assert len(session.called("IExecutionContext.execute_async_v3")) == before + 3
    assert all(0 < each < 60 for each in seconds)
    # What it holds on the device goes with it: the fixture counts.
    del call
    gc.collect()


def test_a_call_that_fails_is_told(version: str, tmp_path: Path, device: Cuda) -> None:
    engine = Version(version, world_of(fails="execute"), tmp_path).engine(device)
    call = engine.device_call({"x": _X})
    assert call is not None
    with pytest.raises(Lowering):
        call()
    del call
    gc.collect()


def test_a_call_in_place_that_finds_no_room_gives_back_what_it_took(
    version: str, tmp_path: Path, device: Cuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Version(version, world_of(), tmp_path).engine(device)
    monkeypatch.setattr(engine, "_room", lambda _name, _held: device.allocate(2**62))
    with pytest.raises(MemoryError):
        engine.device_call({"x": _X})


def test_an_output_that_the_data_size_is_not_timed_so(version: str, tmp_path: Path, device: Cuda) -> None:
    text = "g (float[n] x) => (int64[1, m] y) { y = NonZero(x) }"
    kind = "INT64" if not version.startswith("8") else "INT32"
    world = world_of(inputs={"x": ("FLOAT", (-1,))}, outputs={"y": (kind, (1, -2))})
    engine = Version(version, world, tmp_path, text).engine(device)
    assert engine.device_call({"x": np.array([0, 2], np.float32)}) is None
