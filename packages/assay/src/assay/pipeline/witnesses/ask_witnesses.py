"""Verifying with witnesses: where one oracle alone would blame an engine, or an engine would vouch for itself, others are asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Inputs
from assay.core.digest import value_digest
from assay.core.flow import Flow
from assay.core.job import (
    ChangeJob,
    JudgedJob,
    PerNodeJob,
    ReferenceJob,
    VerifyJob,
    other_kind,
)
from assay.core.job_base import FlowJob, Job
from assay.core.limits import Limits
from assay.core.outcome import Outcome
from assay.core.policy import Goal
from assay.core.reference import Witness
from assay.core.result import ChangeResult, PerNodeResult, Result
from assay.core.result_parts import ComparedResult, LossResult, facts_of
from assay.errors import HarnessError, UnknownName
from assay.judge.doubtful_loss import is_vouched, measured_by, witness_needed
from assay.judge.witnesses import (
    EVALUATOR,
    Doubt,
    Side,
    agrees,
    agrees_at_node,
    doubt_of,
    library_of_reference,
    side_of,
)
from assay.judge.words.missing_text import reason_text
from assay.pipeline.adapters import Services
from assay.pipeline.job_graph import Stage, result_of
from assay.pipeline.references.verify_stages import VerifyStages
from assay.pipeline.witnesses.change_witness import change_seen_by, parting_node
from assay.pipeline.witnesses.loss_witness import loss_witness
from assay.pipeline.witnesses.other_reading import can_be_asked, read_otherwise, right_otherwise
from assay.pipeline.witnesses.witness_flows import WITNESSES, fairly_judged, is_witness, quantizing, witness_flow
from assay.plugins import find_flow, library_of

BUDGET_S = 120.0
"""What all witnesses of one case may take together; one that is asked before it is spent may finish."""
LONGEST_S = 60.0
"""Of one job of a witness, or the limit of the jobs of the run where that is less."""


@dataclass
class _Asked:
    """What is known of one case, whatever flow of it is in doubt: the witnesses, and the seconds that they took."""

    witnesses: dict[str, Witness] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    otherwise: tuple[str, str] | None = None
    """The folder of the answers by the other reading, and what the standard does not say."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Witnessed:
    """A stage of jobs that verify, or compare a changed model with its original. What is beyond doubt is handed on at once; the
    rest waits for the other engines of the run, which are witnesses too, and then for flows that the run does not have. Costs nothing
    where nothing is in doubt."""

    services: Services
    stage: Stage
    goals: tuple[Goal, ...] = ()
    """A loss beyond one of them needs a second witness, too."""
    _asked: dict[tuple[str, ...], _Asked] = field(default_factory=dict)

    async def results(self, jobs: Sequence[Job]) -> AsyncIterator[Result]:
        """See `Stage`."""
        planned = {job.key: job for job in jobs}
        doubtful: list[ComparedResult] = []
        peers: dict[str, list[tuple[Job, Result]]] = {}
        async for result in self.stage.results(jobs):
            job = planned[result.job_key]
            peers.setdefault(job.case.name, []).append((job, result))
            needed = doubt_of(result) is not Doubt.NONE or witness_needed(result, self.goals)
            if needed and isinstance(result, ComparedResult):
                doubtful.append(result)
            else:
                yield result
        for result in doubtful:
            job = planned[result.job_key]
            others = [peer for peer in peers[job.case.name] if peer[0] is not job]
            settled = result if doubt_of(result) is Doubt.NONE else await self._with_witnesses(job, result, others)
            if isinstance(settled, LossResult) and witness_needed(settled, self.goals):
                settled = await self._with_loss_witnesses(job, settled, others)
            yield settled

    async def _with_witnesses(
        self, job: Job, result: ComparedResult, peers: Sequence[tuple[Job, Result]]
    ) -> ComparedResult:
        """Asks one after another until one of another library agrees with the reference, or with the engine."""
        blamed = result.node if isinstance(job, PerNodeJob) else ""
        asked = self._asked.setdefault((job.case.name, job.kind, blamed, *quantizing(job)), _Asked())
        if (reading := await self._other_reading(job, result, asked)) is not None:
            return replace(result, witnesses=(reading,))
        for other, theirs in peers:
            if isinstance(other, FlowJob) and is_witness(other, job):
                asked.witnesses.setdefault(other.flow.name, _witness(other.flow, theirs, result))
        known = [*asked.witnesses, *(name for name in WITNESSES if name not in (*asked.witnesses, job.subject))]
        # Those that the run has asked already cost nothing: whether they agree with the reference is known before anybody is asked.
        result = replace(result, witnesses=tuple(asked.witnesses.values()))
        for name in known if side_of(result)[0] is not Side.REFERENCE else ():
            if name not in asked.witnesses:
                if asked.seconds > BUDGET_S or library_of(name) == _excluded(result):
                    continue
                asked.witnesses[name] = await self._testimony(job, name, result, asked)
            witness = await self._beside_engine(job, asked.witnesses[name], result, asked)
            others = [peer_witness for peer_witness in result.witnesses if peer_witness.flow != name]
            result = replace(result, witnesses=(*others, witness))
            if side_of(result)[0] in (Side.REFERENCE, Side.ENGINE):
                break
        side, decisive = side_of(result)
        if decisive is None or side is Side.UNASKED:
            return result
        if side is Side.REFERENCE:
            return replace(result, witnesses=(decisive,))
        parted = await self._parted(job, decisive, result, asked)
        return replace(
            result,
            witnesses=tuple(parted if peer_witness is decisive else peer_witness for peer_witness in result.witnesses),
        )

    async def _other_reading(self, job: Job, result: ComparedResult, asked: _Asked) -> Witness | None:
        """That the engine is right by what the standard can be read to say, too. What that takes is not charged to the witnesses."""
        if not isinstance(job, VerifyJob) or not can_be_asked(job, result):
            return None
        own = _Asked()
        if asked.otherwise is None:
            folder = Path(job.scratch or self.services.folder)
            asked.otherwise = await read_otherwise(job, folder, lambda other_job: self._run(other_job, own))
        answers, reading = asked.otherwise
        if not answers:
            return None
        return await right_otherwise(job, result, answers, reading, lambda other_job: self._run(other_job, own))

    async def _with_loss_witnesses(
        self, job: Job, result: LossResult, peers: Sequence[tuple[Job, Result]]
    ) -> LossResult:
        """Asks one after another until one of another library gives the answers by which the loss is measured."""
        assert isinstance(job, JudgedJob)
        coarse = VerifyStages(self.services, coarse=True)
        asked = self._asked.setdefault((job.case.name, job.kind, "loss", *quantizing(job)), _Asked())
        if isinstance(job, VerifyJob) and job.case.original is None:
            plain = replace(job, flow=replace(job.flow, transforms=()))
            for other, theirs in peers:
                if isinstance(other, FlowJob) and is_witness(other, plain) and agrees(theirs) is not None:
                    asked.witnesses.setdefault(other.flow.name, _witness(other.flow, theirs, result))
        result = replace(result, float_witnesses=tuple(asked.witnesses.values()))
        for name in WITNESSES:
            if is_vouched(result) or asked.seconds > BUDGET_S:
                break
            if name in asked.witnesses or library_of(name) == measured_by(result).library:
                continue
            absent = self._unavailable(name)
            asked.witnesses[name] = absent or await loss_witness(
                find_flow(name), job, result, lambda other_job: self._run(other_job, asked, coarse)
            )
            result = replace(result, float_witnesses=tuple(asked.witnesses.values()))
        return result

    def _unavailable(self, name: str) -> Witness | None:
        """What is said of a witness that is not here."""
        blank = Witness(name, library_of(name))
        try:
            flow = find_flow(name)
        except (UnknownName, HarnessError) as error:
            return replace(blank, detail=str(error))
        here = self.services.available(flow)
        return None if here.available else replace(blank, detail=reason_text(here), install=here.install)

    async def _testimony(self, job: Job, name: str, result: ComparedResult, asked: _Asked) -> Witness:
        """What the flow of that name says to the reference."""
        if (absent := self._unavailable(name)) is not None:
            return absent
        flow = witness_flow(name, job)
        if isinstance(job, ChangeJob):
            folder = Path(job.scratch or self.services.folder)
            seen = await change_seen_by(flow, job, folder, lambda other_job: self._run(other_job, asked))
            return _witness(flow, seen, result)
        question = replace(_unsaved(job), case=fairly_judged(job.case, flow), flow=flow)
        return _witness(replace(flow, name=name), await self._run(question, asked), result)

    async def _beside_engine(self, job: Job, witness: Witness, result: ComparedResult, asked: _Asked) -> Witness:
        """The same, asked whether it agrees with the engine where it does not with the reference. A float engine has nothing to
        say of what a transform has made."""
        if witness.agrees_with_reference is not False or witness.flow not in WITNESSES or asked.seconds > BUDGET_S:
            return witness
        if not isinstance(job, VerifyJob) or job.flow.transforms or job.case.inputs.golden or _itself(result):
            return witness
        return replace(witness, agrees_with_engine=await self._agrees_with_engine(job, witness, asked))

    async def _agrees_with_engine(self, job: VerifyJob, witness: Witness, asked: _Asked) -> bool | None:
        """The engine compared with what the witness answers, by a tolerance that the reference has no part in."""
        if witness.flow not in asked.folders:
            key = value_digest((job.case.model.digest, job.reference_dir, witness.flow))[:32]
            folder = str((Path(job.scratch or self.services.folder) / f"witness-{key}").absolute())
            fed = replace(job.case, inputs=replace(job.case.inputs, golden=job.reference_dir))
            flow = find_flow(witness.flow)
            recording = other_kind(job, ReferenceJob, case=fed, flow=flow, reference_dir=folder)
            recorded = await self._run(recording, asked)
            asked.folders[witness.flow] = folder if recorded.outcome is Outcome.OK else ""
        if not (folder := asked.folders[witness.flow]):
            return None
        contract = replace(job.case.contract, tolerance="default", tolerances={})
        case = replace(job.case, contract=contract, inputs=_without_sizes(job.case.inputs))
        return agrees(await self._run(replace(_unsaved(job), case=case, reference_dir=folder), asked))

    async def _parted(self, job: Job, witness: Witness, result: ComparedResult, asked: _Asked) -> Witness:
        """With the first node where the witness is not what the evaluator says, on the witness's own inputs to it."""
        if witness.flow not in WITNESSES or isinstance(job, PerNodeJob) or library_of_reference(result) != EVALUATOR:
            return witness
        flow = witness_flow(witness.flow, job)
        if isinstance(job, ChangeJob) and witness.flow not in asked.nodes:
            asked.nodes[witness.flow] = await parting_node(flow, job, lambda other_job: self._run(other_job, asked))
        if witness.flow not in asked.nodes:
            local = other_kind(job, PerNodeJob, flow=flow)
            asked.nodes[witness.flow] = (await self._run(local, asked)).node
        return replace(witness, node=asked.nodes[witness.flow])

    async def _run(self, job: Job, asked: _Asked, stage: Stage | None = None) -> Result:
        bounded = replace(job, limits=_bounded(job.limits))
        result = await result_of(stage or self.stage, bounded)
        # What it waited for a worker is not counted, so that a busy machine asks no fewer.
        asked.seconds += bounded.limits.timeout_s if result.outcome is Outcome.TIMEOUT else result.seconds
        return result


