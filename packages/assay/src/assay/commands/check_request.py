"""What `assay check` is asked, as a request to the pipeline: the command line first, assay.toml behind it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.commands.asked_flows import flows_of
from assay.commands.conflicting_options import reject_unnamed, reject_with_golden
from assay.commands.originals import original_asked, original_listed
from assay.commands.own_data import near, near_data, source_of
from assay.commands.random_cases import with_random_samples
from assay.commands.sources import with_files
from assay.config.assay_toml import Config, load_config, load_policy
from assay.config.option_values import changed_limits, changed_measuring, inputs_of, with_stated
from assay.core.case import Contract, Tolerance
from assay.core.limits import Limits, Measuring
from assay.core.policy import Policy
from assay.errors import UsageError
from assay.judge.requirement import parse_requirement
from assay.judge.speed import with_baseline_goals
from assay.models.named_sources import is_named
from assay.numerics.tolerance.tolerance_tables import DERIVED, table_of
from assay.options.check import CheckOptions
from assay.options.groups import DEFAULT_CONFIG
from assay.options.task_metric import MetricChoice
from assay.pipeline.request import ModelRequest, Request


def read_config(options: CheckOptions) -> Config | None:
    path = options.config or (Path(DEFAULT_CONFIG) if not options.models else None)
    if path is None:
        return None
    if options.config is None and not path.exists():
        raise UsageError(
            "no model given and no assay.toml here: name an ONNX file, or write assay.toml with `assay init`"
        )
    return load_config(path)


def request_of(options: CheckOptions, config: Config | None) -> Request:
    measuring = changed_measuring(config.measuring if config else Measuring(), options)
    policy = load_policy(options.policy) if options.policy else config.policy if config else Policy()
    policy = msgspec.structs.replace(policy, goals=(*policy.goals, *map(parse_requirement, options.require)))
    wanted_measuring = options.only_kind == "measure" or (
        options.only_kind == "all" and (config is None or config.measure)
    )
    if options.baseline:
        policy = with_baseline_goals(policy, measured=wanted_measuring)
    if options.trace and not wanted_measuring:
        raise UsageError(
            "--trace keeps a profile of what is measured, and nothing is: leave --only-kind out, or set enabled = true in [measure]"
        )
    models = _from_arguments(options, config) if options.models else _from_config(options, config)
    request = Request(
        models=with_random_samples(models, options),
        policy=policy,
        limits=changed_limits(config.limits if config else Limits(), options),
        measuring=measuring if wanted_measuring else None,
        verify=options.only_kind in ("verify", "all"),
        per_node=options.per_node or options.only_kind == "per_node",
        compare_speed=options.baseline,
        command=options.command,
        only=options.only,
        save_inputs=options.save_inputs,
        save_outputs=options.save_outputs,
        trace=options.trace,
        no_cache=options.no_cache,
    )
    return with_files(request)


def _from_arguments(options: CheckOptions, config: Config | None) -> tuple[ModelRequest, ...]:
    own = "--golden" if options.golden else "--inputs" if options.inputs else ""
    if own and len(options.models) > 1:
        raise UsageError(f"{own} belongs to one model and {len(options.models)} are given; list them in assay.toml")
    reject_with_golden(options)
    names = options.flows or (() if options.endpoint else (config.use if config else ()) or ("onnxruntime",))
    golden, given = source_of(str(options.golden or "")), source_of(options.inputs)
    inputs = inputs_of(options, golden, given)
    table_of(options.tolerance or DERIVED)
    tolerances = {"*": Tolerance(options.rtol, options.atol)} if (options.rtol, options.atol) != (None, None) else {}
    metric = options.task_metric or MetricChoice("")
    contract = Contract(
        tolerances=tolerances,
        task_metric=metric.name or None,
        task_metric_options=metric.options,
        tolerance=options.tolerance or DERIVED,
    )
    flows = flows_of(names, options, config)
    original = original_asked(options)
    return tuple(
        ModelRequest(path=path, flows=flows, inputs=inputs, contract=contract, original=original)
        for path in options.models
    )


def _chosen(contract: Contract, choice: str) -> Contract:
    """The contract with the tolerance of the command line, where it names one."""
    table_of(choice or DERIVED)
    return msgspec.structs.replace(contract, tolerance=choice) if choice else contract


def _from_config(options: CheckOptions, config: Config | None) -> tuple[ModelRequest, ...]:
    assert config is not None
    reject_unnamed(options)
    if not config.models:
        raise UsageError(f"{config.path.name} lists no [[model]]: add one, or name an ONNX file on the command line")
    return tuple(
        ModelRequest(
            path=one.path if is_named(one.path) else Path(near(one.path)),
            flows=flows_of(options.flows or one.flows or config.use, options, config),
            name=one.name,
            inputs=with_stated(
                msgspec.structs.replace(
                    one.inputs,
                    golden=near(Path(one.inputs.golden)) if one.inputs.golden else "",
                    data=near_data(one.inputs.data),
                    calibration=options.calibration or one.inputs.calibration,
                ),
                options,
            ),
            contract=_chosen(one.contract, options.tolerance),
            random_samples=one.random_samples,
            original=original_listed(one),
        )
        for one in config.models
    )
