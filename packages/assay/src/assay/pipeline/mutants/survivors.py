"""Why a mutant passed: the same function, hidden by the golden inputs, below the noise, or let through."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from assay import plugins
from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import ReferenceJob, SearchInputsJob, other_kind
from assay.core.outcome import Outcome
from assay.core.result import Result, SearchInputsResult
from assay.core.result_parts import comparisons_of
from assay.numerics.tolerance.judge.statistics import NORM_LIMIT
from assay.pipeline.adapters import Services
from assay.pipeline.mutants.sample_mutants import GateJob, Injected
from assay.pipeline.references.ensure_references import ORACLES
from assay.pipeline.references.tolerances import with_tolerances

TRIED = 3
"""Inputs that the gate judges for each survivor, at most: as many as a probe keeps."""


@dataclass(frozen=True)
class Survivor:
    """Why one mutant passed, in one sentence.

    `kind`: equivalent (bit for bit the same on everything tried: it does not count), unexercised (an input was found on
    which the same gate kills it), below_noise (nothing found goes beyond the tolerance), untold. `budget_used` is what its
    largest difference on the golden set spends of the tolerance. `killer` is the folder of a golden of one sample.
    """

    kind: str
    why: str
    budget_used: float = math.nan
    killer: Path | None = None


@dataclass(frozen=True)
class _Searched:
    """What the search found: nothing but names where it failed. `ranks` are the folders of candidate inputs, largest effect first, and
    what they are."""

    job: GateJob
    passed: Result
    seen: SearchInputsResult
    ranks: tuple[tuple[Path, str], ...]


async def explain(
    passed: Mapping[Injected, tuple[GateJob, Result]], sound: Flow, folder: Path, services: Services
) -> dict[Injected, Survivor]:
    """One for each mutant that passed. Candidate inputs are written below `folder`, which the caller removes."""
    probed = await _search(passed, folder, services)
    open_ = {
        name: searched
        for name, searched in probed.items()
        if searched.ranks and not _same(searched.seen) and not _is_calibrated(sound)
    }
    killers: dict[Injected, tuple[Path, str]] = {}
    for rank in range(TRIED):
        left = {
            name: searched for name, searched in open_.items() if name not in killers and rank < len(searched.ranks)
        }
        killers.update(await _judge(left, rank, sound, services))
    return {name: _survivor(searched, killers.get(name)) for name, searched in probed.items()}


def _is_calibrated(flow: Flow) -> bool:
    """Then one sample makes no golden: some are taken away to calibrate with."""
    return any(map(plugins.is_calibrated, flow.transforms))


async def _search(
    passed: Mapping[Injected, tuple[GateJob, Result]], folder: Path, services: Services
) -> dict[Injected, _Searched]:
    places = {name: folder / f"{place}" for place, name in enumerate(passed)}
    jobs = {
        name: other_kind(
            job, SearchInputsJob, case=_with_golden(job, job.case.name), output_dir=str(places[name]), reference_dir=""
        )
        for name, (job, _) in passed.items()
    }
    by_key = {result.job_key: result async for result in services.jobs.results(list(jobs.values()))}
    searched = {}
    for name, job in jobs.items():
        result = by_key[job.key]
        assert isinstance(result, SearchInputsResult)
        ranks = tuple((places[name] / str(rank), what) for rank, what in enumerate(result.kinds[:TRIED]))
        searched[name] = _Searched(*passed[name], result, ranks if result.outcome is Outcome.OK else ())
    return searched


def _with_golden(job: GateJob, name: str, golden: str = "") -> Case:
    inputs = Inputs(
        golden=golden or job.case.inputs.golden or job.reference_dir,
        seed=job.case.inputs.seed,
        calibration=job.case.inputs.calibration,
    )
    return replace(job.case, name=name, inputs=inputs)


async def _judge(
    left: Mapping[Injected, _Searched], rank: int, sound: Flow, services: Services
) -> dict[Injected, tuple[Path, str]]:
    """The candidates of this rank on which the gate kills the mutant and passes the sound engine."""
    folders = await _references(left, rank, services)
    jobs: list[GateJob] = []
    for place, (name, searched) in enumerate(left.items()):
        # A name of its own for each: two survivors share the sound flow.
        case = _with_golden(searched.job, f"{searched.job.case.name}#{place}", str(folders[name]))
        jobs += [replace(searched.job, case=case, flow=flow, reference_dir="") for flow in (searched.job.flow, sound)]
    jobs = await with_tolerances(jobs, services)
    results = {result.job_key: result.outcome async for result in services.jobs.results(jobs)}
    killers = {}
    for (name, searched), lying, honest in zip(left.items(), jobs[::2], jobs[1::2], strict=True):
        if results[lying.key] is Outcome.MISMATCH and results[honest.key] is Outcome.OK:
            killers[name] = (folders[name], searched.ranks[rank][1])
    return killers


async def _references(left: Mapping[Injected, _Searched], rank: int, services: Services) -> dict[Injected, Path]:
    """The candidates with the oracle's answers instead of those of the engine under test, where there is an oracle."""
    folders: dict[Injected, Path] = {}
    for oracle in ORACLES["onnx"]:
        jobs = {
            name: _record(searched, f"{searched.job.case.name}#{place}", rank, oracle)
            for place, (name, searched) in enumerate(left.items())
            if name not in folders
        }
        done = {result.job_key: result.outcome async for result in services.jobs.results(list(jobs.values()))}
        folders.update({n: Path(job.reference_dir) for n, job in jobs.items() if done[job.key] is Outcome.OK})
    return {name: folders.get(name, searched.ranks[rank][0]) for name, searched in left.items()}


