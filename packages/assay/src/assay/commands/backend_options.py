"""Flows with the options of their backends that a user spelled."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

import msgspec

from assay import plugins
from assay.core.flow import Flow, Option
from assay.errors import UsageError
from assay.ports import Backend, OptionSpec


def with_options(flows: Sequence[Flow], options: Mapping[str, Option]) -> tuple[Flow, ...]:
    """The flows with options spelled by a user, converted to the type that each backend declares.

    What some flow takes and another does not stays a text at the other: its backend refuses it when it lowers, as the
    outcome of that flow, and the others go on. Raises UsageError for what no flow takes.
    """
    refusals: dict[str, list[UsageError]] = {}
    fitted = tuple(_fitted(flow, options, refusals) for flow in flows)
    for refusal in refusals.values():
        if len(refusal) == len(flows):
            raise refusal[0]
    return fitted


def _fitted(flow: Flow, options: Mapping[str, Option], refusals: dict[str, list[UsageError]]) -> Flow:
    if not options:
        return flow
    backend: Backend = plugins.load(plugins.BACKENDS, flow.backend)()
    known = {spec.name: spec for spec in backend.options}
    typed: dict[str, Option] = dict(flow.options)
    for key, value in options.items():
        try:
            typed[key] = _typed(flow.backend, key, value, known)
        except UsageError as error:
            refusals.setdefault(key, []).append(error)
            typed[key] = value
    forbidden = {spec.allowance for name, spec in known.items() if typed.get(name, spec.default) is False}
    return msgspec.structs.replace(
        flow,
        options=typed,
        # A backend with such an option says by it where it runs: who lends GPUs looks at the flow's device.
        device=str(typed.get("device", flow.device)) if "device" in known else flow.device,
        allowances=tuple(allowance for allowance in flow.allowances if allowance not in forbidden),
    )


def _typed(backend: str, key: str, stated: Option, known: Mapping[str, OptionSpec]) -> Option:
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1)
        hint = f"perhaps you mean {near[0]!r}" if near else f"it has {', '.join(sorted(known)) or 'none'}"
        raise UsageError(f"backend {backend!r} has no option {key!r}; {hint}")
    default, choices = known[key].default, known[key].choices
    try:
        value = _like(default, stated)
    except (KeyError, ValueError):
        raise UsageError(f"option {key!r} of {backend!r} is {type(default).__name__}, not {stated!r}") from None
    if choices and value not in choices:
        raise UsageError(f"option {key!r} of {backend!r} is one of {', '.join(map(str, choices))}, not {stated!r}")
    return value


def _like(default: Option, stated: Option) -> Option:
    """What was said, as the type of the default: a text is read, anything else has it already. Raises KeyError, ValueError."""
    if isinstance(stated, str):
        if isinstance(default, bool):
            return {"true": True, "false": False}[stated.lower()]
        return type(default)(stated)
    if isinstance(default, float) and type(stated) is int:
        return float(stated)
    if type(stated) is not type(default):
        raise ValueError(stated)
    return stated
