"""The options that say what a job is: its flow, its inputs, its contract, its limits."""

from __future__ import annotations

from typing import Any

from assay.core.case import Case, Contract, Inputs
from assay.core.environment import SEPARATOR
from assay.core.flow import Flow
from assay.core.limits import Limits, Measuring
from assay.options.sizes import Sizes
from assay.options.task_metric import MetricChoice

Values = dict[str, Any]
"""Of options by name."""


def model_values(case: Case) -> Values:
    """The model's file. One that is called "-x.onnx" would be read as an option."""
    source = case.model.source
    return {"models": (f"./{source}" if source.startswith("-") else source,)}


def flow_values(flow: Flow) -> Values:
    """The flow with every option spelled out. Transforms that a user added stand in its name, behind a plus; said apart, any
    argument of theirs survives."""
    plain, _, added = flow.name.partition("+")
    options = dict(sorted(flow.options.items()))
    if not added:
        return {"flows": (flow.name,), "options": options}
    name = f"{plain}{SEPARATOR}{flow.environment}" if flow.environment else plain
    return {"flows": (name,), "options": options, "transforms": flow.transforms}


def original_values(case: Case) -> Values:
    """The model that this one is to be still."""
    original = case.original
    if original is None:
        return {}
    return {
        "reference": original.model.source,
        "golden": original.golden,
        "golden_of_another_model": bool(original.golden) and not original.model.source,
        "map_inputs": {new: old for new, old in original.inputs.items() if new != old},
        "map_outputs": {new: old for new, old in original.outputs.items() if new != old},
    }


def input_values(case: Case) -> Values:
    """Where the inputs come from; seed, samples and batch also where they are the defaults."""
    inputs = case.inputs
    plain = Inputs()
    values: Values = {"inputs": inputs.given, "calibration": inputs.calibration or None}
    if inputs.golden:
        values["golden"] = inputs.golden
    if not inputs.given or inputs.seed != plain.seed:
        values["seed"] = inputs.seed
    if not inputs.golden and not inputs.given:
        values |= {"samples": inputs.samples, "batch": inputs.batch}
        values["fill"] = inputs.fill if inputs.fill != plain.fill else ""
    return values | {
        "dims": {name: Sizes(*sizes, inputs.sizes.get(name, ())) for name, sizes in inputs.dims.items()},
        "input_ranges": {name: input_range for name, input_range in inputs.ranges.items() if not input_range.choices},
        "input_values": {name: input_range for name, input_range in inputs.ranges.items() if input_range.choices},
    }


def contract_values(contract: Contract) -> Values:
    """What the outputs are judged by."""
    allowed = contract.tolerances.get("*")
    named = contract.task_metric
    return {
        "task_metric": MetricChoice(named, contract.task_metric_options) if named else None,
        "tolerance": contract.tolerance if contract.tolerance != Contract().tolerance else "",
        "rtol": allowed.rtol if allowed else None,
        "atol": allowed.atol if allowed else None,
    }


def measuring_values(measuring: Measuring) -> Values:
    """What differs from the defaults."""
    plain = Measuring()
    return {
        "measure_seconds": measuring.seconds if measuring.seconds != plain.seconds else None,
        "measure_batches": measuring.batches,
        "threads": measuring.threads if measuring.threads != plain.threads else None,
    }


def limit_values(limits: Limits) -> Values:
    """What differs from the defaults."""
    plain = Limits()
    return {
        "timeout_s": limits.timeout_s if limits.timeout_s != plain.timeout_s else None,
        "derive_timeout_s": limits.derive_s if limits.derive_s != plain.derive_s else None,
        "repeat_share": limits.repeat_share if limits.repeat_share != plain.repeat_share else None,
        "memory_bytes": limits.memory_bytes if limits.memory_bytes != plain.memory_bytes else None,
    }
