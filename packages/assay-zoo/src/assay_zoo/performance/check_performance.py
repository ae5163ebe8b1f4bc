"""Performance: what the scenario measures, against its limits, and against the version that is served now."""

from __future__ import annotations

import fnmatch
import functools
import math
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.core.case import Case
from assay.core.machine import Machine
from assay.errors import BadGolden, BadModel, UsageError
from assay.pipeline.provenance import this_machine
from assay.reports import format
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.facts import read_facts
from assay_zoo.functionality.golden_sets import case_of, data_set_folders, with_data_sets
from assay_zoo.performance.against_served import against_previous
from assay_zoo.performance.measure import Measured, measure
from assay_zoo.policy import Measure
from assay_zoo.submission import SubmissionContext, SubmissionServices
from assay_zoo.zoo_files import METADATA

ALL = "performance.all"
DEARER = 2.0
"""Times that an input may cost what another of its shape costs."""
_SEED_BITS = 62


@dataclass(frozen=True)
class Speed:
    """What is measured: `fresh` has inputs that are drawn here, so that nobody knew them, `others` gives cases of other draws; `published`
    gives the case with those that were handed in. `value_dependent`: how much the model does follows from the values of its inputs."""

    fresh: Case
    others: Callable[[], Iterable[Case]]
    published: Callable[[], Case]
    value_dependent: bool
    size_bytes: int


