"""Options as the values that jobs are made of: the same for the command line, assay.toml and a call in Python."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay.core.case import Case, Inputs
from assay.core.data import Data, Picture
from assay.core.dtype import is_floating
from assay.core.limits import Limits, Measuring
from assay.errors import UsageError
from assay.models.golden_checks import FILES, LOCK
from assay.models.own_data.functions import is_function
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


def is_data(source: str) -> bool:
    """Whether it is there and no golden folder: a function, a file, or a folder without a lock and without a golden's files."""
    path = Path(source)
    if is_function(source):
        return True
    if not path.is_dir():
        return path.is_file()
    return not any((path / name).exists() for name in (LOCK, *FILES.values()))


def data_of(
    golden: str,
    inputs: str,
    *,
    state: Mapping[str, str],
    image: Picture | None,
    tokenizer: str = "",
    most: int = 0,
) -> Data | None:
    """What is to be read before anything runs; None where a golden folder serves as it is, or nothing was given. Raises
    UsageError for options that say nothing of what was given."""
    if golden and inputs:
        raise UsageError(f"--golden {golden} and --inputs {inputs} both bring inputs; give one of them")
    if not golden and not inputs:
        if image or state or tokenizer:
            raise UsageError(
                "--image, --state and --tokenizer say how given data are read, and none are given: add --inputs or --golden"
            )
        return None
    if golden and not is_data(golden) and not state:
        return None
    return Data(golden or inputs, bool(golden), image, dict(state), most, tokenizer)


def check_stated(case: Case) -> None:
    """Raises UsageError for an input that the model does not have, and for numbers that it cannot hold."""
    known = {spec.name: spec for spec in case.model.inputs}
    for name, input_range in case.inputs.ranges.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            instead = f"perhaps you mean '{near[0]}'" if near else f"it has {', '.join(known) or 'none'}"
            raise UsageError(f"model '{case.name}' has no input '{name}'; {instead}")
        dtype = known[name].dtype
        if dtype == "string":
            raise UsageError(f"input '{name}' of model '{case.name}' takes texts, not numbers; give a golden")
        if case.inputs.golden or case.inputs.data is not None or case.inputs.given:
            raise UsageError(
                f"a range or a value of input '{name}' cannot go with a golden, which brings its own inputs"
            )
        numbers = input_range.choices or tuple(end for end in (input_range.low, input_range.high) if end is not None)
        if not is_floating(dtype) and not dtype.startswith("complex") and any(number % 1 for number in numbers):
            raise UsageError(f"input '{name}' of model '{case.name}' is {dtype}: state whole numbers")
        if (dtype == "bool" and not {*numbers} <= {0, 1}) or (dtype.startswith("uint") and min(numbers) < 0):
            raise UsageError(f"input '{name}' of model '{case.name}' is {dtype}, which does not hold {min(numbers):g}")
