"""The faulty backend keeps its word: processes that must die do, answers that must be false are."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from assay.core.flow import Flow, Option
from assay.errors import Unsupported, UsageError
from assay.ports import Tensor
from assay.testing.faults import LIES
from assay.testing.faulty_backend import Faulty
from assay.testing.tiny_models import INPUT, tiny_model

_X = np.arange(6, dtype=np.float32).reshape(2, 3)


def _flow(**options: Option) -> Flow:
    return Flow(name="test", backend="faulty", options=options)


def _identity(fault: str = "none", **options: Option) -> Mapping[str, Tensor]:
    engine = Faulty().lower(Path("no such file"), _flow(model="identity", fault=fault, **options))
    return engine.run({"x": _X})


def test_identity_opens_nothing() -> None:
    assert np.array_equal(_identity(output="scores")["scores"], _X)


_CHILD = """
import sys
from pathlib import Path
from assay.core.flow import Flow
from assay.testing.faulty_backend import Faulty
import numpy as np
options = {"model": "identity", "fault": sys.argv[1], "stage": sys.argv[2], "leak_bytes": 100 * 2**20}
flow = Flow(name="child", backend="faulty", options=options)
backend = Faulty()
backend.prepare()
print("prepared", flush=True)
engine = backend.lower(Path("none"), flow)
print("lowered", flush=True)
engine.run({"x": np.ones(3)})
print("ran", flush=True)
"""


def _child(fault: str, stage: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _CHILD, fault, stage], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("fault", "code"), [("segfault", -signal.SIGSEGV), ("abort", -signal.SIGABRT), ("exit", 3)])
def test_processes_die(fault: str, code: int) -> None:
    child = _child(fault, "run")
    output, _ = child.communicate(timeout=300)
    assert output.split() == ["prepared", "lowered"]
    assert child.returncode == code


def test_the_stage_is_obeyed() -> None:
    child = _child("exit", "lower")
    output, _ = child.communicate(timeout=300)
    assert output.split() == ["prepared"]
    assert child.returncode == 3


def test_the_import_stage_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_FAULTY_IMPORT", "exit")
    child = _child("none", "run")
    output, _ = child.communicate(timeout=300)
    assert output == ""
    assert child.returncode == 3


@pytest.mark.parametrize("fault", ["hang", "leak"])
def test_processes_stay(fault: str) -> None:
    child = _child(fault, "run")
    assert child.stdout is not None
    assert [child.stdout.readline(), child.stdout.readline()] == ["prepared\n", "lowered\n"]
    deadline = time.monotonic() + 300
    try:
        while fault == "leak" and _resident(child.pid) < 130 * 2**20:
            assert time.monotonic() < deadline, "The leak does not grow."
            assert child.poll() is None
        assert child.poll() is None
    finally:
        child.kill()
        child.communicate()


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096


def test_exceptions() -> None:
    with pytest.raises(MemoryError):
        _identity("memory_error")
    with pytest.raises(RuntimeError, match="asked to raise"):
        _identity("raise")
    with pytest.raises(Unsupported) as caught:
        _identity("unsupported")
    assert caught.value.node == "fancy"


def test_chatty_writes_past_python(capfd: pytest.CaptureFixture[str]) -> None:
    _identity("chatty", chat_bytes=100_000)
    captured = capfd.readouterr()
    assert len(captured.out) >= 100_000
    assert len(captured.err) >= 100_000


def test_slow() -> None:
    begin = time.perf_counter()
    _identity("slow", seconds=0.05)
    assert time.perf_counter() - begin >= 0.05


@pytest.mark.parametrize("fault", sorted(LIES))
def test_every_lie_is_one(tmp_path: Path, fault: str) -> None:
    path = tiny_model(tmp_path / "tiny.onnx")
    feeds = {INPUT: np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32)}
    right, false = (Faulty().lower(path, _flow(fault=fault_name)).run(feeds) for fault_name in ("none", fault))
    same_names = list(right) == list(false)
    assert not (same_names and all(_identical(right[name], false[name]) for name in right))


def _identical(tensor: Tensor, other: Tensor) -> bool:
    return tensor.dtype == other.dtype and tensor.shape == other.shape and tensor.tobytes() == other.tobytes()


def test_what_the_lies_are() -> None:
    np.testing.assert_allclose(_identity("lie")["y"], _X + 0.09, rtol=1e-6)
    assert np.isnan(_identity("nan")["y"]).sum() == 1
    assert np.isinf(_identity("inf")["y"]).sum() == 1
    assert _identity("wrong_shape")["y"].shape == (1, 2, 3)
    assert _identity("wrong_dtype")["y"].dtype == np.float64
    assert _identity("lose_output") == {}
    assert list(_identity("rename_output")) == ["y_renamed"]
    assert list(_identity("extra_output")) == ["y", "extra"]
    engine = Faulty().lower(Path("none"), _flow(model="identity", fault="nondeterministic"))
    assert not np.array_equal(engine.run({"x": _X})["y"], engine.run({"x": _X})["y"])
    with pytest.raises(UsageError, match="needs a model with two outputs"):
        _identity("swap_outputs")


def test_once_is_once_per_file(tmp_path: Path) -> None:
    once = str(tmp_path / "once")
    with pytest.raises(RuntimeError):
        _identity("raise", once_file=once)
    assert np.array_equal(_identity("raise", once_file=once)["y"], _X)


def test_an_engine_that_lies_once_lies_in_all_its_runs(tmp_path: Path) -> None:
    flow = _flow(model="identity", fault="lie", once_file=str(tmp_path / "once"))
    first, second = (Faulty().lower(Path("none"), flow) for _ in range(2))
    for _ in range(2):
        assert not np.array_equal(first.run({"x": _X})["y"], _X)
        assert np.array_equal(second.run({"x": _X})["y"], _X)
