"""The engine's answers to the inputs of a case: each once, the first twice, and one to other inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from assay.core.finding import Finding
from assay.core.job import VerifyJob
from assay.errors import Lowering, NotRunnable, Unsupported
from assay.models.goldens import Golden
from assay.numerics.steps import at_sample, each_sample
from assay.ports import Engine, Tensor
from assay.worker.engine.apply_transforms import TransformedModel
from assay.worker.engine.sequences import run_free
from assay.worker.inputs.memory_layout import with_layout
from assay.worker.verify.input_sensitivity import SensitivityCheck, perturb_input
from assay.worker.verify.reference_comparison import Samples


@dataclass(frozen=True)
class Answered:
    """`golden` and `fed` hold the samples that were answered; `again` is the second answer to the first; `notes` are for people;
    `drifted` are notes and `unlike` findings of a sequence of calls on the engine's own states."""

    golden: Golden
    fed: Samples
    actual: list[dict[str, Tensor]]
    again: dict[str, Tensor]
    probed: SensitivityCheck | None
    notes: tuple[str, ...]
    drifted: tuple[str, ...] = ()
    unlike: tuple[Finding, ...] = ()


def answered(job: VerifyJob, engine: Engine, rewritten: TransformedModel, golden: Golden) -> Answered:
    """Raises as the engine does."""
    fed = [with_layout(sample, job.case.inputs.layout) for sample in rewritten.fed(golden.inputs)]
    actual, untaken = answers(engine, fed, golden)
    golden, fed = golden.first(len(actual)), fed[: len(actual)]
    probed = perturb_input(job, engine, rewritten, golden)
    whole = with_layout(rewritten.fed(golden.inputs[:1])[0], job.case.inputs.layout)
    written = tuple(
        f"the engine writes into its input '{name}'" for name in whole if _differ(fed[0].get(name), whole[name])
    )
    found = Answered(golden, fed, actual, engine.run(whole), probed, (*untaken, *written))
    if job.no_reference_reason:
        return found
    drifted, unlike = run_free(engine, rewritten, golden, job.case.model)
    return replace(found, drifted=drifted, unlike=unlike)


def answers(engine: Engine, fed: Samples, golden: Golden) -> tuple[list[dict[str, Tensor]], tuple[str, ...]]:
    """One answer for each sample. Samples of a companion have sizes of their own: an engine built for one size leaves
    them out, and that is told; a sample of the set itself that is refused is the engine's outcome."""
    own = len(next(iter(golden.labels.values()))) if golden.labels else len(fed)
    found = [_answer(engine, sample) for sample in each_sample(fed[:own], len(fed))]
    for sample in fed[own:]:
        at_sample(len(found) + 1, len(fed))
        try:
            found.append(_answer(engine, sample))
        except (Unsupported, NotRunnable) as error:
            left = f"{len(fed) - len(found)} samples of the golden's companion were left out, for this engine: {error}"
            return found, (left,)
    return found, ()


def _answer(engine: Engine, sample: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Raises Lowering where a plug-in breaks the promise of `Engine.run`."""
    answer: object = engine.run(sample)
    if not isinstance(answer, dict):
        raise Lowering(f"Engine.run gave {type(answer).__name__}, not a dict of arrays by name: fix the backend")
    for name, array in answer.items():
        if not isinstance(array, np.ndarray | np.generic):
            raise Lowering(f"Engine.run gave {type(array).__name__} for output '{name}', not an array: fix the backend")
    return answer


def first_difference(once: Mapping[str, Tensor], again: Mapping[str, Tensor]) -> str:
    """Which output is the first that two runs on the same inputs do not share bit by bit, "" if all are equal."""
    for name, tensor in once.items():
        if _differ(again.get(name), tensor):
            return _unrepeated(name)
    return ""


def _differ(one: Tensor | None, other: Tensor) -> bool:
    """In any bit, in shape or in type."""
    if one is None or one.shape != other.shape or one.dtype != other.dtype:
        return True
    return not np.array_equal(one, other) if one.dtype == object else one.tobytes() != other.tobytes()


def _unrepeated(name: str) -> str:
    return f"output '{name}' differs between two runs on the same inputs"
