"""Whether anybody else gives the answers that are about to be kept as a golden: what is stored is believed from then on."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import PerNodeJob, VerifyJob
from assay.core.limits import Limits
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.errors import UsageError
from assay.judge.witnesses import EVALUATOR
from assay.judge.words.missing_text import reason_text
from assay.pipeline.adapters import Services
from assay.pipeline.job_graph import result_of
from assay.pipeline.references.verify_stages import VerifyStages
from assay.pipeline.witnesses.ask_witnesses import LONGEST_S
from assay.pipeline.witnesses.witness_flows import WITNESSES
from assay.plugins import find_flow, library_of


async def cross_check(case: Case, folder: Path, producer: Flow, limits: Limits, services: Services) -> str:
    """A note on who agrees with the golden in `folder`, which `producer` has recorded. Raises UsageError, with the node where they
    part, where an oracle's answers are disputed: another library answers otherwise, and none agrees. A flow that the user chose
    is taken at its word, and the note says so."""
    limits = replace(limits, timeout_s=min(limits.timeout_s, LONGEST_S))
    case = replace(case, inputs=Inputs(golden=str(folder.absolute()), seed=case.inputs.seed))
    stage = VerifyStages(services, coarse=True)
    differing: Flow | None = None
    silent: list[str] = []
    for name in WITNESSES:
        flow = find_flow(name)
        if library_of(flow) == library_of(producer):
            continue
        if not (here := services.available(flow)).available:
            silent.append(f"{name}: {here.install or reason_text(here)}")
            continue
        result = await result_of(stage, VerifyJob(case, flow, limits=limits))
        if result.outcome is Outcome.OK:
            return f"{name} agrees with {producer.name}"
        if result.outcome is Outcome.MISMATCH:
            differing = differing or flow
        else:
            silent.append(f"{name}: {_briefly(result)}")
    if differing is None:
        return f"nobody else vouches for these answers of {producer.name} ({'; '.join(silent) or 'nobody was asked'})"
    local = await services.jobs.run(PerNodeJob(case, differing, limits=limits))
    where = f"; they part at node '{local.node}'" if local.node else ""
    text = f"{differing.name} answers otherwise than {producer.name}, and nobody agrees with it{where}"
    if library_of(producer) != EVALUATOR:
        return text
    raise UsageError(
        f"the answers are disputed, and nothing was recorded: {text}; record by the engine that you trust (--flow {differing.name}), or "
        "keep the answers of the framework that the model comes from (--inputs ANSWERS.npz --keep-outputs)"
    )


def _briefly(result: Result) -> str:
    return f"{result.outcome.value.replace('_', ' ')}, {result.detail[:200]}".rstrip(", ")
