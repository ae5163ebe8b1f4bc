"""The engine's first answers to the inputs of a case, and one to other inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.core.finding import Finding
from assay.core.job import VerifyJob
from assay.errors import NotRunnable, Unsupported
from assay.models.goldens import Golden
from assay.numerics.steps import at_sample, each_sample
from assay.ports import Engine, Tensor
from assay.worker.engine.sequences import run_free
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.call_inputs import Feeds
from assay.worker.verify.call_log import CallLog
from assay.worker.verify.input_sensitivity import SensitivityCheck, perturb_input


@dataclass(frozen=True)
class Answered:
    """`golden` holds the samples that were answered, `actual` copies of the answers, `log` how they came; `notes` are for people;
    `drifted` are notes and `unlike` findings of a sequence of calls on the engine's own states."""

    golden: Golden
    actual: list[dict[str, Tensor]]
    log: CallLog
    probed: SensitivityCheck | None
    notes: tuple[str, ...]
    drifted: tuple[str, ...] = ()
    unlike: tuple[Finding, ...] = ()


def answered(job: VerifyJob, engine: Engine, rewritten: TransformedModel, golden: Golden) -> Answered:
    """Raises as the engine does."""
    log = CallLog(engine, Feeds(rewritten, golden.inputs, job.case.inputs.layout))
    actual, untaken = answers(log, golden)
    golden = golden.first(len(actual))
    probed = perturb_input(job, engine, rewritten, golden)
    found = Answered(golden, actual, log, probed, untaken)
    if not job.no_reference_reason:
        drifted, unlike = run_free(engine, rewritten, golden, job.case.model)
        found = replace(found, drifted=drifted, unlike=unlike)
    if probed is not None or golden.lock.state:
        log.interrupted()
    log.look_at_answers()
    return found


def answers(log: CallLog, golden: Golden) -> tuple[list[dict[str, Tensor]], tuple[str, ...]]:
    """One answer for each sample. Samples of a companion have sizes of their own: an engine built for one size leaves
    them out, and that is told; a sample of the set itself that is refused is the engine's outcome."""
    count = len(golden.inputs)
    own = len(next(iter(golden.labels.values()))) if golden.labels else count
    found = [log.ask(sample) for sample in each_sample(range(own), count)]
    for sample in range(own, count):
        at_sample(len(found) + 1, count)
        try:
            found.append(log.ask(sample))
        except (Unsupported, NotRunnable) as error:
            left = f"{count - len(found)} samples of the golden's companion were left out, for this engine: {error}"
            return found, (left,)
    return found, ()
