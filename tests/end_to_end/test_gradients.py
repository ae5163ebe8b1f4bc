"""A gradient is held to the noise of its own graph: the product of a vector and a Jacobian is a model like any other."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from assay.core.job import DeriveToleranceJob, VerifyJob, other_kind
from assay.core.outcome import Outcome
from assay.models.goldens import read_golden
from assay.models.tolerance_file import read_tolerance
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.plugins import find_flow
from assay.suites.gradients import Gradients
from assay.worker.stages import Stages
from installed import needs
from judged_job import execute_judged as execute

pytestmark = needs("torch", "onnxscript")


def _verified(name: str, tmp_path: Path) -> VerifyJob:
    """The job that verifies one case on torch-eager, its tolerance derived."""
    suite = Gradients()
    ((made, why),) = suite.make([case for case in suite.cases(seed=0) if case.name == name], workers=1)
    assert not why
    job = VerifyJob(made, find_flow("torch-eager"), tolerance_dir=str(tmp_path / "profile"))
    derived = execute(
        other_kind(job, DeriveToleranceJob, precision=job.flow.precision, allowances=job.flow.allowances),
        Stages(lambda stage: None),
    )
    assert (derived.outcome, derived.detail) == (Outcome.OK, "")
    return job


def test_a_second_derivative_that_is_off_by_a_hundred_units_is_seen(tmp_path: Path) -> None:
    job = _verified("gradients/softmax-float32-5x10-dim=-1-second", tmp_path)
    right = execute(job, Stages(lambda stage: None))
    assert right.outcome is Outcome.OK, right.detail
    used = {comparison.output: comparison.metrics["budget_used"] for comparison in right.comparisons}
    assert set(used) == {"out0", "grad_x", "second_x"}
    assert 0.01 < used["second_x"] < 1

    golden = read_golden(Path(job.case.inputs.golden)).outputs
    wrong = {**golden[0], "second_x": golden[0]["second_x"] * (1 + 100 * 2.0**-24)}
    answered = [{name: array.astype(np.float32) for name, array in wrong.items()}]
    declared = dict.fromkeys(wrong, "float32")
    judging = ToleranceComparator(job.case.contract, read_tolerance(Path(job.tolerance_dir)))
    assert [(finding.output, finding.kind) for finding in judging.compare(answered, golden, declared)[1]] == [
        ("second_x", "values")
    ]
    multiple = ToleranceComparator(msgspec.structs.replace(job.case.contract, tolerance="default"))
    assert not multiple.compare(answered, golden, declared)[1], "which a fixed multiple of the roundoff does not see"


def test_a_derivative_that_is_one_constant_is_meant(tmp_path: Path) -> None:
    result = execute(_verified("gradients/sum_all-float32-3x4x5-vjp", tmp_path), Stages(lambda stage: None))
    assert result.outcome is Outcome.OK, result.detail
    assert "grad_x" in {comparison.output for comparison in result.comparisons}
