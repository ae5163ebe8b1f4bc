"""The engine's first answers to the inputs of a case, and one to other inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.core.finding import Finding
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.note import Note, NoteCode, noted
from assay.errors import NotRunnable, Unsupported, WrongShape
from assay.models.goldens import Golden
from assay.numerics.steps import at_sample, each_sample
from assay.ports import Engine, Tensor, Tensors
from assay.worker.describe_exception import reason_of
from assay.worker.engine.sequences import run_free
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.call_inputs import Feeds
from assay.worker.verify.call_log import CallLog
from assay.worker.verify.input_sensitivity import SensitivityCheck, perturb_input


@dataclass(frozen=True)
class Answered:
    """`golden` holds the samples that were answered, `actual` copies of the answers, `log` how they came;
    `drifted` are notes and `unlike` findings of a sequence of calls on the engine's own states."""

    golden: Golden
    actual: list[dict[str, Tensor]]
    log: CallLog
    probed: SensitivityCheck | None
    notes: tuple[Note, ...]
    drifted: tuple[Note, ...] = ()
    unlike: tuple[Finding, ...] = ()


def answered(job: VerifyJob, engine: Engine, rewritten: TransformedModel, golden: Golden) -> Answered:
    """Raises as the engine does."""
    log = CallLog(engine, Feeds(rewritten, golden.inputs, job.case.inputs.layout))
    actual, untaken = answers(log, golden, job.case.model)
    golden = golden.first(len(actual))
    probed = perturb_input(job, engine, rewritten, golden)
    answered_calls = Answered(golden, actual, log, probed, untaken)
    if not job.no_reference_reason:
        drifted, unlike = run_free(engine, rewritten, golden, job.case.model)
        answered_calls = replace(answered_calls, drifted=drifted, unlike=unlike)
    if probed is not None or golden.lock.state:
        log.interrupted()
    log.look_at_answers()
    return answered_calls


def _asked(log: CallLog, sample: int, golden: Golden, model: Model) -> dict[str, Tensor]:
    """Raises Unsupported for a size that the model takes and the engine was not built for."""
    try:
        return log.ask(sample)
    except WrongShape as error:
        if _is_left_open(error, golden.inputs[sample], model):
            raise Unsupported(noted(NoteCode.BUILT_FOR_SIZES, error=reason_of(error))) from error
        raise


def _is_left_open(error: WrongShape, fed: Tensors, model: Model) -> bool:
    """Whether the sizes that the engine does not take are of dimensions that the model leaves open. An engine that refuses a size that
    stands in the model is wrong."""
    declared = next((spec.shape for spec in model.inputs if spec.name == error.name), ())
    if error.name not in fed or not len(declared) == len(error.wanted) == fed[error.name].ndim:
        return False
    sizes = zip(declared, error.wanted, fed[error.name].shape, strict=True)
    return all(isinstance(own, str) for own, due, size in sizes if isinstance(due, int) and due != size)


def answers(log: CallLog, golden: Golden, model: Model) -> tuple[list[dict[str, Tensor]], tuple[Note, ...]]:
    """One answer for each sample. Samples of a companion have sizes of their own: an engine built for one size leaves
    them out, and that is told; a sample of the set itself that is refused is the engine's outcome."""
    count = len(golden.inputs)
    own = len(next(iter(golden.labels.values()))) if golden.labels else count
    outputs = [_asked(log, sample, golden, model) for sample in each_sample(range(own), count)]
    for sample in range(own, count):
        at_sample(len(outputs) + 1, count)
        try:
            outputs.append(_asked(log, sample, golden, model))
        except (Unsupported, NotRunnable) as error:
            return outputs, (noted(NoteCode.COMPANION_LEFT_OUT, count=count - len(outputs), error=reason_of(error)),)
    return outputs, ()
