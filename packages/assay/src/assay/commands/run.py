"""`assay run` as a function: names resolved, guards held, the pipeline called."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay import plugins
from assay.commands.alerting import rules_for, with_alerts
from assay.commands.backend_options import with_options
from assay.commands.caches import enforce_cache_limit
from assay.commands.composition import open_services
from assay.commands.machine_address import suite_address
from assay.commands.recycling import SUITE_RECYCLE, recycle_of
from assay.commands.remote_machines import RemoteMachines, remote_machines_for_suites
from assay.commands.reporting import destinations, try_to_write
from assay.commands.slurm_array import run_on_slurm
from assay.commands.sources import MINED, NamedModels
from assay.commands.suite_policy import suite_policy, with_known_failures
from assay.core.flow import Flow, Option
from assay.core.limits import Limits, Measuring
from assay.core.result_parts import facts_of
from assay.errors import BrokenFlow, UnknownName, UsageError
from assay.launch.prefork import Preforked
from assay.models.named_sources import is_named
from assay.options.run import SUITE_TIMEOUT_S, RunOptions
from assay.pipeline.adapters import Services
from assay.pipeline.merge import save_run
from assay.pipeline.open_run import Checked
from assay.pipeline.progress import SILENT, Progress
from assay.pipeline.run_suites import SuiteRequest, with_opset
from assay.pipeline.run_suites import run_suites as run_pipeline
from assay.pipeline.suite_cases.durations import read_durations, seconds_of_last_run
from assay.pipeline.suite_cases.suite_select import Selection, parse_shard
from assay.ports import HasVariants, Suite

GROUP = "assay.suites"
LAST = "last"
"""As --durations: the last run of the history."""


def run_suites(
    options: RunOptions,
    progress: Progress = SILENT,
    preforked: Preforked | None = None,
    machines: RemoteMachines | None = None,
) -> Checked:
    """The whole of `assay run`, its printing apart. `preforked` workers, or other `machines`, were begun before. Raises
    UsageError, NotWritable, BrokenFlow, FewerCases."""
    if options.save:
        try_to_write(options.save)
    address = suite_address(options)
    if address.is_slurm:
        return run_on_slurm(options, _request(options), progress, address.text)
    if options.unrecorded and not options.save:
        raise UsageError("--unrecorded keeps the results in a file alone: say in which with --save FILE")
    if options.unrecorded and options.durations == LAST:
        raise UsageError("with --unrecorded no history is read: give --durations a file of `assay merge --durations`")
    if options.durations and not options.shard:
        raise UsageError("--durations shares out cases between shards: say which with --shard I/N, or leave it out")
    reports = destinations(options.reports)
    request = _request(options)
    rules = rules_for(options.alerts, None)
    with open_services(
        options.history,
        workers=options.workers,
        recycle=recycle_of(options, SUITE_RECYCLE),
        progress=progress,
        preforked=preforked,
        machines=machines or remote_machines_for_suites(options),
        unrecorded=options.unrecorded,
    ) as services:
        if options.compare_run:
            request = dataclasses.replace(request, baseline=services.store.run(options.compare_run).id)
        if options.durations == LAST:
            request = _by_last_run(request, services)
        checked = with_alerts(run_pipeline(request, services), services, rules, options.alerts)
        if not options.unrecorded:  # of a shard nobody asks: the whole says it
            checked = with_known_failures(checked, services, options)
    if any(not facts_of(result).reused for result in checked.results):
        enforce_cache_limit()
    if options.save:
        save_run(options.save, checked)
    for destination in reports:
        destination.write(checked)
    return checked


def find_suites(
    names: Sequence[str], limits: Limits | None = None, named: NamedModels | None = None
) -> tuple[Suite, ...]:
    """Each once, in the order named; what has a slash or is a folder here is one of models, `mined:MODELS` the operators of
    models, `SUITE:VARIANT` another list of a suite. `named` collects models that are no files here. Reading a
    user's models is held to `limits`. Raises UnknownName, and UsageError for a variant that it does not have."""
    from assay.suites.folder import Folder
    from assay.suites.mined_operators import Mined

    named = named or NamedModels()
    suites: list[Suite] = []
    for name in dict.fromkeys(names):
        if name.startswith(MINED):
            suites.append(Mined(_local_files(name.removeprefix(MINED), named), limits))
            continue
        known = name in plugins.names(GROUP)
        is_folder = not known and ("/" in name or Path(name).is_dir())
        suites.append(Folder(Path(name), limits) if is_folder else _named(name))
    twice = [name for name, count in Counter(suite.name for suite in suites).items() if count > 1]
    if twice:
        raise UsageError(f"two suites are called '{twice[0]}'; run them one after the other")
    return tuple(suites)


