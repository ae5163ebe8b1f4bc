"""Which flows may say something of an answer: a witness is asked the same model, quantized as the engine under test has it."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import FlowJob, Job
from assay.numerics.tolerance.tolerance_tables import DERIVED
from assay.plugins import TRANSFORMS, find_flow, load, with_transforms
from assay.ports import Transform

WITNESSES = ("onnxruntime-disable", "openvino-f32", "torch-eager")
"""Asked in this order after the engines of the run: an engine that rewrites as little as possible first, then other libraries, the
one that takes longest to start last."""
QUANTIZED = ("int", "uint", "float8", "float4")
"""How the precisions of transforms begin that make another model, by whose own answers an engine is judged."""
MUTANT = "mutant:"
"""The transform that plants a defect: no witness has it."""


def quantizing(job: Job) -> tuple[str, ...]:
    """The transforms of its flow up to the last that quantizes; none where an engine is judged by the answers of the model as it is."""
    transforms = job.flow.transforms if isinstance(job, FlowJob) else ()
    last = max((place for place, spec in enumerate(transforms, 1) if _quantizes(spec)), default=0)
    return tuple(spec for spec in transforms[:last] if not spec.startswith(MUTANT))


def witness_flow(name: str, job: Job) -> Flow:
    """The flow of that name on the model by whose answers the engine of `job` is judged. Raises as `find_flow`."""
    return with_transforms(find_flow(name), quantizing(job))


def fairly_judged(case: Case, flow: Flow) -> Case:
    """The case as a witness is asked it: by the tolerance that follows from its arithmetic, whatever a user allows the engine. By a
    limit that no engine keeps a right reference would be disputed."""
    contract = replace(case.contract, precision=flow.precision, tolerance=DERIVED, tolerances={})
    return replace(case, contract=contract)


def is_witness(other: FlowJob, job: Job) -> bool:
    """Whether an engine of the run may be one: asked the same of the same model, in the precision of that model, and judged fairly."""
    if type(other) is not type(job) or other.flow.transforms != quantizing(job):
        return False
    contract = other.case.contract
    if isinstance(job, VerifyJob) and (contract.tolerance != DERIVED or contract.tolerances):
        return False
    return bool(other.flow.transforms) or other.flow.precision in ("float32", "float64")


def _quantizes(spec: str) -> bool:
    transform: Transform = load(TRANSFORMS, spec.partition(":")[0])()
    return transform.precision.startswith(QUANTIZED)
