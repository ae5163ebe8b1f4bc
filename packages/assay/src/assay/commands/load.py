"""`assay load` as a function: from a user's words to figures of a service, or to which of two is slower."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.config.assay_toml import load_config
from assay.core.service import Service
from assay.core.speed import SpeedRule, interim_looks
from assay.core.verdict import VerdictStatus
from assay.endpoints.connection import Connection, endpoint_key
from assay.endpoints.openai import OpenAi, Vocabulary
from assay.errors import EndpointFailed, UsageError
from assay.options.groups import DEFAULT_CONFIG
from assay.options.load import LoadOptions
from assay.serving.arrivals import arrivals
from assay.serving.comparison import Comparison, block_of, compare_services
from assay.serving.generator import generate
from assay.serving.knee import Curve, curve
from assay.serving.requests import Mix, read_mix_prompts
from assay.serving.result_files import read_results
from assay.serving.started import Started, started
from assay.serving.summary import MEANINGS, LoadSummary, is_late, summarize

_LIMIT = re.compile(r"\s*(\w+)\s*(>=|<=)\s*([0-9.eE+-]+)\s*")
_PROMPTS: tuple[str, ...] = ("The quick brown fox", "A class definition is", "If the module is not found")


@dataclass(frozen=True)
class Loaded:
    """What was measured, and what it is worth. `curve` of one service or of a file, `comparison` of two."""

    word: VerdictStatus
    reasons: tuple[str, ...]
    curve: Curve | None = None
    comparison: Comparison | None = None


def run_load(options: LoadOptions, say: Callable[[str], None] = lambda text: None) -> Loaded:
    """The whole of `assay load`, its printing apart. Raises UsageError, and EndpointFailed where a service does not answer."""
    limits = [_limit(text) for text in options.require]
    _check_usage(options)
    objectives = dict(_objective(text) for text in options.objectives)
    if options.results is not None:
        return _judged(Curve(((math.nan, read_results(options.results)),), None), limits)
    if options.against:
        return _compared(options, objectives, say)
    service = _service(options)
    with started(service) as running:
        mix = _mix(options, running, service)

        def load(rate: float) -> LoadSummary:
            found = _at_rate(options, mix, rate, objectives, say)
            if not running.alive:
                raise EndpointFailed(
                    f"service {service.name!r} ended at {rate:g} requests a second: start it by hand and read what it says"
                )
            return found

        found = curve(options.rates or (10,), load)
    return _judged(found, limits)


def _at_rate(
    options: LoadOptions, mix: Mix, rate: float, objectives: Mapping[str, float], say: Callable[[str], None]
) -> LoadSummary:
    say(f"{rate:g} requests a second for {options.seconds:g} s")
    times = arrivals(options.arrivals, rate, options.seconds, seed=options.seed, trace=options.trace)
    return summarize(generate(mix, times, timeout_s=options.timeout_s), objectives)


def _compared(options: LoadOptions, objectives: dict[str, float], say: Callable[[str], None]) -> Loaded:
    new, old = _named(options, options.service), _named(options, options.against)
    least = options.min_slowdown_percent / 100.0
    rule = SpeedRule(min_slowdown=least, margin=2 * least, looks=interim_looks(options.pairs))
    rate = (options.rates or (10,))[0]
    block = block_of(
        lambda running, service: _mix(options, running, service),
        lambda number: arrivals(
            options.arrivals, rate, options.seconds, seed=options.seed + 1000 + number, trace=options.trace
        ),
        options.timeout_s,
    )
    found = compare_services(old, new, block, rule=rule, objectives=objectives, seed=options.seed, say=say)
    words = {"slower": VerdictStatus.FAIL, "inconclusive": VerdictStatus.INCONCLUSIVE}
    reasons = [f"{found.word}: {new.name} against {old.name}, {len(found.pairs)} restarts of both"]
    reasons += [f"{count} x not counted: {trouble}" for trouble, count in found.troubles.items()]
    if any(found.failed):
        reasons.append(
            f"failed requests: {found.failed[0]} of the old, {found.failed[1]} of the new, of {found.sent} each"
        )
    for name, answer in found.answers.items():
        percent = 100 * math.expm1(answer.mean)
        low, high = (100 * math.expm1(one) for one in (answer.low, answer.high))
        reasons.append(
            f"{name}: {answer.word}, {percent:+.1f} % ({low:+.1f} to {high:+.1f}); {found.old[name]:.4g} -> {found.new[name]:.4g}"
        )
    return Loaded(words.get(found.word, VerdictStatus.PASS), tuple(reasons), comparison=found)


Limit = tuple[str, str, float]
"""A figure, <= or >=, and a number."""


def _check_usage(options: LoadOptions) -> None:
    """What would be ignored, or fail after the measurement, is said before it."""
    if options.against and options.require:
        raise UsageError("--require is judged on one service; with --against leave it out, the comparison decides")
    if options.against and len(options.rates) > 1:
        raise UsageError(f"with --against one --rate is measured, and there are {len(options.rates)}; give one")
    if options.output is not None and not options.output.absolute().parent.is_dir():
        raise UsageError(f"--output {options.output}: its folder is missing; make it first")


def _judged(found: Curve, limits: Sequence[Limit]) -> Loaded:
    """Each point keeps every limit; a figure that its samples do not allow keeps none, and decides nothing. An interval that holds the
    limit is inconclusive. Failed requests fail a point that has no limit on `errors`, and more than half of them any."""
    fails: list[str] = []
    open_: list[str] = []
    for rate, summary in found.points:
        more, others = _point(summary, limits)
        where = "" if math.isnan(rate) else f"at {rate:g} a second: "
        fails += [where + reason for reason in more]
        open_ += [where + reason for reason in others]
    if found.skipped:
        rates = ", ".join(f"{rate:g}" for rate in found.skipped)
        open_.append(f"not measured, since more than half failed at a lower rate: {rates} a second")
    word = VerdictStatus.FAIL if fails else VerdictStatus.INCONCLUSIVE if open_ else VerdictStatus.PASS
    return Loaded(word, (*fails, *open_), found)


def _point(summary: LoadSummary, limits: Sequence[Limit]) -> tuple[list[str], list[str]]:
    """Why it fails, and what is not decided."""
    fails: list[str] = []
    open_: list[str] = []
    metrics = summary.metrics
    errors, requests = metrics.get("errors", 0.0), metrics.get("requests", math.inf)
    kinds = f": {', '.join(summary.errors)}" if summary.errors else ""
    if errors == requests:
        fails.append(f"no request was answered{kinds}")
    elif 2 * errors > requests:
        fails.append(f"more than half of the requests failed, {errors:g} of {requests:g}{kinds}")
    elif errors > 0 and all(name != "errors" for name, _, _ in limits):
        fails.append(f'{errors:g} of {requests:g} requests failed{kinds}; allow some with --require "errors <= NUMBER"')
    if metrics.get("valid") == 0.0:
        return fails, [*open_, "the tool itself calls this run invalid: no limit is decided"]
    if limits and "sender_late_p99_ms" in metrics and is_late(metrics):
        return fails, [*open_, "the sender itself was late: no limit is decided"]
    for name, operator, limit in limits:
        seen = metrics.get(name)
        if seen is None or math.isnan(seen):
            open_.append(f"{name} is not known; there are {', '.join(sorted(metrics))}")
            continue
        low, high = summary.intervals.get(name, (seen, seen))
        if (low > limit) if operator == "<=" else (high < limit):
            fails.append(f"{name} is {seen:.4g}, allowed is {operator} {limit:g}")
        elif (high > limit) if operator == "<=" else (low < limit):
            open_.append(
                f"{name} is {seen:.4g} ({low:.4g} to {high:.4g}), too few to decide {operator} {limit:g}: measure longer"
            )
    return fails, open_


def _mix(options: LoadOptions, running: Started, service: Service) -> Mix:
    key = endpoint_key()
    named = options.model or service.model
    model = OpenAi(Connection(running.address, timeout_s=options.timeout_s, key=key), named, Vocabulary("")).model
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
    known = {one.name: one for one in config.services}
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


def _limit(text: str) -> Limit:
    parts = _LIMIT.fullmatch(text)
    try:
        limit = float(parts[3]) if parts is not None else math.nan
    except ValueError:
        limit = math.nan
    if parts is None or not math.isfinite(limit):
        raise UsageError(
            f'--require {text!r} is not FIGURE <= NUMBER or FIGURE >= NUMBER; write for example "ttft_p50_ms <= 200"'
        )
    return parts[1], parts[2], limit
