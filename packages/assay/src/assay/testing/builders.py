"""Values for tests: a model, a job, a result and a run with sensible defaults, any field overridden by keyword."""

from __future__ import annotations

from typing import Any, get_args

from msgspec.structs import replace

from assay.core.case import Case, Contract, Inputs
from assay.core.comparison import Comparison, Histogram
from assay.core.empty_result import empty_result
from assay.core.engine_info import EngineInfo, Placement
from assay.core.finding import WorstElement
from assay.core.flow import Flow
from assay.core.job import AnyJob, MeasureJob
from assay.core.job_base import FlowJob, Job
from assay.core.machine import Machine
from assay.core.measurement import Measurement, Memory
from assay.core.model import Model, TensorSpec
from assay.core.outcome import Stage
from assay.core.policy import Policy
from assay.core.result import AnyResult, EngineResult, MeasureResult, StageTime
from assay.core.result_parts import ComparedResult
from assay.core.run import Run
from assay.core.speed import AlternatingSide, BaselineEngine

MACHINE = Machine(
    cpu="Example CPU @ 2.50GHz",
    cores=2,
    memory_bytes=24 * 2**30,
    system="Linux 6.1 x86_64",
    python="3.11.2",
    load_average=0.5,
)


def make_model(name: str = "digits-classifier", **changes: Any) -> Model:
    """A small classifier: 8x8 images in, ten scores out, symbolic batch."""
    model = Model(
        name=name,
        source=f"models/{name}.onnx",
        digest=f"{sum(name.encode()):064x}",
        inputs=(TensorSpec("image", "float32", ("batch", 1, 8, 8)),),
        outputs=(TensorSpec("scores", "float32", ("batch", 10)),),
        size_bytes=48_213,
        ir_version=10,
        opsets={"": 21},
        nodes=14,
    )
    return replace(model, **changes)


def make_flow(name: str = "onnxruntime", **changes: Any) -> Flow:
    """A flow of that name; the backend is what stands before the first dash."""
    return replace(Flow(name=name, backend=name.split("-")[0]), **changes)


def make_job(
    case: str = "digits-classifier", flow: str = "onnxruntime", kind: str = "verify", **changes: Any
) -> AnyJob:
    """A job of that kind over a golden folder; `case` and `flow` are names."""
    inputs = Inputs(golden=f"golden/{case}", samples=64)
    authored_case = Case(name=case, model=make_model(case), inputs=inputs, contract=Contract(precision="float32"))
    own = make_flow(flow)
    job_type: type[AnyJob] = next(arg for arg in get_args(AnyJob) if arg.__struct_config__.tag == kind)
    deployed = {"flow": own} if issubclass(job_type, FlowJob) else {}
    return job_type(**{"case": authored_case, **deployed, **_needed(kind, own, authored_case.model), **changes})


def _needed(kind: str, flow: Flow, model: Model) -> dict[str, Any]:
    """The fields of that kind that have no default."""
    needed: dict[str, dict[str, Any]] = {
        "compare_speed": {"baseline": BaselineEngine("old", flow, model)},
        "alternate": {"side": AlternatingSide("pipes", 0, True), "artifact_dir": "artifact"},
        "derive_tolerance": {"tolerance_dir": "tolerance", "precision": "float32"},
        "list_mutants": {"output_path": "mutants.json", "sites": 1, "seed": 0},
        "search_inputs": {"output_dir": "inputs"},
        "evaluate_values": {"values_dir": "values"},
        "verify_region": {"values_dir": "values", "windows": ((0, 1), (2,))},
        "screen": {
            **{"generator": "sweep", "version": 1, "seed": 7, "first": 0, "count": 10, "seconds": 1.0},
            **{"corpus": "corpus", "progress": "progress"},
        },
    }
    return needed.get(kind, {})


