"""How Assay talks with trtexec. There is none here: where a test says so, a script stands for the program and no engine runs."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import parser
from trtexec_here import Here

from assay.backends.tensorrt import trtexec_backend
from assay.backends.tensorrt.trtexec_backend import Trtexec
from assay.backends.tensorrt.trtexec_program import find, run
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import MeasureJob, ReferenceJob
from assay.core.limits import Measuring
from assay.core.measurement import Measurement, Memory
from assay.core.note import noted
from assay.core.outcome import Outcome
from assay.core.refusals.availability_codes import AvailabilityCode
from assay.errors import InvalidModel, Lowering, Unavailable, Unsupported
from assay.judge.words.missing_text import reason_text
from assay.models.onnx_file import open_model
from assay.plugins import find_flow
from assay.testing.backend_checks import check_backend
from assay.testing.tiny_models import INPUT, tiny_expected, tiny_model
from assay.worker.dispatch import execute
from assay.worker.stages import Stages
from assay.worker.timing.bound_call import bound_call
from sentences import says

SCRIPT = Path(__file__).with_name("trtexec_script.py")
FLOW = Flow(name="f", backend="trtexec", options={"precision": "fp32"}, dims={"batch": (1, 2, 3)})
IMAGE = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)


def _program(folder: Path, text: str) -> Path:
    path = folder / "trtexec"
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    find.cache_clear()
    return folder


@pytest.fixture
def script(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(trtexec_backend, "device_missing", lambda: None)
    return _program(path, f'#!/bin/sh\nexec {sys.executable} {SCRIPT} "$@"\n')


@pytest.mark.slow  # each of its calls starts Python; the tests below ask the same script for what is its own
def test_conformance_with_a_script_that_takes_its_command_line(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SCRIPT.parent))
    check_backend(Here())


@pytest.mark.parametrize(("version", "flag"), [("8601", True), ("101600", True), ("110100", False)])
def test_each_version_is_told_what_it_knows_by_a_script_that_refuses_the_rest(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, flag: bool
) -> None:
    monkeypatch.setenv("TRTEXEC_VERSION", version)
    half = Flow(name="f", backend="trtexec", options={"precision": "fp16"}, dims=FLOW.dims)
    model = tiny_model(tmp_path / "m.onnx")
    if not flag:
        with pytest.raises(
            Unsupported, match=r"TensorRT 11\.1\.0 takes types from the model, and this one carries no float16"
        ):
            Trtexec().lower(model, half)
        half = FLOW
    engine = Trtexec().lower(model, half)
    facts = engine.facts()
    assert facts.precision == ("float16" if flag else "float32")
    assert {placement.operator for placement in facts.placements} >= {"Conv", "MatMul"}
    assert facts.options["mode.cuda_graph"] == ("false" if flag else "true")
    assert engine.call_times({INPUT: IMAGE}, 0.1) == (pytest.approx(0.0015),) * 7
    assert ("conv", "Conv", pytest.approx(0.0005)) in [
        (time.name, time.operator, time.seconds) for time in engine.operator_times({INPUT: IMAGE})
    ]


def test_outputs_come_whole_from_raw_files_with_a_script(script: Path, tmp_path: Path) -> None:
    engine = Trtexec().lower(tiny_model(tmp_path / "m.onnx"), FLOW)
    outputs, expected = engine.run({INPUT: IMAGE}), tiny_expected(IMAGE)
    assert {name: array.dtype for name, array in outputs.items()} == {n: a.dtype for n, a in expected.items()}
    np.testing.assert_allclose(outputs["features"], expected["features"], rtol=1e-5, atol=1e-5)


def test_a_size_outside_of_the_profile_is_the_programs_own_word_with_a_script(script: Path, tmp_path: Path) -> None:
    engine = Trtexec().lower(tiny_model(tmp_path / "m.onnx"), FLOW)
    with pytest.raises(Unsupported, match=r"satisfyProfile.*Name least, usual and most sizes"):
        engine.run({INPUT: np.zeros((9, 3, 8, 8), np.float32)})


def test_sizes_that_nobody_named(script: Path, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r'dimension "batch" of input "image"'):
        Trtexec().lower(tiny_model(tmp_path / "m.onnx"), Flow(name="f", backend="trtexec"))


def test_a_plan_cut_or_of_another_version(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    Trtexec().lower(tiny_model(tmp_path / "m.onnx"), FLOW).save(saved)
    monkeypatch.setenv("TRTEXEC_VERSION", "101300")
    find.cache_clear()
    with pytest.raises(InvalidModel, match=r"built by trtexec 10\.16\.0, and this is 10\.13\.0: lower the model again"):
        Trtexec().load(saved, FLOW)
    plan = saved / "model.plan"
    plan.write_bytes(plan.read_bytes()[:-9])
    with pytest.raises(InvalidModel, match="truncated or replaced"):
        Trtexec().load(saved, FLOW)


def test_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    find.cache_clear()
    availability = Trtexec().availability()
    assert not availability.available
    assert "not on PATH" in reason_text(availability)


def test_without_a_device_it_is_not_available(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(path, f'#!/bin/sh\nexec {sys.executable} {SCRIPT} "$@"\n')
    monkeypatch.setattr(trtexec_backend, "device_missing", lambda: noted(AvailabilityCode.DRIVER_COUNTS_NONE))
    availability = Trtexec().availability()
    assert (availability.available, availability.version) == (False, "10.16.0")
    assert reason_text(availability) == "no CUDA device: the driver counts no device"


def test_another_program_of_that_name(path: Path) -> None:
    _program(path, "#!/bin/sh\necho 'usage: something else'\n")
    with pytest.raises(Unavailable, match="does not say which version"):
        find()


@pytest.mark.parametrize(
    ("script_text", "kind", "words"),
    [
        # As 8.6 ends where there is no device: its own check, without a stamp, and SIGABRT.
        ("echo 'Cuda failure: no CUDA-capable device is detected' >&2; kill -ABRT $$", Unavailable, "no CUDA device"),
        ("kill -SEGV $$", Lowering, "building, ended by SIGSEGV"),
        ("echo '[E] [TRT] 3: getPluginCreator could not find plugin: GridSample version: 1'; exit 1", Unsupported, "GridSample"),
        ("echo '[E] Error[1]: [defaultAllocator.cpp::allocate::19] Cuda Runtime (out of memory)'; exit 1", MemoryError, "out of memory"),
        ("exit 1", Lowering, "said nothing"),
    ],
)  # fmt: skip
def test_its_words_become_a_failure(tmp_path: Path, script_text: str, kind: type[Exception], words: str) -> None:
    program = _program(tmp_path, f"#!/bin/sh\n{script_text}\n")
    with pytest.raises(kind, match=words):
        run([str(program)], tmp_path, "building")


def test_a_name_that_its_lists_cannot_hold(script: Path, tmp_path: Path) -> None:
    text = '<ir_version: 8, opset_import: ["":17]> g (float[2] x) => (float[2] y) { y = Relu(x) }'
    proto = parser.parse_model(text)
    proto.graph.input[0].name = proto.graph.node[0].input[0] = "a,b"
    onnx.save(proto, tmp_path / "m.onnx")
    engine = Trtexec().lower(tmp_path / "m.onnx", FLOW)
    with pytest.raises(Unsupported, match='cannot take input "a,b"'):
        engine.run({"a,b": np.ones(2, np.float32)})


def test_the_worker_measures_by_the_programs_own_clock_with_a_script(script: Path, tmp_path: Path) -> None:
    made = Case("m", open_model(tiny_model(tmp_path / "m.onnx")), Inputs(samples=1, batch=2, dims=dict(FLOW.dims)))
    flow = msgspec.structs.replace(FLOW, name="trtexec-fp32")
    reference = tmp_path / "reference"
    written = execute(
        ReferenceJob(made, find_flow("reference"), reference_dir=str(reference), reason="a test"),
        Stages(lambda stage: None),
    )
    assert written.outcome is Outcome.OK, written.detail
    measuring = Measuring(seconds=0.1)
    job = MeasureJob(made, flow, measuring=measuring, reference_dir=str(reference))
    result = execute(job, Stages(lambda stage: None))
    assert result.outcome is Outcome.OK, result.detail
    assert result.measurements == (Measurement(2, (pytest.approx(0.0015),) * 7, ()),)
    assert result.memory == Memory(), "what this process holds is nothing of the engine's"
    assert {time.operator for time in result.operator_times} >= {"Conv", "MatMul"}
    with pytest.raises(Unsupported, check=says("cannot be timed from outside")):
        bound_call(Trtexec().lower(tiny_model(tmp_path / "n.onnx"), FLOW), {INPUT: IMAGE})
