"""Performance: what the scenario measures, against its limits, and against the version that is served now."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterator
from pathlib import Path

from assay.core.case import Case
from assay.core.machine import Machine
from assay.errors import BadGolden, BadModel, UsageError
from assay.pipeline.provenance import this_machine
from assay_zoo.against_served import against_previous
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.facts import read_facts
from assay_zoo.golden_sets import case_of, data_set_folders, with_data_sets
from assay_zoo.measure import Measured, measure
from assay_zoo.policy import Measure
from assay_zoo.repository import METADATA
from assay_zoo.submission import SubmissionContext, SubmissionServices

ALL = "performance.all"


def check_performance(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """performance.measured for each flow, performance.FIGURE for each limit of the scenario, and performance.slower."""
    if place.metadata is None:
        return [_check(ALL, CheckOutcome.SKIPPED, f"not executed: {METADATA} cannot be read")]
    if place.scenario is None:
        return [_check(ALL, CheckOutcome.SKIPPED, "not executed: the zoo does not have its scenario")]
    machine = this_machine(tools.services.gpus)
    model = place.folder / place.metadata.model
    try:
        sets = data_set_folders(place.folder)[:1]
        if not sets:
            return [_check(ALL, CheckOutcome.SKIPPED, "not executed: there is no test data set to measure with")]
        case = case_of(model, place.metadata.name, tools.services, place.policy.run)
        case = with_data_sets(case, sets, tools.scratch / "inputs", place.policy.run)
        facts = read_facts(place.folder, place.metadata.model, memory_bytes=place.policy.run.memory_bytes)
        size = sum(one.size for one in facts.files)
    except (BadModel, BadGolden, UsageError) as error:
        return [_check(ALL, CheckOutcome.FAILED, f"it cannot be measured: {error}")]
    return [*_limits(case, size, place, machine, tools), *against_previous(place, Path(case.inputs.golden), tools)]


def _limits(
    case: Case, size: int, place: SubmissionContext, machine: Machine, tools: SubmissionServices
) -> Iterator[Check]:
    assert place.scenario is not None
    here = [one for one in place.scenario.measures if _of_this_kind(one, machine)]
    elsewhere = [one for one in place.scenario.measures if one not in here]
    flows = list(dict.fromkeys(one.flow for one in here)) or ([] if elsewhere else [place.policy.flows[0]])
    for flow in flows:
        begin = time.perf_counter()
        found = measure(case, flow, size, place.policy.run, tools.services)
        yield _measured(found, machine, time.perf_counter() - begin)
        for one in here:
            if one.flow == flow and found.outcome is CheckOutcome.PASSED:
                yield _held(one, found, machine)
    for one in elsewhere:
        told = f"asked of machines of the kind {one.machine!r}; this is {machine.cpu or 'unknown'}"
        yield _check(f"performance.{one.metric}", CheckOutcome.SKIPPED, told)


def _of_this_kind(one: Measure, machine: Machine) -> bool:
    """Its name is a part of, or a pattern for, the processor's or a GPU's."""
    kind = one.machine.casefold()
    names = [name.casefold() for name in (machine.cpu, *machine.gpus)]
    return not kind or any(kind in name or fnmatch.fnmatchcase(name, kind) for name in names)


def _measured(found: Measured, machine: Machine, seconds: float) -> Check:
    figures: dict[str, float | str] = {**found.figures, "machine": machine.cpu or "unknown", "flow": found.flow}
    ok = found.outcome is CheckOutcome.PASSED
    return Check(
        name="performance.measured",
        outcome=found.outcome,
        sentence=found.sentence,
        executed=1 if ok else 0,
        seconds=seconds,
        figures=figures if ok else {},
    )


def _held(one: Measure, found: Measured, machine: Machine) -> Check:
    name = f"performance.{one.metric}"
    value = found.figures.get(one.metric)
    if value is None:
        told = f"{one.metric} was not measured on {found.flow}: {found.missing.get(one.metric, 'it is not recorded')}"
        return _check(name, CheckOutcome.UNDECIDED, told)
    bounds = [
        *([f"at most {one.at_most:g}"] if one.at_most is not None else []),
        *([f"at least {one.at_least:g}"] if one.at_least is not None else []),
    ]
    told = f"{one.metric} is {value:.4g} on {found.flow}; {' and '.join(bounds) if bounds else 'no limit is asked'}"
    where: dict[str, float | str] = {one.metric: value, "machine": machine.cpu or "unknown", "flow": found.flow}
    beyond = (one.at_most is not None and value > one.at_most) or (one.at_least is not None and value < one.at_least)
    if beyond and not found.stable and one.metric in ("latency_ms", "throughput_per_s"):
        told += "; the times had not settled when the clock ran out: the machine is too restless to say"
        return _check(name, CheckOutcome.UNDECIDED, told, figures=where)
    outcome = CheckOutcome.FAILED if beyond else CheckOutcome.PASSED
    return _check(name, outcome, told, executed=1, figures=where)


def _check(
    name: str, outcome: CheckOutcome, sentence: str, *, executed: int = 0, figures: dict[str, float | str] | None = None
) -> Check:
    return Check(name=name, outcome=outcome, sentence=sentence, executed=executed, figures=figures or {})