def make_comparison(output: str = "scores", *, budget_used: float = 0.21, **changes: Any) -> Comparison:
    """A float32 output over 64 samples whose error spends that share of what is allowed."""
    allowed = 1e-5
    metrics = {
        "max_abs": budget_used * allowed,
        "max_rel": budget_used * 3e-5,
        "rel_l2": budget_used * 4e-6,
        "rmse": budget_used * 2.5e-6,
        "cosine": 1.0 - budget_used * 1e-12,
        "norm_ratio": 1.0 + budget_used * 1e-7,
        "sqnr_db": 108.0 - 20.0 * budget_used,
        "psnr_db": 115.0 - 20.0 * budget_used,
        "abs_p50": budget_used * 0.1 * allowed,
        "abs_p99": budget_used * 0.8 * allowed,
        "share_out_of_tolerance": 0.0 if budget_used <= 1.0 else 0.03,
        "budget_used": budget_used,
    }
    comparison = Comparison(
        output=output,
        dtype="float32",
        shape=(64, 1, 10),
        samples=64,
        elements=640,
        metrics=metrics,
        rtol=1e-5,
        atol=1e-6,
        worst=(
            WorstElement(index=(17, 0, 3), expected=4.25, actual=4.25 + budget_used * allowed),
            WorstElement(index=(5, 0, 9), expected=-1.5, actual=-1.5 - budget_used * 0.9 * allowed),
        ),
        error_histogram=Histogram(edges=(0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4), counts=(310, 200, 100, 29, 1)),
        ulp_histogram=Histogram(edges=(0.0, 1.0, 2.0, 4.0, 8.0, 16.0), counts=(400, 150, 70, 18, 2)),
    )
    return replace(comparison, **changes)


def make_measurement(batch: int = 1, *, median_s: float = 0.0005, calls: int = 200, **changes: Any) -> Measurement:
    """Latencies with a short tail to the right and one spike in fifty; the same numbers every time."""
    wall_s = tuple(
        median_s * (0.98 + 0.004 * ((call * 7) % 11) + (0.5 if call % 50 == 49 else 0.0)) for call in range(calls)
    )
    measurement = Measurement(
        batch=batch,
        wall_s=wall_s,
        cpu_s=tuple(0.97 * seconds for seconds in wall_s),
        warmup_s=(median_s * 9, median_s * 2, median_s * 1.1),
    )
    return replace(measurement, **changes)


def make_result(
    case: str = "digits-classifier", flow: str = "onnxruntime", kind: str = "verify", **changes: Any
) -> AnyResult:
    """A job of that kind that ended well: compared for `verify`, two batch sizes of samples for `measure`."""
    job: Job = make_job(case, flow, kind)
    last = Stage.MEASURE if isinstance(job, MeasureJob) else Stage.COMPARE
    stages = ((Stage.IMPORT, 0.31), (Stage.LOWER, 0.042), (Stage.SAVE, 0.004), (Stage.LOAD, 0.02), (Stage.RUN, 0.05))
    result = replace(
        empty_result(job),
        stage=last,
        stage_times=(*(StageTime(stage, seconds) for stage, seconds in stages), StageTime(last, 0.01)),
        versions={"numpy": "2.4.6", "onnx": "1.23.2", make_flow(flow).backend: "1.31.1"},
        started_at="2026-11-21T14:19:06+00:00",
        seconds=0.436,
    )
    return replace(result, **{**_observed(result), **changes})


def _observed(result: AnyResult) -> dict[str, Any]:
    """The fields of its kind that it fills."""
    observed: dict[str, Any] = {}
    if isinstance(result, EngineResult):
        observed["facts"] = EngineInfo(
            backend_version="1.31.1",
            artifact_bytes=51_200,
            artifact_digest="ab" * 32,
            precision="float32",
            placements=(
                Placement(operator="Conv", device="CPUExecutionProvider", precision="float32", count=4),
                Placement(operator="Gemm", device="CPUExecutionProvider", precision="float32", count=2),
            ),
            options={"optimization": "all"},
        )
    if isinstance(result, ComparedResult):
        observed["comparisons"] = (make_comparison(),)
    if isinstance(result, MeasureResult):
        observed["measurements"] = (make_measurement(1), make_measurement(8, median_s=0.0026))
        observed["memory"] = Memory(before_bytes=61 * 2**20, load_peak_bytes=74 * 2**20, run_peak_bytes=79 * 2**20)
    return observed


def make_run(id: str = "20261121T141905-3fa2b1", jobs: tuple[AnyJob, ...] | None = None, **changes: Any) -> Run:
    """A run that has just begun, of one job unless `jobs` says more."""
    run = Run(
        id=id,
        started_at="2026-11-21T14:19:05+00:00",
        command="assay check models/digits-classifier.onnx --flow onnxruntime --golden golden/digits-classifier",
        jobs=(make_job(),) if jobs is None else jobs,
        policy=Policy(),
        machine=MACHINE,
        versions={"assay": "0.1.0", "numpy": "2.4.6", "onnx": "1.23.2", "onnxruntime": "1.31.1"},
        commit="0f3c2d1e",
    )
    return replace(run, **changes)