def _excluded(result: ComparedResult) -> str:
    """The library that has no more to say: the engine's own where it would be its own witness, that of the reference else."""
    return result.reference.engine if _itself(result) else library_of_reference(result)


def _itself(result: Result) -> bool:
    return doubt_of(result) is Doubt.ITSELF


def _witness(flow: Flow, testimony: Result, result: Result) -> Witness:
    agreed, with_engine = agrees(testimony), None
    detail = (
        "" if agreed is not None else f"{testimony.outcome.value.replace('_', ' ')}, {testimony.detail}".rstrip(", ")
    )
    if isinstance(result, PerNodeResult) and isinstance(testimony, PerNodeResult) and agreed is not None:
        # Where it is blamed for the node that the engine is blamed for, too, the evaluator stands alone.
        agreed = agrees_at_node(testimony, result)
        with_engine = None if agreed is None else not agreed
    if isinstance(result, ChangeResult) and agreed is not None:
        # Its own answers to the two models: where they are alike it is for the model, and not for the reference that sees a change.
        agreed, with_engine = not agreed, agreed
    version = facts_of(testimony).backend_version
    return Witness(flow.name, library_of(flow), version, agreed, with_engine, detail=detail)


def _unsaved(job: Job) -> Job:
    """The same question without what a user asked beside it: no tensor is left, and no tolerance is there yet."""
    if not isinstance(job, VerifyJob):
        return job
    return replace(job, tolerance_dir="", save_inputs="", save_outputs="")


def _bounded(limits: Limits) -> Limits:
    return replace(limits, timeout_s=min(limits.timeout_s, LONGEST_S), repeat_share=0.0)


def _without_sizes(inputs: Inputs) -> Inputs:
    """Other sizes are answered by the evaluator, which is what is in doubt."""
    return replace(inputs, dims={})
