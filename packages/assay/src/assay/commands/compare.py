"""`assay compare` as a function: from a user's words to a comparison."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from assay import plugins
from assay.commands.alerting import rules_for, with_alerts
from assay.commands.backend_options import with_options
from assay.commands.composition import open_services
from assay.commands.reporting import destinations
from assay.commands.sources import NamedModels
from assay.config.assay_toml import load_policy
from assay.core.case import Inputs
from assay.core.limits import Limits, Measuring
from assay.core.policy import Policy
from assay.core.speed import SpeedRule, interim_looks
from assay.errors import UsageError
from assay.judge.speed import with_baseline_goals
from assay.options.compare import CompareOptions
from assay.pipeline.compare import CompareRequest
from assay.pipeline.compare import compare as run_pipeline
from assay.pipeline.open_run import Checked
from assay.pipeline.progress import SILENT, Progress
from assay.pipeline.provenance import usable_cores


def run_compare(options: CompareOptions, progress: Progress = SILENT) -> Checked:
    """The whole of `assay compare`, its printing apart. Raises UsageError for what cannot be compared."""
    reports = destinations(options.reports)
    rules = rules_for(options.alerts, None)
    request = compare_request(options)
    # With more threads than cores nothing is measured: the comparison says why.
    if options.threads <= usable_cores():
        measuring = Measuring(batches=_smallest(options), threads=options.threads)
        request = replace(request, measuring=measuring, policy=with_baseline_goals(request.policy, measured=True))
    with open_services(options.history, progress=progress) as services:
        checked = with_alerts(run_pipeline(request, services), services, rules, options.alerts)
    for destination in reports:
        destination.write(checked)
    return checked


def _smallest(options: CompareOptions) -> tuple[int, ...]:
    """Of a sweep the smallest batch size: speed is compared at each, memory at one."""
    return (min(options.batches),) if options.batches else ()


def compare_request(options: CompareOptions) -> CompareRequest:
    """What is asked of the pipeline. Raises UsageError."""
    if len(options.models) > 2 or len(options.flows) > 2:
        raise UsageError("two engines are compared: give at most two models and two flows")
    names = options.flows or ("onnxruntime",)
    named = NamedModels()
    old, new = named.local(options.models[0]), named.local(options.models[-1])
    old_flow, new_flow = plugins.find_flow(names[0]), plugins.find_flow(names[-1])
    (new_flow,) = with_options([new_flow], options.options)
    if old == new and old_flow == new_flow and len(options.models) + len(options.flows) < 3:
        raise UsageError("nothing to compare: give a second model, a second --flow, or an --option of the new one")
    policy = load_policy(options.policy) if options.policy else Policy()
    # Seeded inputs of one row: whatever batch is asked for is made of them.
    batches = tuple(sorted(set(options.batches)))
    return CompareRequest(
        old=old,
        new=new,
        old_flow=old_flow,
        new_flow=new_flow,
        inputs=Inputs(str(options.golden) if options.golden else "", options.seed, 1, 1),
        policy=msgspec.structs.replace(policy, speed=_rule(policy.speed, options)),
        limits=Limits(timeout_s=options.timeout_s),
        batches=batches,
        threads=options.threads,
        command=options.command,
        sources=named.found,
    )


def _rule(rule: SpeedRule, options: CompareOptions) -> SpeedRule:
    if options.min_slowdown_percent is not None:
        least = options.min_slowdown_percent / 100.0
        rule = msgspec.structs.replace(rule, min_slowdown=least, margin=2.0 * least if least else rule.margin)
    if options.launches is not None:
        rule = msgspec.structs.replace(rule, looks=interim_looks(options.launches))
    return rule
