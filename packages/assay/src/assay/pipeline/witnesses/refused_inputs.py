"""Verifying where an engine refuses inputs that were drawn for it: others are asked whether they take them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.reference import Witness
from assay.core.result import Result, VerifyResult
from assay.core.result_parts import facts_of
from assay.errors import HarnessError, UnknownName
from assay.judge.doubted_inputs import is_refused, takes
from assay.judge.words.missing_text import reason_text
from assay.pipeline.adapters import Services
from assay.pipeline.job_graph import Stage, result_of
from assay.pipeline.witnesses.ask_witnesses import LONGEST_S
from assay.pipeline.witnesses.witness_flows import WITNESSES
from assay.plugins import find_flow, library_of


@dataclass(frozen=True)
class RefusedInputs:
    """A stage of verify jobs over another one. Costs nothing where no engine refuses inputs that Assay drew."""

    services: Services
    stage: Stage
    _asked: dict[tuple[str, str], Witness] = field(default_factory=dict)

    async def results(self, jobs: Sequence[Job]) -> AsyncIterator[Result]:
        """See `Stage`."""
        planned = {job.key: job for job in jobs if isinstance(job, VerifyJob)}
        refused: list[VerifyResult] = []
        peers: dict[str, list[Result]] = {}
        async for result in self.stage.results(jobs):
            peers.setdefault(result.case, []).append(result)
            if isinstance(result, VerifyResult) and is_refused(result) and _is_drawn(planned[result.job_key]):
                refused.append(result)
            else:
                yield result
        for result in refused:
            job = planned[result.job_key]
            others = [peer for peer in peers[job.case.name] if peer is not result]
            mine = replace(result.reference, engine=library_of(job.flow))
            yield replace(result, reference=mine, witnesses=await self._witnesses(job, others))

    async def _witnesses(self, job: VerifyJob, peers: Sequence[Result]) -> tuple[Witness, ...]:
        """The engines of the run, the one that rewrites as little as possible, and others until one says something."""
        others = [peer for peer in peers if takes(peer) is not None and peer.flow != job.flow.name]
        witnesses = [_witness(other.flow, _library(other.flow), other) for other in others]
        for name in WITNESSES:
            if name != WITNESSES[0] and any(witness.takes_inputs is not None for witness in witnesses):
                break
            if name != job.flow.name and all(witness.flow != name for witness in witnesses):
                witnesses.append(await self._testimony(job, name))
        return tuple(witnesses)

    async def _testimony(self, job: VerifyJob, name: str) -> Witness:
        key = (job.case.name, name)
        if key not in self._asked:
            self._asked[key] = await self._ask(job, name)
        return self._asked[key]

    async def _ask(self, job: VerifyJob, name: str) -> Witness:
        blank = Witness(name, library_of(name))
        try:
            flow = find_flow(name)
        except (UnknownName, HarnessError) as error:
            return replace(blank, detail=str(error))
        if not (here := self.services.available(flow)).available:
            return replace(blank, detail=reason_text(here), install=here.install)
        limits = replace(job.limits, timeout_s=min(job.limits.timeout_s, LONGEST_S))
        case = replace(job.case, contract=replace(job.case.contract, precision=flow.precision))
        question = replace(job, case=case, flow=flow, tolerance_dir="", limits=limits, save_inputs="", save_outputs="")
        return _witness(name, blank.library, await result_of(self.stage, question))


def _is_drawn(job: Job) -> bool:
    """Nobody gave them."""
    recipe = job.case.inputs
    return not (recipe.golden or recipe.given or recipe.data) and job.case.original is None


def _library(flow: str) -> str:
    try:
        return library_of(find_flow(flow))
    except (UnknownName, HarnessError):
        return flow


def _witness(name: str, library: str, result: Result) -> Witness:
    text = "" if takes(result) else f"{result.outcome.value.replace('_', ' ')}, {result.detail}".rstrip(", ")
    return Witness(name, library, facts_of(result).backend_version, detail=text, takes_inputs=takes(result))
