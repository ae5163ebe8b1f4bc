"""What `assay check` is asked, as a request to the pipeline: the command line first, assay.toml behind it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay import plugins
from assay.commands.asked_flows import flows_of
from assay.commands.data_locations import near, near_data, source_of
from assay.commands.sources import with_files
from assay.commands.task_goals import reject_unmeasured_tasks
from assay.config.assay_toml import Config, load_config, load_policy
from assay.config.option_values import changed_limits, changed_measuring, inputs_of, with_stated
from assay.core.case import Contract, Inputs, Tolerance
from assay.core.limits import Limits, Measuring
from assay.core.policy import Policy
from assay.errors import UsageError
from assay.judge.requirement import parse_requirement
from assay.judge.speed import with_baseline_goals
from assay.models.named_sources import is_named
from assay.models.own_data.functions import is_function
from assay.models.sources import source_name
from assay.numerics.tolerance.tolerance_tables import DERIVED, table_of
from assay.options.check import CheckOptions
from assay.options.declaration import rows
from assay.options.groups import DEFAULT_CONFIG
from assay.options.task_metric import MetricChoice
from assay.pipeline.references.originals import OriginalRequest
from assay.pipeline.request import ModelRequest, Request

if TYPE_CHECKING:
    from assay.config.model_entries import ModelEntry


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
    reject_unmeasured_tasks(policy.goals, models, listed=not options.models)
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
    golden, input_source = source_of(str(options.golden or "")), source_of(options.inputs)
    inputs = inputs_of(options, golden, input_source)
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
            path=model.path if is_named(model.path) else Path(near(model.path)),
            flows=flows_of(options.flows or model.flows or config.use, options, config),
            name=model.name,
            inputs=with_stated(
                msgspec.structs.replace(
                    model.inputs,
                    golden=near(Path(model.inputs.golden)) if model.inputs.golden else "",
                    data=near_data(model.inputs.data),
                    calibration=options.calibration or model.inputs.calibration,
                ),
                options,
            ),
            contract=_chosen(model.contract, options.tolerance),
            random_samples=model.random_samples,
            original=original_listed(model),
        )
        for model in config.models
    )


def reject_with_golden(options: CheckOptions) -> None:
    """How inputs are drawn says nothing of those that a golden stores. Raises UsageError where both are given."""
    source = str(options.golden or options.inputs)
    # How many are wanted is a question to a function, which may have no end.
    samples = None if is_function(source) else options.samples
    flags = {"--samples": samples, "--batch": options.batch, "--fill": options.fill}
    if options.golden and (named := _given(flags)):
        raise UsageError(
            f"{named} cannot go with --golden {options.golden}: a golden brings its own inputs, and all of them "
            "are run; leave out one of the two, or record another with `assay golden record`"
        )
    if options.inputs and (named := _given(flags)):
        raise UsageError(f"{named} cannot go with --inputs {options.inputs}: all of the inputs are run as they are")


def reject_unnamed(options: CheckOptions) -> None:
    """What each [[model]] of assay.toml says for itself. Raises UsageError where the command line says it of all."""
    flags = {row.flag: getattr(options, row.name) != row.default for row in rows(CheckOptions) if row.of_model}
    if named := _given(flags):
        raise UsageError(
            f"{named} cannot go with the models of assay.toml, each of which says so itself: write it there, or name a model "
            "on the command line"
        )


def _given(options: Mapping[str, object]) -> str:
    return " and ".join(name for name, value in options.items() if value)


def original_asked(options: CheckOptions) -> OriginalRequest | None:
    """Of the command line; None where nobody asks. Raises UsageError for options that say nothing alone."""
    if options.golden_of_another_model and options.reference:
        raise UsageError(
            "--golden-of-another-model cannot go with --reference, whose golden --golden is already: leave one of them out"
        )
    if options.golden_of_another_model and not options.golden:
        raise UsageError("--golden-of-another-model says whose golden it is, and there is none: give it with --golden")
    maps = {"--map-input": options.map_inputs, "--map-output": options.map_outputs}
    if options.reference is None and not options.golden_of_another_model:
        if named := " and ".join(name for name, names in maps.items() if names):
            raise UsageError(f"{named} maps names of a model to those of its reference: give that with --reference")
        return None
    return OriginalRequest(path=options.reference, inputs=dict(options.map_inputs), outputs=dict(options.map_outputs))


def original_listed(entry: ModelEntry) -> OriginalRequest | None:
    """Of one [[model]]. Raises UsageError as above."""
    if entry.golden_of_another_model and not entry.inputs.golden:
        raise UsageError(f"model '{entry.name}': golden-of-another-model says whose golden it is: give it, too")
    if entry.golden_of_another_model and entry.reference:
        raise UsageError(
            f"model '{entry.name}': golden-of-another-model cannot go with reference: leave one of them out"
        )
    if not entry.reference and not entry.golden_of_another_model:
        if entry.map_inputs or entry.map_outputs:
            raise UsageError(f"model '{entry.name}': map-inputs and map-outputs need a reference: give it, too")
        return None
    path = _near(entry.reference) if entry.reference else None
    return OriginalRequest(path=path, inputs=entry.map_inputs, outputs=entry.map_outputs)


def _near(path: str) -> Path:
    if is_named(path):
        return Path(path)
    absolute = Path(os.path.abspath(path))
    return Path(os.path.relpath(absolute)) if absolute.is_relative_to(Path.cwd()) else absolute


BATCH = 2
"""In a batch of one, nobody sees an item that was left over from another."""
SUFFIX = "-random"


def with_random_samples(models: Sequence[ModelRequest], options: CheckOptions) -> tuple[ModelRequest, ...]:
    """Behind each model that asks for it a case of its own, verified against the model in double. Raises UsageError where
    there is no golden to draw beside."""
    asked = [
        model if options.random_samples is None else replace(model, random_samples=options.random_samples)
        for model in models
    ]
    if any(model_request.random_samples for model_request in asked) and not any(
        model_request.random_samples and model_request.inputs.golden for model_request in asked
    ):
        raise UsageError(
            "random samples go beside a golden, and there is none: give one, or leave out --random-samples (random-samples in "
            "assay.toml): without a golden all inputs are random, as many as --samples says"
        )
    return tuple(both for model_request in asked for both in (model_request, *_drawn(model_request)))


def _drawn(model: ModelRequest) -> tuple[ModelRequest, ...]:
    """Flows that are calibrated on the golden are left out: other inputs lie beyond the range that they were promised."""
    flows = tuple(flow for flow in model.flows if not any(map(plugins.is_calibrated, flow.transforms)))
    if not model.random_samples or not model.inputs.golden or not flows:
        return ()
    inputs = Inputs(seed=model.inputs.seed, samples=model.random_samples, batch=BATCH, fill=model.inputs.fill)
    contract = msgspec.structs.replace(model.contract, task_metric=None, task_metric_options={})
    name = f"{model.name or source_name(model.path)}{SUFFIX}"
    return (replace(model, name=name, flows=flows, inputs=inputs, contract=contract, random_samples=0, verified=True),)