def _local_files(models: str, named: NamedModels) -> str:
    return ",".join(str(named.local(Path(part))) if is_named(part) else part for part in models.split(","))


def _named(name: str) -> Suite:
    kind, colon, variant = name.partition(":")
    if not colon or kind not in plugins.names(GROUP):
        suite: Suite = plugins.load(GROUP, name)()
        return suite
    loaded = plugins.load(GROUP, kind)
    variants = loaded.variants if isinstance(loaded, HasVariants) else ()
    if variant not in variants:
        text = (
            f"it has {', '.join(f'{kind}:{variant_name}' for variant_name in variants)}"
            if variants
            else f"write {kind}"
        )
        raise UsageError(f"suite '{kind}' has no variant '{variant}'; {text}")
    suite_of_variant: Suite = loaded(variant)
    return suite_of_variant


def find_flows(names: Sequence[str], options: Mapping[str, Option] = {}) -> tuple[Flow, ...]:
    """Raises UnknownName for a flow that nobody offers, BrokenFlow for one whose plug-in cannot be imported."""
    if not names:
        raise UsageError("no flow to run on: give --flow (assay flows lists them)")
    return with_options([_flow(name) for name in dict.fromkeys(names)], options)


def _flow(name: str) -> Flow:
    try:
        return plugins.find_flow(name)
    except UnknownName:
        for backend, reason in plugins.catalogue().broken.items():
            if name == backend or name.startswith(f"{backend}-"):
                raise BrokenFlow(f"flow '{name}' cannot be used: {reason}") from None
        raise


def _request(options: RunOptions) -> SuiteRequest:
    limits = Limits(timeout_s=options.timeout_s or SUITE_TIMEOUT_S, memory_bytes=options.memory_bytes or 0)
    if options.repeat_share is not None:
        limits = msgspec.structs.replace(limits, repeat_share=options.repeat_share)
    named = NamedModels()
    suites = find_suites(options.suites, limits, named)
    flows = find_flows(options.flows, options.options)
    names = [suite.name for suite in suites]
    lanes = [*flows, *(with_opset(flow, options.adapt_opset) for flow in flows if options.adapt_opset)]
    policy = suite_policy(options, [flow.name for flow in lanes], names)
    return SuiteRequest(
        suites=suites,
        flows=flows,
        seed=options.seed,
        selection=Selection(
            filters=options.filters,
            dtypes=options.dtypes,
            shard=parse_shard(options.shard),
            seconds=_seconds(options.durations),
        ),
        policy=policy,
        limits=limits,
        command=options.command,
        baseline=options.compare_run,
        only=options.only,
        workers=options.workers,
        accept_counts=options.accept_counts,
        adapt_opset=options.adapt_opset,
        no_cache=options.no_cache,
        measuring=_measuring(options),
        threads=tuple(sorted(set(options.threads) | {1})),
        sources=named.found,
    )


def _seconds(durations: str) -> dict[str, float] | None:
    return read_durations(Path(durations)) if durations not in ("", LAST) else None


def _by_last_run(request: SuiteRequest, services: Services) -> SuiteRequest:
    seconds = seconds_of_last_run(request.command, services.store)
    return dataclasses.replace(request, selection=dataclasses.replace(request.selection, seconds=seconds))


def _measuring(options: RunOptions) -> Measuring | None:
    if options.only_kind not in ("verify", "measure"):
        raise UsageError(f"--only-kind {options.only_kind!r} is neither verify nor measure")
    if options.only_kind == "verify" and options.threads:
        raise UsageError("--threads belongs to --only-kind measure")
    return None if options.only_kind == "verify" else Measuring(seconds=options.measure_seconds, thorough=True)
