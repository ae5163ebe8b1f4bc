"""Checks of the model of digits, and of any model here in this process."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from assay.commands.check import run_check
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import ReferenceJob, VerifyJob
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.models.onnx_file import open_model
from assay.options.check import CheckOptions
from assay.options.task_metric import MetricChoice
from assay.pipeline.open_run import Checked
from assay.plugins import find_flow
from assay.worker.stages import Stages
from judged_job import execute_judged as execute

DIGITS = Path(__file__).parents[2] / "examples" / "digits"


MODEL, GOLDEN = DIGITS / "models" / "classifier.onnx", DIGITS / "goldens" / "classifier"


def checked(*flows: str, golden: Path | None = GOLDEN, **options: object) -> Checked:
    given = {"models": (MODEL,), "only_kind": "verify", "task_metric": MetricChoice("classification"), **options}
    return run_check(CheckOptions(flows=flows, golden=golden, **given))  # type: ignore[arg-type]


def here(path: Path, inputs: Inputs, flow: Flow, reference: Path | None = None) -> Result:
    """One job in this process."""
    model = replace(open_model(path), source=str(path))
    return execute(
        VerifyJob(Case("c", model, inputs), flow, reference_dir=str(reference or "")), Stages(lambda stage: None)
    )


def recorded(path: Path, inputs: Inputs) -> Path:
    """The oracle's answers, as a run records them before it verifies."""
    folder = path.parent / "oracle"
    model = replace(open_model(path), source=str(path))
    job = ReferenceJob(Case("c", model, inputs), find_flow("reference-f64"), reference_dir=str(folder))
    assert execute(job, Stages(lambda stage: None)).outcome is Outcome.OK
    return folder
