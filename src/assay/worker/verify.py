"""Does the engine give the reference's answers?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from assay.core.blank import blank_result
from assay.core.case import Contract
from assay.core.job import Job
from assay.core.result import Comparison, Finding, Outcome, Result, Stage
from assay.models.goldens import Golden
from assay.numerics.compare import compare_outputs
from assay.ports import Tensor
from assay.tasks.registry import score
from assay.worker.lower import delegation, load, lower
from assay.worker.samples import golden_of
from assay.worker.stages import Stages

Samples = Sequence[Mapping[str, Tensor]]


def verify(job: Job, stages: Stages) -> Result:
    """lower -> save -> load -> run -> compare; the first sample is run twice to see whether the answer repeats."""
    golden = golden_of(job)
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    with stages.enter(Stage.RUN):
        actual = [engine.run(sample) for sample in golden.inputs]
        again = engine.run(golden.inputs[0])
    with stages.enter(Stage.COMPARE):
        comparisons, findings = _compare(job, actual, golden)
        task_metrics = _score(job, actual, golden) if not findings else {}
        unrepeated = _first_difference(actual[0], again)
    facts = lowered.facts(engine)
    outcome, detail = _outcome(comparisons, findings, unrepeated, delegation(facts))
    return msgspec.structs.replace(
        blank_result(job, outcome),
        detail=detail,
        comparisons=comparisons,
        findings=findings,
        task_metrics=task_metrics,
        facts=facts,
    )


def _compare(job: Job, actual: Samples, golden: Golden) -> tuple[tuple[Comparison, ...], tuple[Finding, ...]]:
    declared = {spec.name: spec.dtype for spec in job.case.model.outputs}
    return compare_outputs(actual, golden.outputs, contract_of(job), expected_dtypes=declared)


def contract_of(job: Job) -> Contract:
    """The case's contract at the precision that the flow promises."""
    return msgspec.structs.replace(job.case.contract, precision=job.flow.precision)


def _score(job: Job, actual: Samples, golden: Golden) -> dict[str, float]:
    contract = job.case.contract
    if contract.task is None:
        return {}
    return score(contract.task, actual, golden.outputs, golden.labels, contract.task_options)


def _first_difference(once: Mapping[str, Tensor], again: Mapping[str, Tensor]) -> str:
    """The name of the first output that two runs on the same inputs do not share bit by bit, "" if all are equal."""
    for name, tensor in once.items():
        other = again.get(name)
        if other is None or other.shape != tensor.shape or other.dtype != tensor.dtype:
            return name
        same = np.array_equal(tensor, other) if tensor.dtype == object else tensor.tobytes() == other.tobytes()
        if not same:
            return name
    return ""


def _outcome(
    comparisons: Sequence[Comparison], findings: Sequence[Finding], unrepeated: str, undelegated: str
) -> tuple[Outcome, str]:
    everything = [*findings, *(finding for one in comparisons for finding in one.findings)]
    if everything:
        more = f" (and {len(everything) - 1} more)" if len(everything) > 1 else ""
        return Outcome.MISMATCH, everything[0].text + more
    if undelegated:
        return Outcome.UNDELEGATED, undelegated
    if unrepeated:
        return Outcome.NONDETERMINISTIC, f"output '{unrepeated}' differs between two runs on the same inputs"
    for one in comparisons:
        if one.degenerate:
            return Outcome.MISTRUSTED, f"output '{one.output}': {one.degenerate}; such a pass proves nothing"
    return Outcome.OK, ""
