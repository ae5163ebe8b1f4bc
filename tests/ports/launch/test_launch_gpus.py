"""Leases of GPUs as workers see them: the variable is in their environment, one GPU each while measuring."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest

from assay import plugins
from assay.core.case import Case
from assay.core.device import Gpu
from assay.core.environment import Interpreter
from assay.core.job import VerifyJob
from assay.core.outcome import Outcome
from assay.launch.gpus import gpus
from assay.launch.pool import FreshProcess, Pool
from assay.models.onnx_file import open_model
from assay.ports import JobList, Launcher

TWO = (Gpu("one", "GPU-1"), Gpu("two", "GPU-2"))


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    """Where each worker that is started writes what it sees of the GPUs."""
    script = tmp_path / "python"
    text = f'echo "${{CUDA_VISIBLE_DEVICES-unset}}" >> {tmp_path / "seen"}'
    script.write_text(f'#!/bin/sh\n{text}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return tmp_path / "seen"


def _launch(launcher: Launcher, linear: Path, golden: Path, *devices: str, each: int = 2) -> None:
    flow, model = plugins.find_flow("faulty"), open_model(linear)
    flows = [msgspec.structs.replace(flow, name=f"faulty-{device}", device=device) for device in devices]
    jobs = [
        VerifyJob(Case(f"c{number}", model), flow, reference_dir=str(golden))
        for number in range(each)
        for flow in flows
    ]
    results = list(launcher.launch(JobList(jobs)))
    assert len(results) == len(jobs)
    assert {result.outcome for result in results} == {Outcome.OK}


def _python(seen: Path) -> Interpreter:
    return Interpreter(str(seen.with_name("python")), {"CUDA_VISIBLE_DEVICES": None})


def test_verifying_uses_several_gpus_at_once(seen: Path, linear: Path, golden: Path) -> None:
    _launch(Pool(2, interpreter=lambda name: _python(seen), gpus=TWO), linear, golden, "cuda", each=8)
    assert set(seen.read_text().split()) == {"GPU-1", "GPU-2"}


def test_measuring_gives_the_gpu_back_after_each_job(seen: Path, linear: Path, golden: Path) -> None:
    _launch(FreshProcess(interpreter=lambda name: _python(seen), gpus=TWO), linear, golden, "cuda", "cuda:1")
    lines = seen.read_text().split()
    assert len(lines) == 4
    assert lines.count("GPU-2") >= 2


def test_more_workers_than_gpus_wait_for_one_and_all_jobs_end(seen: Path, linear: Path, golden: Path) -> None:
    _launch(
        FreshProcess(3, interpreter=lambda name: _python(seen), gpus=TWO[:1]), linear, golden, "cuda", "cpu", each=3
    )
    lines = seen.read_text().split()
    assert sorted(lines) == ["GPU-1"] * 3 + ["unset"] * 3


def test_without_gpus_nothing_is_set(seen: Path, linear: Path, golden: Path) -> None:
    _launch(Pool(1, interpreter=lambda name: _python(seen)), linear, golden, "cuda", "cpu")
    assert set(seen.read_text().split()) == {"unset"}


@pytest.mark.gpu
def test_the_gpus_of_this_machine_are_told_apart() -> None:
    listed = gpus()
    if not listed:
        pytest.skip("no GPU here")
    assert len({gpu.visible for gpu in listed}) == len(listed)
    assert all(gpu.visible.startswith(("GPU-", "MIG-")) and gpu.memory_bytes > 1e9 and gpu.driver for gpu in listed)


def test_a_machine_without_nvidias_tools_has_none_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pynvml", None)
    gpus.cache_clear()
    assert gpus() == ()
    broken = tmp_path / "nvidia-smi"
    broken.write_text("#!/bin/sh\necho 'Failed to initialize NVML' >&2\nexit 9\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    gpus.cache_clear()
    assert gpus() == ()
    gpus.cache_clear()
    assert capfd.readouterr() == ("", "")