def _record(searched: _Searched, case: str, rank: int, oracle: str) -> ReferenceJob:
    candidate = searched.ranks[rank][0]
    return other_kind(
        searched.job,
        ReferenceJob,
        case=_with_golden(searched.job, case, str(candidate)),
        flow=plugins.find_flow(oracle),
        reference_dir=str(candidate.with_name(f"{candidate.name}-reference")),
        reason="an input on which a mutant shows",
    )


def _largest(result: Result, metric: str) -> float:
    return max((c.metrics[metric] for c in comparisons_of(result) if metric in c.metrics), default=math.nan)


def _same(searched: SearchInputsResult) -> bool:
    return searched.golden_equal and searched.found_equal


def _survivor(searched: _Searched, killer: tuple[Path, str] | None) -> Survivor:
    used = _largest(searched.passed, "budget_used")
    if searched.seen.outcome is not Outcome.OK:
        failed = f"{searched.seen.outcome.value}: {searched.seen.detail}"
        return Survivor("untold", f"the search for a reason failed ({failed})", used)
    if _same(searched.seen):
        why = f"bit for bit the same outputs on the samples of the case and {searched.seen.tried} inputs in all"
        return Survivor("equivalent", why, used)
    if killer is not None:
        here = _on_golden(searched, used)
        return Survivor("unexercised", f"{here}; {killer[1]} kills it", used, killer[0])
    largest = max(searched.seen.golden_effect, searched.seen.found_effect)
    if not searched.ranks and searched.seen.golden_equal:
        return Survivor("untold", "the golden samples do not show it, and no input was found that does", used)
    bound = "below the noise" if _derived(searched.passed) else "within the tolerance"
    why = (
        f"{bound}: {_on_golden(searched, used)}, and no input was found on which it goes beyond the tolerance "
        f"(the largest effect of {searched.seen.tried} inputs is {largest:.2g} of the output's norm)"
    )
    return Survivor("below_noise", why, used)


def _derived(passed: Result) -> bool:
    return any("budget_norm" in compared.metrics for compared in comparisons_of(passed))


def _on_golden(searched: _Searched, used: float) -> str:
    if searched.seen.golden_equal:
        return "the golden samples never reach what it changes: the outputs are the same bit for bit"
    widths = NORM_LIMIT * _largest(searched.passed, "budget_norm")
    known = f", {widths:.2g} noise widths" if not math.isnan(widths) else f", {used:.2g} of the tolerance"
    share = "" if math.isnan(used) else f"{known} together with the engine's own error"
    return f"its effect on the golden samples is {searched.seen.golden_effect:.2g} of the output's norm{share}"
