"""`assay load` as a function: from a user's words to figures of a service, or to which of two is slower."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from assay.commands.load_limits import Limit, judged, limit_of
from assay.commands.load_record import load_policy_given, recorded, recorded_comparison
from assay.commands.load_sweep import DIFFER, combinations, label, with_differing, with_values
from assay.commands.reporting import destinations
from assay.config.assay_toml import load_config
from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import LoadJob
from assay.core.load import Arrivals
from assay.core.model import Model
from assay.core.service import Service
from assay.core.speed import SpeedRule, interim_looks
from assay.core.verdict import VerdictStatus
from assay.endpoints.connection import Connection, endpoint_key
from assay.endpoints.openai import OpenAi, Vocabulary
from assay.errors import EndpointBroke, EndpointFailed, UsageError
from assay.judge.load_metrics import growth, telling_s
from assay.judge.service_speed import judged_comparison
from assay.options.groups import DEFAULT_CONFIG
from assay.options.load import LoadOptions
from assay.pipeline.open_run import Checked
from assay.serving.arrivals import arrivals
from assay.serving.comparison import Comparison, block_of, compare_services
from assay.serving.load_generator import generate
from assay.serving.load_summary import MEANINGS, LoadSummary, summarize
from assay.serving.requests import Mix, read_mix_prompts
from assay.serving.result_files import read_results
from assay.serving.rising_load import Curve, curve
from assay.serving.service_memory import watched_memory
from assay.serving.started import Started, started

_GRAVE = (VerdictStatus.PASS, VerdictStatus.INCONCLUSIVE, VerdictStatus.ERROR, VerdictStatus.FAIL)
"""Verdicts of a load, the worst last."""
_PROMPTS: tuple[str, ...] = ("The quick brown fox", "A class definition is", "If the module is not found")


@dataclass(frozen=True)
class Loaded:
    """What was measured, and what it is worth. `curve` of one service or of a file, `comparison` of two; `checked` is the run in the
    history, `combinations` are those of a sweep by what was set."""

    word: VerdictStatus
    reasons: tuple[str, ...]
    curve: Curve | None = None
    comparison: Comparison | None = None
    checked: Checked | None = None
    combinations: tuple[tuple[str, Loaded], ...] = ()


def run_load(options: LoadOptions, say: Callable[[str], None] = lambda text: None) -> Loaded:
    """The whole of `assay load`, its printing apart. Raises UsageError, and EndpointFailed where a service does not answer."""
    limits = [limit_of(text) for text in options.require]
    _check_usage(options)
    objectives = dict(_objective(text) for text in options.objectives)
    if options.results is not None:
        points = Curve(((math.nan, read_results(options.results)),), None)
        return _recorded(options, points, limits, _job_of_file(options.results, points))
    if options.against:
        return _compared(options, objectives, say)
    service = _service(options)
    if options.restarts > 1:
        limits += [] if any(name == DIFFER for name, _, _ in limits) else [(DIFFER, "<=", 0.0)]
    if options.vary or options.restarts > 1:
        return _swept(options, service, limits, objectives, say)
    points, model = _measured(options, service, objectives, say)
    return _recorded(options, points, limits, _job(options, service, model))


def _measured(
    options: LoadOptions, service: Service, objectives: Mapping[str, float], say: Callable[[str], None]
) -> tuple[Curve, str]:
    """The curve, and what the service calls its model."""
    with started(service) as running:
        mix = _mix(options, running, service)

        def load(rate: float) -> LoadSummary:
            load_summary = _at_rate(options, mix, rate, objectives, running, service.metrics, say)
            return replace(load_summary, ended=running.ended(service.name, failed=load_summary.metrics["errors"] > 0))

        return curve(options.rates or (10,), load), mix.model


def _swept(
    options: LoadOptions,
    service: Service,
    limits: Sequence[Limit],
    objectives: Mapping[str, float],
    say: Callable[[str], None],
) -> Loaded:
    """Each combination, or start, is a run of its own. Texts are compared with those of the first: neither may change them."""
    varied = [(label(values), with_values(service, values)) for values in combinations(options.vary)]
    if options.restarts > 1:
        if not service.start:
            raise UsageError(
                f"--restarts: [service.{service.name}] has no start; write the command that starts it there"
            )
        varied = [(f"start {number + 1}", service) for number in range(options.restarts)]
    records: list[tuple[str, Loaded]] = []
    for name, varied_service in varied:
        say(name)
        points, model = _measured(options, varied_service, objectives, say)
        first = (records[0][1].curve or points) if records else points
        job = _job(options, msgspec.structs.replace(varied_service, name=f"{service.name} {name}"), model)
        records.append((name, _recorded(options, with_differing(points, first), limits, job)))
    reasons = [f"{name}: {reason}" for name, loaded in records for reason in loaded.reasons]
    worst = max((loaded.word for _, loaded in records), key=_GRAVE.index)
    return Loaded(worst, tuple(reasons), combinations=tuple(records))


def _recorded(options: LoadOptions, measured: Curve, limits: Sequence[Limit], job: LoadJob) -> Loaded:
    """Judged by the limits of the command line at once, and kept in the history, where the policy judges it beside earlier ones."""
    word, reasons = judged(measured, limits)
    checked = recorded(options, job, measured, limits)
    own = [verdict for verdict in checked.judgement.verdicts if verdict.word is not VerdictStatus.PASS]
    by_policy = [verdict.reason for verdict in own] if load_policy_given(options) else []
    worst = max(word, checked.judgement.run.word, key=_GRAVE.index)
    return Loaded(worst, tuple(dict.fromkeys((*reasons, *by_policy))), measured, checked=checked)


def _job(options: LoadOptions, service: Service, model: str) -> LoadJob:
    rates = tuple(map(float, options.rates or (10,)))
    tokens = options.tokens or (16,)
    load_arrivals = Arrivals(rates, options.seconds, options.arrivals, options.seed, tokens, not options.whole)
    name = service.name or urlsplit(service.url).netloc
    flow = Flow(name=name, backend="openai", options={"url": service.url})
    return LoadJob(Case(model, Model(model, service.url, "")), flow, arrivals=load_arrivals)


def _job_of_file(path: Path, measured: Curve) -> LoadJob:
    tool = measured.points[0][1].source
    return LoadJob(Case(path.stem, Model(path.stem, str(path), "")), Flow(name=tool, backend="openai"))


def _at_rate(
    options: LoadOptions,
    mix: Mix,
    rate: float,
    objectives: Mapping[str, float],
    running: Started,
    gauges: str,
    say: Callable[[str], None],
) -> LoadSummary:
    say(f"{rate:g} requests a second for {options.seconds:g} s")
    times = arrivals(options.arrivals, rate, options.seconds, seed=options.seed, trace=options.trace)
    with watched_memory(running, options.seconds, gauges) as readings:
        load = generate(mix, times, timeout_s=options.timeout_s)
    load_summary, resident = summarize(load, objectives), readings.resident
    grown = growth(resident)
    if resident and "memory_growth_percent" not in grown:
        least = f"it takes {telling_s(resident):.0f} s at least"
        load_summary = replace(
            load_summary, notes=(*load_summary.notes, f"too short to tell whether memory grows: {least}")
        )
    return replace(load_summary, metrics=load_summary.metrics | grown | readings.metrics(), resident=resident)


def _compared(options: LoadOptions, objectives: dict[str, float], say: Callable[[str], None]) -> Loaded:
    new, old = _named(options, options.service), _named(options, options.against)
    least = options.min_slowdown_percent / 100.0
    rule = SpeedRule(min_slowdown=least, margin=2 * least, looks=interim_looks(options.pairs))
    rate = (options.rates or (10,))[0]
    models: list[str] = []

    def mix_of(running: Started, service: Service) -> Mix:
        mix = _mix(options, running, service)
        models.append(mix.model)
        return mix

    block = block_of(
        mix_of,
        lambda number: arrivals(
            options.arrivals, rate, options.seconds, seed=options.seed + 1000 + number, trace=options.trace
        ),
        options.timeout_s,
    )
    comparison = compare_services(old, new, block, rule=rule, objectives=objectives, seed=options.seed, say=say)
    job = _job(options, new, models[0] if models else new.model)
    job = msgspec.structs.replace(job, rule=rule)
    word, reasons = judged_comparison(recorded := comparison.recorded(old.name), rule)
    reasons = [comparison.ended, *reasons] if comparison.ended else reasons
    reasons += [f"{count} x not counted: {trouble}" for trouble, count in comparison.troubles.items()]
    checked = recorded_comparison(options, job, recorded, comparison.ended)
    worst = max(word, checked.judgement.run.word, key=_GRAVE.index)
    if worst is not word:
        reasons += [verdict.reason for verdict in checked.judgement.verdicts]
    return Loaded(worst, tuple(reasons), comparison=comparison, checked=checked)


def _check_usage(options: LoadOptions) -> None:
    """What would be ignored, or fail after the measurement, is said before it."""
    if options.against and options.require:
        raise UsageError("--require is judged on one service; with --against leave it out, the comparison decides")
    if options.vary and (not options.service or options.against):
        raise UsageError("--vary starts one service again and again: give --service NAME, and no --against")
    if options.restarts > 1 and (not options.service or options.against or options.vary):
        raise UsageError("--restarts starts one service again: give --service NAME, and neither --against nor --vary")
    if options.against and len(options.rates) > 1:
        raise UsageError(f"with --against one --rate is measured, and there are {len(options.rates)}; give one")
    destinations(options.reports)
    load_policy_given(options)
    if options.output is not None and not options.output.absolute().parent.is_dir():
        raise UsageError(f"--output {options.output}: its folder is missing; make it first")


def _mix(options: LoadOptions, running: Started, service: Service) -> Mix:
    key = endpoint_key()
    named = options.model or service.model
    try:
        model = OpenAi(Connection(running.address, timeout_s=options.timeout_s, key=key), named, Vocabulary("")).model
    except EndpointBroke as error:  # before any request: nothing is known of it
        raise EndpointFailed(str(error)) from None
    prompts = read_mix_prompts(options.prompts) if options.prompts else list(_PROMPTS)
    return Mix(running.address, model, prompts, options.tokens or (16,), not options.whole, key)


def _service(options: LoadOptions) -> Service:
    if options.service:
        return _named(options, options.service)
    if not options.address:
        raise UsageError("which service? give its address, http://127.0.0.1:8000/v1, or --service NAME of assay.toml")
    return Service("", options.address)


def _named(options: LoadOptions, name: str) -> Service:
    if not name:
        raise UsageError("two services are compared: give --service NEW and --against OLD, both of assay.toml")
    config = load_config(options.config or Path(DEFAULT_CONFIG))
    known = {service.name: service for service in config.services}
    if name not in known:
        raise UsageError(f"{config.path.name} has no [service.{name}]; it has {', '.join(known) or 'none'}")
    return known[name]


def _objective(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = -1.0
    if name not in MEANINGS or not 0 < limit < math.inf:
        raise UsageError(f"--objective {text!r} is not NAME=MS; write for example ttft=200 (of {', '.join(MEANINGS)})")
    return name, limit
