"""The work of one call, counted; caches and layouts."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

from assay.core.machine import Machine
from assay.core.measurement import Memory, OperationCount
from assay.judge.named_metrics import fragmentation, metrics
from assay.judge.roofline import roofline
from assay.models.flop_count import flops_of
from assay.testing.builders import make_measurement, make_result
from assay.worker.inputs.memory_layout import channels_last, with_layout
from assay.worker.memory import allocator_bytes, resident_bytes
from assay.worker.timing.operator_benchmark import work_of
from small_models import linear_model


def _conv(path: Path) -> Path:
    weight = numpy_helper.from_array(np.ones((8, 3, 3, 3), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["h"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["h"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 8, "H", "W"])],
        [weight],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


def test_operations_of_a_product_are_two_for_each_term(tmp_path: Path) -> None:
    assert flops_of(linear_model(tmp_path / "m.onnx"), {"x": (5, 4)}) == (2 * 5 * 4 * 3 + 5 * 3, 4 * (12 + 3))
    flops, weights = flops_of(_conv(tmp_path / "c.onnx"), {"x": (2, 3, 10, 12)})
    assert flops == 2 * (2 * 8 * 10 * 12) * 27 + 2 * 8 * 10 * 12
    assert weights == 4 * 8 * 27


def test_what_is_no_onnx_file_has_no_known_work(tmp_path: Path) -> None:
    (tmp_path / "m.pt2").write_bytes(b"x")
    feed = {"x": np.ones((2, 3), np.float32)}
    assert work_of(tmp_path / "m.pt2", feed, feed) == OperationCount(0.0, 48, 6)


def test_channels_last_are_the_same_values_in_another_order_of_memory() -> None:
    image = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    other = channels_last({"x": image, "n": np.ones(3)})
    np.testing.assert_array_equal(other["x"], image)
    assert other["x"].strides != image.strides
    assert channels_last({"n": np.ones(3)}) == {}


@pytest.mark.parametrize("shape", [(), (5,), (0, 3), (2, 3), (2, 3, 4, 5), (2, 1, 3, 1, 2)])
def test_strided_inputs_are_the_same_values_between_others(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    array_laid = with_layout({"x": array}, "strided")["x"]
    assert np.array_equal(array_laid, array)
    assert array_laid.shape == array.shape
    assert array_laid.size < 2 or not (array_laid.flags.c_contiguous or array_laid.flags.f_contiguous)


SOAKED = """
import json
from assay.worker.memory import soak
held = []
print(json.dumps(soak([lambda: held.append(bytearray(b"x") * 2**23)], 0.02)))
"""


@pytest.mark.skipif(not resident_bytes(), reason="this system does not tell what is resident")
def test_a_soak_sees_what_calls_leave_behind() -> None:
    """In a process of its own: here what other tests have given back may be used again, which does not show."""
    calls, resident, _, _ = json.loads(subprocess.check_output([sys.executable, "-c", SOAKED]))
    assert len(calls) == len(resident) == 25
    assert calls == sorted(calls)
    assert resident[-1] - resident[0] > 20 * 2**23


HOLES = """
import json
from assay.worker.memory import soak
made, held = [], []
def take():
    made.append("take")
    held.extend(bytearray(60000) for _ in range(40))
def free_every_second():
    made.append("free")
    del held[::2]
print(json.dumps([soak([take, free_every_second], 0.0, readings=30), made]))
"""


@pytest.mark.skipif(not allocator_bytes()[0], reason="this allocator does not tell what it holds")
def test_a_soak_of_several_sizes_sees_the_holes_between_them() -> None:
    (calls, _, held, live), made = json.loads(subprocess.check_output([sys.executable, "-c", HOLES]))
    assert made == ["take", "free"] * 9, "by turns, and no longer than it takes to see something"
    assert calls == [4 + 2 * number for number in range(8)]
    assert all(taken > used for taken, used in zip(held, live, strict=True))
    memory = Memory(held_bytes=tuple(held), live_bytes=tuple(live))
    assert metrics(make_result(kind="measure", memory=memory))["memory.fragmentation_share"] > 0.1
    assert not dict(fragmentation(Memory())), "of an allocator that does not tell nothing is said"


def test_the_share_of_the_roofline_is_that_of_its_intensity() -> None:
    machine = Machine(copy_bytes_per_s={1: 1e10}, gemm_flops_per_s={1: 1e11})
    taken = (make_measurement(1, median_s=1e-3),)
    product = roofline(make_result(kind="measure", measurements=taken, work=OperationCount(5e7, 10**5, 10)), machine)
    copy = roofline(make_result(kind="measure", measurements=taken, work=OperationCount(0.0, 5 * 10**6, 10)), machine)
    assert product is not None
    assert copy is not None
    assert product.roofline_share == pytest.approx(0.5, rel=0.05)
    assert copy.roofline_share == pytest.approx(0.5, rel=0.05)


PEAK = """
import contextlib, ctypes, sys
from assay.worker.memory import freed_at_once, peak_bytes, reset_peak, resident_bytes

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]

def held(size):
    found = libc.malloc(size)
    ctypes.memset(found, 1, size)
    return found

libc.free(held(8 * 2**20))  # from now on glibc keeps buffers of that size in its heap
assert reset_peak()
before = resident_bytes()
with freed_at_once() if sys.argv[1] == "exact" else contextlib.nullcontext():
    first, pinned = held(6 * 2**20), [held(2000) for _ in range(200)]
    libc.free(first)
    held(7 * 2**20)
print(peak_bytes() - before)
"""


@pytest.mark.skipif("glibc" not in platform.libc_ver()[0], reason="it is glibc that keeps what was freed")
def test_a_peak_of_loading_is_what_was_held_at_one_time() -> None:
    """Never more than 7.4 MiB; glibc's heap reaches 13.4 where it keeps the first buffer."""
    taken = {
        how: int(subprocess.check_output([sys.executable, "-c", PEAK, how])) / 2**20 for how in ("exact", "as it comes")
    }
    assert taken["exact"] < 9 < taken["as it comes"]
