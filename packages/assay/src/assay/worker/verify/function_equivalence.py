"""An operator and the body of the function that defines it: two lanes of one flow, on the same inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
import numpy as np

from assay.core.comparison import Comparison
from assay.core.dtype import dtype_name, is_floating
from assay.core.empty_result import empty_result
from assay.core.engine_info import EngineInfo
from assay.core.finding import Finding, FindingCode
from assay.core.finding import facts as facts_seen
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.core.outcome import Stage
from assay.core.result import VerifyResult
from assay.errors import AssayError, Unsupported
from assay.models.goldens import Golden
from assay.numerics.compare import compare_outputs
from assay.ports import Tensor
from assay.worker.describe_exception import reason_of
from assay.worker.engine.lower import load, lower
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.stages import Stages

Samples = Sequence[Mapping[str, Tensor]]


def compare_with_function_body(job: VerifyJob, body: Model, stages: Stages) -> VerifyResult:
    """Findings: they disagree beyond what both may be off, or in shape or type; the last names both, and with which of them
    the published outputs go. A lane without an answer raises what its flow said, and which lane it was."""
    golden = load_golden(job)
    fed = [*golden.inputs, *(shuffled(sample, job.case.inputs.seed) for sample in golden.inputs)]
    operator, facts = _compute_type(job, job.case.model, "the operator", fed, stages)
    other, _ = _compute_type(job, body, "its function body", fed, stages)
    contract = msgspec.structs.replace(job.case.contract, precision=job.flow.precision)
    declared = {spec.name: spec.dtype for spec in job.case.model.outputs}
    with stages.enter(Stage.COMPARE):
        compared, differences = compare_outputs(other, operator, contract, expected_dtypes=declared)
        comparisons, findings = tuple(_near(comparison) for comparison in compared), _beyond(differences)
        if findings:
            right = _right(job, golden, operator, other, declared)
            numbers = facts_seen(model=job.case.model.name, body=body.name, right=right)
            first = findings[0]
            findings += (Finding("function_body", first.output, FindingCode.BODY_DISAGREES, numbers, about=first),)
    return msgspec.structs.replace(
        empty_result(job),
        comparisons=comparisons,
        findings=findings,
        facts=facts,
    )


def shuffled(sample: Mapping[str, Tensor], seed: int) -> dict[str, Tensor]:
    """The same real numbers at other places: still what the operator is defined for, and nothing is published for it."""
    stream = np.random.Generator(np.random.PCG64(seed))
    return {
        name: stream.permutation(array.ravel()).reshape(array.shape)
        if array.dtype != object and is_floating(dtype_name(array.dtype))
        else array
        for name, array in sample.items()
    }


def _compute_type(
    job: VerifyJob, model: Model, which: str, samples: Samples, stages: Stages
) -> tuple[list[dict[str, Tensor]], EngineInfo]:
    own = msgspec.structs.replace(job, case=msgspec.structs.replace(job.case, model=model, body=None))
    with _named(which):
        lowered = lower(own, stages)
        if lowered.rewritten.changed:
            raise Unsupported(noted(NoteCode.BODY_IN_OWN_TYPES), cause="other")
        engine = load(lowered, own, stages)
        with stages.enter(Stage.RUN):
            answers = [dict(engine.run(sample)) for sample in lowered.rewritten.fed(samples)]
    return answers, lowered.facts(engine)


@contextmanager
def _named(lane: str) -> Iterator[None]:
    try:
        yield
    except AssayError as error:
        error.note = noted(NoteCode.FAILED_IN, place=lane, error=reason_of(error))
        raise
    except Exception as error:
        error.args = (f"{lane}: {error}", *error.args[1:])
        raise


def _near(comparison: Comparison) -> Comparison:
    return msgspec.structs.replace(comparison, findings=_beyond(comparison.findings))


def _beyond(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """A mean of one number is the same in both samples, bit by bit or nearly: that says nothing of two lanes within tolerance."""
    return tuple(finding for finding in findings if finding.kind != "degenerate")


def _right(
    job: VerifyJob, golden: Golden, operator: Samples, body: Samples, declared: Mapping[str, str]
) -> tuple[str, ...]:
    """With which of the two the published outputs go."""
    contract, count = job.case.contract, len(golden.outputs)
    return tuple(
        name
        for name, answers in (("operator", operator), ("body", body))
        if not compare_outputs(answers[:count], golden.outputs, contract, expected_dtypes=declared)[1]
    )
