"""From the words of a command line, or of assay.toml, to a request."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from assay import plugins
from assay.core.case import Inputs
from assay.core.flow import Flow, Option
from assay.errors import UsageError
from assay.ports import Backend, OptionSpec

if TYPE_CHECKING:
    from assay.commands.check import CheckOptions


def parse_bytes(text: str) -> int:
    """`4GB`, `512MiB`, `1000000`. Raises UsageError."""
    from assay.config.value_types import bytes_of

    try:
        return bytes_of(text)
    except ValueError:
        raise UsageError(f"{text!r} is no amount of memory; write for example 4GB or 512MiB") from None


def parse_fill(text: str) -> str:
    """The default where nothing was said. Raises UsageError."""
    from assay.models.random_inputs import FILLS

    if text and text not in FILLS:
        raise UsageError(f"--fill {text!r} is not one of {', '.join(FILLS)}")
    return text or Inputs().fill


def with_stated(inputs: Inputs, options: CheckOptions) -> Inputs:
    """The inputs with the sizes, ranges and values of the command line, which take the place of those that were there. Raises
    UsageError."""
    from assay.config.stated_inputs import stated
    from assay.config.validate_shapes import parse_dims

    asked = parse_dims(_named("--dim", "height=64:96:160", options.dims))
    ranges = _named("--input-range", "mask=0:1", options.input_ranges)
    values = _named("--input-value", "rate=16000", options.input_values)
    kept = {name: sizes for name, sizes in inputs.sizes.items() if name not in asked.dims}
    return msgspec.structs.replace(
        inputs,
        dims={**inputs.dims, **asked.dims},
        sizes={**kept, **asked.sizes},
        ranges={**inputs.ranges, **stated(ranges, values)},
    )


def _named(option: str, example: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """NAME=TEXT each; a name may hold an equals sign in brackets only."""
    pairs = []
    for text in texts:
        name, separator, told = text.rpartition("=")
        if not separator or not name or not told:
            raise UsageError(f"{option} {text!r} is not NAME=...; write for example {option} {example}")
        pairs.append((name, told))
    return pairs


def parse_options(pairs: Sequence[str]) -> dict[str, str]:
    """`key=value` each. Raises UsageError."""
    options = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise UsageError(f"--option {pair!r} is not NAME=VALUE; write for example --option threads=2")
        options[key] = value
    return options


def parse_task_metric(text: str) -> tuple[str | None, dict[str, Option]]:
    """`classification`, or `classification:output=scores,label=truth`: the task metric and its options. Raises UsageError."""
    task, _, told = text.partition(":")
    options: dict[str, Option] = {}
    for part in filter(None, told.split(",")):
        key, separator, value = part.partition("=")
        if not separator or not key or not value:
            raise UsageError(
                f"--task-metric {text!r}: {part!r} is not KEY=VALUE; write for example classification:output=scores"
            )
        options[key] = _number(value)
    return task or None, options


def _number(text: str) -> Option:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def with_options(flows: Sequence[Flow], options: Mapping[str, str]) -> tuple[Flow, ...]:
    """The flows with options spelled by a user, converted to the type that each backend declares.

    What some flow takes and another does not stays a text at the other: its backend refuses it when it lowers, as the
    outcome of that flow, and the others go on. Raises UsageError for what no flow takes.
    """
    refusals: dict[str, list[UsageError]] = {}
    fitted = tuple(_fitted(flow, options, refusals) for flow in flows)
    for found in refusals.values():
        if len(found) == len(flows):
            raise found[0]
    return fitted


def _fitted(flow: Flow, options: Mapping[str, str], refusals: dict[str, list[UsageError]]) -> Flow:
    if not options:
        return flow
    backend: Backend = plugins.load(plugins.BACKENDS, flow.backend)()
    known = {spec.name: spec for spec in backend.options}
    typed: dict[str, Option] = dict(flow.options)
    for key, text in options.items():
        try:
            typed[key] = _typed(flow.backend, key, text, known)
        except UsageError as error:
            refusals.setdefault(key, []).append(error)
            typed[key] = text
    forbidden = {spec.allowance for name, spec in known.items() if typed.get(name, spec.default) is False}
    return msgspec.structs.replace(
        flow,
        options=typed,
        # A backend with such an option says by it where it runs: who lends GPUs looks at the flow's device.
        device=str(typed.get("device", flow.device)) if "device" in known else flow.device,
        allowances=tuple(one for one in flow.allowances if one not in forbidden),
    )


def _typed(backend: str, key: str, text: str, known: Mapping[str, OptionSpec]) -> Option:
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1)
        hint = f"perhaps you mean {near[0]!r}" if near else f"it has {', '.join(sorted(known)) or 'none'}"
        raise UsageError(f"backend {backend!r} has no option {key!r}; {hint}")
    default, choices = known[key].default, known[key].choices
    value: Option = text
    try:
        if isinstance(default, bool):
            value = {"true": True, "false": False}[text.lower()]
        elif isinstance(default, int | float):
            value = type(default)(text)
    except (KeyError, ValueError):
        raise UsageError(f"option {key!r} of {backend!r} is {type(default).__name__}, not {text!r}") from None
    if choices and value not in choices:
        raise UsageError(f"option {key!r} of {backend!r} is one of {', '.join(map(str, choices))}, not {text!r}")
    return value
