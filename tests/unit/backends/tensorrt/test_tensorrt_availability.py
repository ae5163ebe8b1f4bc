"""Asked in a child process: real ones, that import, die and lie."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.backends.cuda import Cuda, cuda
from assay.backends.tensorrt import availability as probing
from assay.backends.tensorrt.availability import read_availability
from assay.backends.tensorrt.backend import TensorRT
from assay.core.note import noted
from assay.core.refusals.availability_codes import AvailabilityCode
from assay.errors import NotRunnable, Unavailable, UsageError
from assay.judge.words.missing_text import reason_text
from assay.ports import Availability
from sentences import says

_MODULE = """
__version__ = "8.6.0"
class Logger:
    ERROR = 1
    def __init__(self, level): pass
class Runtime:
    def __init__(self, logger):
        {runtime}
class Builder:
    def __init__(self, logger):
        {builder}
"""


def _asked(folder: Path, runtime: str = "pass", builder: str = "pass", driver: tuple[object, ...] = ()) -> Availability:
    """The child itself, with a package named tensorrt that behaves as told, and a driver of which `driver` is said."""
    (folder / "tensorrt.py").write_text(_MODULE.format(runtime=runtime, builder=builder))
    child = probing._CHILD.replace('say("driver", driver())', f'say("driver", {list(driver)!r})')
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=False, cwd=folder)
    return read_availability(done.stdout, done.stderr, done.returncode)


def test_all_is_well(tmp_path: Path) -> None:
    assert _asked(tmp_path) == Availability(available=True, version="8.6.0")


def test_a_runtime_that_dies_is_a_missing_device(tmp_path: Path) -> None:
    availability = _asked(tmp_path, runtime="import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert not availability.available
    assert reason_text(availability) == "no CUDA device that tensorrt 8.6.0 can use: its runtime ended by SIGSEGV"


def test_the_driver_says_why(tmp_path: Path) -> None:
    said = ("driver_says", "no CUDA-capable device is detected", 100)
    words = "no CUDA device: no CUDA-capable device is detected (100)"
    assert reason_text(_asked(tmp_path, driver=said)) == words
    availability = _asked(tmp_path, runtime="import os; os.abort()", driver=said)
    assert reason_text(availability) == f"{words}; tensorrt's runtime then ended by SIGABRT"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("driver_counts_none", "no CUDA device: the driver counts no device"),
        ("driver_library_missing", "no CUDA device: the driver library libcuda.so.1 is not here"),
    ],
)
def test_no_device(tmp_path: Path, said: str, words: str) -> None:
    assert reason_text(_asked(tmp_path, driver=(said,))) == words


_CHATTY = 'print("NVRM: loaded"); print("[libcuda] 2 warnings"); print(); '


def test_lines_that_a_driver_prints_are_not_read_as_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _asked(tmp_path, runtime=_CHATTY) == Availability(available=True, version="8.6.0")
    for driver, missing in [
        ("", noted(AvailabilityCode.DRIVER_PROCESS_ENDED, ended=noted(AvailabilityCode.ENDED_BY, status=0))),
        ("[]", None),
        ('["driver_counts_none"]', noted(AvailabilityCode.DRIVER_COUNTS_NONE)),
    ]:
        answer = f"return {driver}" if driver else "import os; os._exit(0)"
        monkeypatch.setattr(probing, "_DRIVER", f"import json\ndef driver():\n    {_CHATTY}{answer}\n")
        probing.device_missing.cache_clear()
        assert probing.device_missing() == missing
    probing.device_missing.cache_clear()


def test_a_builder_that_is_null(tmp_path: Path) -> None:
    availability = _asked(tmp_path, builder="raise TypeError('pybind11::init(): factory function returned nullptr')")
    assert "its builder ended by exit code 1. " in reason_text(availability)
    assert "returned nullptr" in reason_text(availability)


def test_a_package_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "tensorrt.py").write_text("raise ImportError('libnvonnxparser.so.11: cannot open shared object file')")
    done = subprocess.run(
        [sys.executable, "-c", probing._CHILD], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    availability = read_availability(done.stdout, done.stderr, done.returncode)
    assert reason_text(availability).startswith("tensorrt cannot be imported: ")
    assert "libnvonnxparser.so.11" in reason_text(availability)


def test_the_drivers_own_words_on_this_machine(tmp_path: Path) -> None:
    """Whatever this machine has: with a driver and a device nothing is said, else a reason is."""
    (tmp_path / "tensorrt.py").write_text(_MODULE.format(runtime="pass", builder="pass"))
    done = subprocess.run(
        [sys.executable, "-c", probing._CHILD], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    availability = read_availability(done.stdout, done.stderr, done.returncode)
    assert availability.available is (availability.reason == "")
    assert availability.available or reason_text(availability).startswith("no CUDA device: ")


def test_the_driver_does_not_import_it() -> None:
    code = (
        "import sys; from assay.judge.words.missing_text import reason_text; "
        "from assay.backends.tensorrt.backend import TensorRT; found = TensorRT().availability(); "
        "assert 'tensorrt' not in sys.modules; print(found.available, reason_text(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(("True", "False tensorrt is not installed", "False no CUDA device"))


def test_preparing_without_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = noted(AvailabilityCode.LIBRARY_NOT_INSTALLED, library="tensorrt")
    here = Availability(available=False, reason=missing, install="pip install tensorrt")
    monkeypatch.setattr(probing, "availability", lambda: here)
    with pytest.raises(Unavailable, check=says("tensorrt is not installed. pip install")):
        TensorRT().prepare()


def test_flows_promise_what_they_are_named_after() -> None:
    promised = {flow.name: flow.precision for flow in TensorRT.flows}
    assert promised == {
        "tensorrt-fp32": "float32",
        "tensorrt-tf32": "tf32",
        "tensorrt-fp16": "float16",
        "tensorrt-bf16": "bfloat16",
        "tensorrt-int8-qdq": "int8",
        "tensorrt-fp8-qdq": "float8_e4m3fn",
    }


def test_bad_options_are_refused_before_anything(tmp_path: Path) -> None:
    flow = TensorRT.flows[0]
    bad = type(flow)(name="bad", backend="tensorrt", options={"workspace_mib": -1})
    with pytest.raises(UsageError, match="workspace_mib"):
        TensorRT().lower(tmp_path / "none.onnx", bad)


def test_memory_comes_and_goes(device: Cuda) -> None:
    array = np.arange(12, dtype=np.int64).reshape(3, 4)
    pointer = device.allocate(array.nbytes)
    assert pointer % 256 == 0
    device.upload(pointer, array)
    assert np.array_equal(device.download(pointer, (3, 4), array.dtype), array)
    device.wait(device.stream())
    device.release(pointer)
    device.release(0)


def test_what_the_runtime_says(device: Cuda) -> None:
    with pytest.raises(MemoryError, match="cudaMalloc: out of memory"):
        device.allocate(2**41)
    with pytest.raises(NotRunnable, match=r"cudaStreamSynchronize says invalid resource handle \(400\)"):
        device.wait(7)


def test_no_runtime_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.backends.cuda._candidates", lambda: iter(["libno-such-cudart.so"]))
    cuda.cache_clear()
    with pytest.raises(NotRunnable, match="libcudart"):
        cuda()
    cuda.cache_clear()
