"""Options as the values that jobs are made of: the same for the command line, assay.toml and a call in Python."""

from __future__ import annotations

import msgspec

from assay.config.data_options import data_of
from assay.core.case import Inputs
from assay.core.limits import Limits, Measuring
from assay.options.check import LimitOptions
from assay.options.groups import MeasureOptions
from assay.options.input_values import stated
from assay.options.model_groups import InputOptions, StatedOptions


def inputs_of(options: InputOptions, golden: str, source: str) -> Inputs:
    """The recipe of inputs; `golden` and `source` are where a golden and inputs without outputs lie, "" for none. Raises UsageError."""
    data = data_of(
        golden,
        source,
        state=options.state,
        image=options.image,
        tokenizer=str(options.tokenizer),
        most=options.samples or 0,
    )
    plain = Inputs()
    inputs = Inputs(
        "" if data else golden,
        options.seed,
        options.samples or plain.samples,
        options.batch or plain.batch,
        options.calibration,
        fill=options.fill or plain.fill,
        data=data,
        fewer=not options.samples,
    )
    return with_stated(inputs, options)


def with_stated(inputs: Inputs, options: StatedOptions) -> Inputs:
    """The inputs with the sizes, ranges and values that are said, which take the place of those that were there. Raises
    UsageError."""
    sizes = {**inputs.sizes, **{name: dim.listed for name, dim in options.dims.items()}}
    return msgspec.structs.replace(
        inputs,
        dims={**inputs.dims, **{name: (dim.least, dim.usual, dim.most) for name, dim in options.dims.items()}},
        sizes={name: listed for name, listed in sizes.items() if listed},
        ranges={**inputs.ranges, **stated(options.input_ranges, options.input_values)},
    )


def changed_limits(limits: Limits, options: LimitOptions) -> Limits:
    """The limits, with those that are said in their place."""
    limits_by_name = {
        "timeout_s": options.timeout_s,
        "derive_s": options.derive_timeout_s,
        "memory_bytes": options.memory_bytes,
        "repeat_share": options.repeat_share,
    }
    return msgspec.structs.replace(
        limits, **{name: value for name, value in limits_by_name.items() if value is not None}
    )


def changed_measuring(measuring: Measuring, options: MeasureOptions) -> Measuring:
    """What is measured, with what is said in its place."""
    measuring_by_name = {
        "seconds": options.measure_seconds,
        "batches": options.measure_batches or None,
        "threads": options.threads,
    }
    return msgspec.structs.replace(
        measuring, **{name: value for name, value in measuring_by_name.items() if value is not None}
    )