def check_performance(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """performance.measured and .fresh for each flow, performance.FIGURE for each limit of the scenario, and performance.slower."""
    if place.metadata is None:
        return [Check(ALL, CheckOutcome.SKIPPED, f"not executed: {METADATA} cannot be read")]
    if place.scenario is None:
        return [Check(ALL, CheckOutcome.SKIPPED, "not executed: the zoo does not have its scenario")]
    machine = this_machine(tools.services.gpus)
    model = place.folder / place.metadata.model
    try:
        sets = data_set_folders(place.folder)[:1]
        if not sets:
            return [Check(ALL, CheckOutcome.SKIPPED, "not executed: there is no test data set to measure with")]
        case = case_of(model, place.metadata.name, tools.services, place.policy.run)
        seed, other_seed = secrets.randbits(_SEED_BITS), secrets.randbits(_SEED_BITS)
        fresh = with_data_sets(case, sets, tools.scratch / "fresh", place.policy.run, fresh=(seed, False))
        facts = read_facts(place.folder, place.metadata.model, memory_bytes=place.policy.run.memory_bytes)
    except (BadModel, BadGolden, UsageError) as error:
        text = f"it cannot be measured: {error}".replace(f"{place.folder}/", "")
        return [Check(ALL, CheckOutcome.FAILED, text)]

    @functools.cache
    def published() -> Case:
        return with_data_sets(case, sets, tools.scratch / "published", place.policy.run)

    def others() -> Iterable[Case]:
        for name, draw in (("turned", (seed, True)), ("other", (other_seed, False))):
            yield with_data_sets(case, sets, tools.scratch / name, place.policy.run, fresh=draw)

    speed = Speed(fresh, others, published, facts.value_dependent, sum(file.size for file in facts.files))
    checks, measured = _limits(speed, place, machine, tools)
    return [*checks, *against_previous(place, Path(measured.inputs.golden), tools)]


def _limits(
    speed: Speed, place: SubmissionContext, machine: Machine, tools: SubmissionServices
) -> tuple[list[Check], Case]:
    """The checks, and the case that could be measured."""
    assert place.scenario is not None
    here = [limit for limit in place.scenario.measures if _of_this_kind(limit, machine)]
    elsewhere = [limit for limit in place.scenario.measures if limit not in here]
    flows = list(dict.fromkeys(limit.flow for limit in here)) or ([] if elsewhere else [place.policy.flows[0]])
    checks, case = [], speed.fresh
    for flow in flows:
        begin = time.perf_counter()

        def timed(case: Case, flow: str = flow) -> Measured:
            return measure(case, flow, speed.size_bytes, place.policy.run, tools.services)

        measured, fresh = on_fresh_inputs(timed, speed)
        if fresh is not None and fresh.outcome in (CheckOutcome.SKIPPED, CheckOutcome.UNDECIDED):
            case = speed.published()
        checks.append(_measured(measured, machine, time.perf_counter() - begin))
        checks += [fresh] if fresh is not None else []
        held = (limit for limit in here if limit.flow == flow and measured.outcome is CheckOutcome.PASSED)
        checks += [_held(limit, measured, machine) for limit in held]
    for limit in elsewhere:
        text = f"asked of machines of the kind {limit.machine!r}; this is {machine.cpu or 'unknown'}"
        checks.append(Check(f"performance.{limit.metric}", CheckOutcome.SKIPPED, text))
    return checks, case


def on_fresh_inputs(timed: Callable[[Case], Measured], speed: Speed) -> tuple[Measured, Check | None]:
    """What counts as measured, and `performance.fresh` where inputs that nobody has seen could cost what others do not."""
    name, measured = "performance.fresh", timed(speed.fresh)
    if measured.outcome is CheckOutcome.FAILED:
        known = timed(speed.published())
        if known.outcome is not CheckOutcome.PASSED:
            return known, None  # the model does not run at all
        text = f"inputs that were drawn here do not run, and those that were handed in do ({measured.sentence})"
        if not speed.value_dependent:
            return known, Check(name, CheckOutcome.SKIPPED, f"{text}; how much the model does depends on no value")
        return known, Check(name, CheckOutcome.UNDECIDED, f"{text}; a person must look")
    if not speed.value_dependent or measured.outcome is not CheckOutcome.PASSED:
        return measured, None
    known_ms, fresh_ms = _latency_ms(timed(speed.published())), _latency_ms(measured)
    if fresh_ms > DEARER * known_ms:
        # Where there is more to do for more large values, there is less for more small ones. A machine may stumble, too.
        measured, fresh_ms = _quickest(measured, (timed(case) for case in speed.others()), DEARER * known_ms)
    text = f"{measured.flow}: {fresh_ms:.4g} ms on inputs that were drawn here, {known_ms:.4g} ms on those that were handed in"
    if math.isnan(fresh_ms + known_ms):
        return measured, Check(name, CheckOutcome.UNDECIDED, f"{text}; a person must look")
    if fresh_ms > DEARER * known_ms:
        text = f"{text}: the model is quick only on what it knows; its speed must not depend on having seen the input"
        return measured, Check(name, CheckOutcome.FAILED, text, executed=1)
    return measured, Check(name, CheckOutcome.PASSED, text, executed=1)


def _quickest(first: Measured, others: Iterable[Measured], enough_ms: float) -> tuple[Measured, float]:
    """Until one takes no longer than `enough_ms`; one that does not run says nothing."""
    for other in others:
        if _latency_ms(other) < _latency_ms(first):
            first = other
        if _latency_ms(first) <= enough_ms:
            break
    return first, _latency_ms(first)


def _latency_ms(measured: Measured) -> float:
    return measured.figures.get("latency_ms", math.nan)


def _of_this_kind(limit: Measure, machine: Machine) -> bool:
    """Its name is a part of, or a pattern for, the processor's or a GPU's."""
    kind = limit.machine.casefold()
    names = [name.casefold() for name in (machine.cpu, *machine.gpus)]
    return not kind or any(kind in name or fnmatch.fnmatchcase(name, kind) for name in names)


def _measured(measured: Measured, machine: Machine, seconds: float) -> Check:
    figures: dict[str, float | str] = {**measured.figures, "machine": machine.cpu or "unknown", "flow": measured.flow}
    ok = measured.outcome is CheckOutcome.PASSED
    return Check(
        "performance.measured",
        measured.outcome,
        measured.sentence,
        executed=1 if ok else 0,
        seconds=seconds,
        figures=figures if ok else {},
    )


def _held(limit: Measure, measured: Measured, machine: Machine) -> Check:
    name = f"performance.{limit.metric}"
    value = measured.figures.get(limit.metric)
    if value is None:
        text = f"{limit.metric} was not measured on {measured.flow}: {measured.missing.get(limit.metric, 'it is not recorded')}"
        return Check(name, CheckOutcome.UNDECIDED, text)
    bounds = [
        *([f"at most {format.metric(limit.metric, limit.at_most)}"] if limit.at_most is not None else []),
        *([f"at least {format.metric(limit.metric, limit.at_least)}"] if limit.at_least is not None else []),
    ]
    asked = " and ".join(bounds) or "no limit is asked"
    text = f"{limit.metric} is {format.metric(limit.metric, value)} on {measured.flow}; {asked}"
    where: dict[str, float | str] = {limit.metric: value, "machine": machine.cpu or "unknown", "flow": measured.flow}
    beyond = (limit.at_most is not None and value > limit.at_most) or (
        limit.at_least is not None and value < limit.at_least
    )
    if beyond and not measured.stable and limit.metric in ("latency_ms", "throughput_per_s"):
        text += "; the times had not settled when the clock ran out: the machine is too restless to say"
        return Check(name, CheckOutcome.UNDECIDED, text, figures=where)
    outcome = CheckOutcome.FAILED if beyond else CheckOutcome.PASSED
    return Check(name, outcome, text, executed=1, figures=where)
