"""Which job goes to which process, and which process has which GPU."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.case import Case
from assay.core.device import Gpu
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.launch.gpus import parse_smi, visible
from assay.launch.job_queue import NUMPY_VARIABLES, JobQueue, Pending, WorkerKey, environ_of, worker_key
from assay.launch.leases import Leases

GPUS = (Gpu("H100", "GPU-aa"), Gpu("H100", "GPU-bb"))


def _job(case: str, flow: Flow) -> Job:
    return VerifyJob(Case(case, Model(case, "", "")), flow)


def test_a_kind_is_what_a_process_imports_and_sees() -> None:
    base = Flow("a", "ort", transforms=("int8:per-channel", "opset:17"))
    same = Flow("b", "ort", {"level": 1}, transforms=("opset:18", "int8:dynamic"))
    assert worker_key(_job("x", base)) == worker_key(_job("y", same))
    for change in ({"backend": "ov"}, {"environment": "e"}, {"device": "cuda"}, {"transforms": ("opset:17",)}):
        assert worker_key(_job("x", msgspec.structs.replace(base, **change))) != worker_key(_job("x", base))


def test_a_variable_that_the_backend_declares_is_the_process_s() -> None:
    plain = Flow("a", "openvino")
    options = {"env.ONEDNN_MAX_CPU_ISA": "AVX2", "env.LD_PRELOAD": "evil.so"}
    limited = worker_key(_job("x", msgspec.structs.replace(plain, options=options)))
    assert limited != worker_key(_job("x", plain))
    assert environ_of(limited, {"HOME": "/"}) == {"HOME": "/", "ONEDNN_MAX_CPU_ISA": "AVX2"}


def test_jobs_of_a_kind_come_in_order_and_suspects_to_fresh_processes_only() -> None:
    waiting = JobQueue()
    for case, backend in (("1", "a"), ("2", "b"), ("3", "a")):
        waiting.add(Pending(_job(case, Flow(backend, backend))))
    waiting.suspect(Pending(_job("4", Flow("a", "a"))))
    a, b = waiting.kinds()
    assert (waiting.count(a), waiting.count(b), len(waiting)) == (3, 1, 4)
    order = [waiting.take(a, fresh=fresh) for fresh in (False, True, False, False)]
    assert [waiting_job.job.case.name if waiting_job else None for waiting_job in order] == ["1", "4", "3", None]
    assert waiting.kinds() == [b]
    assert [waiting_job.job.case.name for waiting_job in waiting.drop(b)] == ["2"]
    assert not waiting


def test_a_job_handed_back_is_the_next() -> None:
    waiting = JobQueue()
    for case in "12":
        waiting.add(Pending(_job(case, Flow("a", "a"))))
    (kind,) = waiting.kinds()
    first = waiting.take(kind, fresh=False)
    assert first is not None
    waiting.add(first, first=True)
    assert waiting.take(kind, fresh=False) is first


def test_who_measures_has_a_gpu_alone() -> None:
    leases = Leases(GPUS, exclusive=True)
    assert [leases.take("cuda") for _ in range(3)] == ["GPU-aa", "GPU-bb", None]
    leases.give_back("GPU-aa")
    assert leases.take("cuda:1") is None
    assert leases.take("cuda:0") == "GPU-aa"


def test_who_verifies_takes_the_least_used() -> None:
    leases = Leases(GPUS, exclusive=False)
    assert [leases.take("cuda") for _ in range(4)] == ["GPU-aa", "GPU-bb", "GPU-aa", "GPU-bb"]
    leases.give_back("GPU-bb")
    assert leases.take("gpu") == "GPU-bb"
    assert leases.take("cuda:0") == "GPU-aa"


def test_a_gpu_that_is_not_there_is_the_backends_to_miss() -> None:
    assert Leases(GPUS, exclusive=False).take("cuda:7") == "7"


@pytest.mark.parametrize(("device", "wanted"), [("cpu", False), ("cuda", True), ("gpu:0", True), ("vulkan", False)])
def test_only_flows_of_a_gpu_need_a_lease(device: str, wanted: bool) -> None:
    assert Leases(GPUS, exclusive=False).wants(device) is wanted
    assert not Leases((), exclusive=False).wants(device)


@pytest.mark.parametrize(
    ("allowed", "left"),
    [
        (None, ["GPU-aa", "GPU-bb"]),
        ("", []),
        ("1", ["GPU-bb"]),
        ("1,0", ["GPU-bb", "GPU-aa"]),
        ("GPU-b", ["GPU-bb"]),
        ("0,-1,1", ["GPU-aa"]),
        ("0,0", ["GPU-aa"]),
        ("7", []),
    ],
)
def test_cuda_visible_devices_is_heeded(allowed: str | None, left: list[str]) -> None:
    assert [gpu.visible for gpu in visible(GPUS, allowed)] == left


def test_the_answer_of_nvidia_smi_is_read_and_nonsense_is_none() -> None:
    text = "NVIDIA H100 80GB HBM3, GPU-1f2, 81559, 570.86.15\nNVIDIA A10, GPU-9, [N/A], 570.86.15\n"
    first, second = parse_smi(text)
    assert (first.name, first.visible, first.memory_bytes // 2**20) == ("NVIDIA H100 80GB HBM3", "GPU-1f2", 81559)
    assert str(first) == "NVIDIA H100 80GB HBM3 80 GiB, driver 570.86.15"
    assert (second.memory_bytes, str(second)) == (0, "NVIDIA A10, driver 570.86.15")
    assert parse_smi("No devices were found\n") == ()


def test_what_evaluates_in_numpy_does_it_in_one_thread_unless_the_user_says_otherwise() -> None:
    oracle, engine = WorkerKey("", "reference", (), "cpu"), WorkerKey("", "onnxruntime", (), "cpu")
    assert environ_of(oracle, {"HOME": "/"}) == {"HOME": "/", **NUMPY_VARIABLES}
    assert environ_of(oracle, {"OPENBLAS_NUM_THREADS": "4"}) == {**NUMPY_VARIABLES, "OPENBLAS_NUM_THREADS": "4"}
    assert environ_of(engine, {"HOME": "/"}) == {"HOME": "/"}
