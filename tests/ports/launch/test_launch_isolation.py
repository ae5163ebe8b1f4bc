"""A worker of one flow imports that flow's libraries and no other's, whatever else is installed and asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import plugins
from assay.core.case import Case
from assay.core.environment import Interpreter
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.outcome import Cause, Outcome
from assay.errors import EnvironmentFailed
from assay.launch.pool import FreshProcess, Pool
from assay.models.onnx_file import open_model
from assay.ports import JobList
from small_models import golden_for, linear_model

LIBRARIES = (
    "onnxruntime", "openvino", "tvm", "executorch", "iree", "ncnn", "MNN", "ai_edge_litert", "tensorrt", "nncf",
    "transformers", "sklearn", "jax", "coremltools", "sqlalchemy", "pydantic", "typer", "rich",
)  # fmt: skip
"""What some worker may import and others may not, or none may. torch apart: half of the others import it themselves."""

OWN = {
    "onnxruntime": {"onnxruntime"},
    "onnxruntime-genai": {"onnxruntime_genai"},
    "onnxruntime-qnn": {"onnxruntime"},
    "transformers": {"transformers", "sklearn"},
    "exported-decoder": {"transformers", "sklearn"},
    "openvino": {"openvino"},
    "openvino-genai": {"openvino"},
    "tvm": {"tvm"},
    "executorch": {"executorch"},
    "iree": {"iree"},
    "litert": {"ai_edge_litert"},
    "llama-cpp": {"llama_cpp"},
    "ncnn": {"ncnn"},
    "mnn": {"MNN"},
    "tensorrt": {"tensorrt"},
    "trtexec": set(),
    "torch": set(),
    "reference": set(),
    "faulty": set(),
    "miscompiler": {"onnxruntime"},
    "oip": set(),
    "openai": set(),
}
BESIDES = {
    # What quantizes, and who runs what a delegate took.
    "openvino-int8": {"nncf", "onnxruntime", "sklearn", "rich"},
    "executorch-openvino": {"openvino", "nncf", "sklearn", "rich"},
    # coremltools imports what converts from each framework that it finds.
    "executorch-coreml": {"coremltools", "sklearn", "transformers"},
    "executorch-coreml-static-int8": {"coremltools", "sklearn", "transformers"},
}
"""By flow: what it may import besides. It need not."""
NO_TORCH = ("onnxruntime", "openvino", "iree", "mnn", "reference", "faulty", "tensorrt", "trtexec", "oip", "openai")
ADDRESSED = ("oip", "openai", "onnxruntime-genai", "openvino-genai", "transformers", "exported-decoder", "llama-cpp")
"""They answer where there is a service alone, or continue prompts."""
MINUTES = ("executorch", "torch-inductor", "torch-aot-inductor", "openvino-int8")
"""How the names of flows begin that take so long on a busy machine; of each backend one is tried all the same."""

_EXECUTE = """
import os, sys
from assay.core.wire import decode_job
from assay.worker.serve import serve
from assay.worker.stages import Stages
from assay.worker.dispatch import execute
from assay.ports import JobList
for line in sys.stdin:
    if not (pid := os.fork()):
        for job in line.split():
            result = execute(decode_job(bytes.fromhex(job)), Stages(lambda stage: None))
            print("\\nmodules", result.outcome.value, *sorted({name.partition(".")[0] for name in sys.modules}), flush=True)
        os._exit(0)
    print("\\nend", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""What a worker has imported before its first job is imported once: each list of jobs has a process of its own, forked from there."""


def _own_flows() -> list[Flow]:
    own = {point.name for point in metadata.distribution("assay").entry_points if point.group == plugins.BACKENDS}
    flows = [flow for flow in plugins.catalogue().flows.values() if flow.backend in own]
    return [flow for flow in flows if flow.backend != "faulty" or flow.name == "faulty"]


def _takes_minutes(flow: Flow) -> bool:
    first = plugins.catalogue().backends[flow.backend].flows[0]
    return flow.name.startswith(MINUTES) and flow.name != first.name


def _params() -> list[Any]:
    return [
        pytest.param(flow, id=flow.name, marks=[pytest.mark.slow] if _takes_minutes(flow) else [])
        for flow in _own_flows()
    ]


def _allowed(flow: Flow) -> set[str]:
    return OWN[flow.backend] | BESIDES.get(flow.name, set())


def _together(flow: Flow) -> list[Flow]:
    """The flows that share a process with this one, those without transforms first: what none of them may import is not there
    whichever of them is asked. One that takes minutes is alone."""
    if _takes_minutes(flow):
        return [flow]
    alike = [
        candidate
        for candidate in _own_flows()
        if (candidate.backend, _allowed(candidate)) == (flow.backend, _allowed(flow)) and not _takes_minutes(candidate)
    ]
    return sorted(alike, key=lambda candidate: bool(candidate.transforms))


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Flow], list[str]]]:
    """What a process prints that executes a verify job of a flow, and of those that share a process with it, as a worker does."""
    folder = tmp_path_factory.mktemp("linear")
    model = linear_model(folder / "linear.onnx")
    golden_for(model, folder / "golden")
    case, printed = Case("linear", open_model(model)), dict[str, list[str]]()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", _EXECUTE], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, errors="replace",
        env={**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("temporary"))},
    ) as forking:  # fmt: skip
        assert forking.stdin is not None
        assert forking.stdout is not None

        def execute(flow: Flow) -> list[str]:
            if flow.name in printed:
                return printed[flow.name]
            flows = _together(flow)
            jobs: list[Job] = [VerifyJob(case, member, reference_dir=str(folder / "golden")) for member in flows]
            print(*(msgspec.msgpack.encode(job).hex() for job in jobs), file=forking.stdin, flush=True)
            lines: list[str] = []
            for line in forking.stdout or ():
                if line.startswith("end "):
                    assert line == "end 0\n", lines
                    break
                lines.append(line)
                if line.startswith("modules "):
                    printed[flows.pop(0).name], lines = lines, []
            assert not flows, f"the process has ended in {flows[0].name}: {lines}"
            return printed[flow.name]

        yield execute
        forking.stdin.close()


@pytest.mark.parametrize("flow", _params())
def test_a_worker_of_one_flow_imports_no_other_library(flow: Flow, executed: Callable[[Flow], list[str]]) -> None:
    """The whole of a verify job, transforms of the driver's own environment included. What is not installed here, or runs in
    an environment of its own, is refused without importing anything of others either."""
    lines = executed(flow)
    _, outcome, *modules = lines[-1].split()
    assert set(modules) & set(LIBRARIES) - _allowed(flow) == set(), lines[-20:]
    here = not flow.environment and plugins.catalogue().backends[flow.backend].availability().available
    if here and outcome not in ("unavailable", "unsupported"):
        assert OWN[flow.backend] <= set(modules)
    named = flow.backend not in ADDRESSED
    if here and named and flow.device == "cpu" and flow == plugins.catalogue().backends[flow.backend].flows[0]:
        assert outcome == "ok", lines[-20:]
    # NNCF imports it; the quantizer of ONNX Runtime would, for a helper of exporting, and took two seconds more.
    if flow.backend in NO_TORCH and (not flow.transforms or flow.backend == "onnxruntime"):
        assert "torch" not in modules


def _counted(tmp_path: Path) -> Interpreter:
    """An interpreter that writes a line for each process that is started with it."""
    script = tmp_path / "python"
    script.write_text(
        f'#!/bin/sh\necho "$CUDA_VISIBLE_DEVICES" >> {tmp_path / "started"}\nexec {sys.executable} "$@"\n'
    )
    script.chmod(0o755)
    return Interpreter(str(script))


def _started(tmp_path: Path) -> int:
    return len((tmp_path / "started").read_text().splitlines())


def _jobs(linear: Path, golden: Path, flows: list[Flow]) -> list[Job]:
    model = open_model(linear)
    return [
        VerifyJob(Case(f"case{number}", model), flow, reference_dir=str(golden))
        for number in range(3)
        for flow in flows
    ]


def test_one_process_serves_one_kind_and_is_kept_for_it(tmp_path: Path, linear: Path, golden: Path) -> None:
    counted = _counted(tmp_path)
    reference = plugins.find_flow("reference")
    flows = [plugins.find_flow("faulty"), reference, msgspec.structs.replace(reference, name="another")]
    jobs = _jobs(linear, golden, flows)
    results = list(Pool(1, interpreter=lambda name: counted).launch(JobList(jobs)))
    assert {result.outcome for result in results} == {Outcome.OK}
    assert len(results) == 9
    assert _started(tmp_path) == 2
    (tmp_path / "started").unlink()
    assert len(list(FreshProcess(interpreter=lambda name: counted).launch(JobList(jobs[:4])))) == 4
    assert _started(tmp_path) == 4, "also for the second of one kind"


def _only_own(name: str) -> Interpreter:
    if name == "gone":
        raise EnvironmentFailed("the environment 'gone' is not to be had")
    return Interpreter("/bin/false" if name == "dead" else sys.executable)


@pytest.mark.parametrize("make", [lambda: Pool(2, interpreter=_only_own), lambda: FreshProcess(interpreter=_only_own)])
def test_an_environment_that_is_not_to_be_had_hurts_its_own_jobs_only(make, linear: Path, golden: Path) -> None:
    flow = plugins.find_flow("faulty")
    flows = [
        msgspec.structs.replace(flow, name=f"faulty@{name}", environment=name) for name in ("gone", "dead", "fine")
    ]
    results = list(make().launch(JobList(_jobs(linear, golden, flows))))
    assert len(results) == 9
    outcomes = {result.flow: (result.outcome, result.cause) for result in results}
    missing = (Outcome.UNAVAILABLE, Cause.NO_ENVIRONMENT)
    assert outcomes == {"faulty@gone": missing, "faulty@dead": missing, "faulty@fine": (Outcome.OK, Cause.NONE)}
    by_flow = {result.flow: result.detail for result in results}
    assert "'gone' is not to be had" in by_flow["faulty@gone"]
    assert "assay env build dead" in by_flow["faulty@dead"]
