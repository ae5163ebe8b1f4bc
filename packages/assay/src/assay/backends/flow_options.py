"""The options of a flow, filled up with a backend's defaults and checked, before anything expensive happens."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.flow import VARIABLE, Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.core.refusals.name_codes import name_hint
from assay.errors import UsageError
from assay.ports import OptionSpec


def resolve_options(specs: Sequence[OptionSpec], flow: Flow) -> dict[str, Option]:
    """Every option of the backend by name: the flow's value, or the default; variables of the process only where they are set.

    Raises UsageError, with what is allowed, for a name the backend does not have or a value it does not take.
    """
    known = {spec.name: spec for spec in specs}
    for name in flow.options:
        if name not in known:
            hint = name_hint(name, known)
            raise UsageError(
                noted(BackendCode.OPTION_UNKNOWN, flow=flow.name, backend=flow.backend, option=name, hint=hint)
            )
    resolved = {name: flow.options.get(name, spec.default) for name, spec in known.items()}
    for name, value in resolved.items():
        _check(known[name], value, flow)
    return {name: value for name, value in resolved.items() if value != "" or not name.startswith(VARIABLE)}


def _check(spec: OptionSpec, value: Option, flow: Flow) -> None:
    if spec.choices and value not in spec.choices:
        raise UsageError(
            noted(
                BackendCode.OPTION_CHOICE,
                flow=flow.name,
                option=spec.name,
                value=repr(value),
                choices=tuple(map(str, spec.choices)),
            )
        )
    # bool is an int to Python, and threads=true is a slip of the pen.
    whole_for_float = isinstance(spec.default, float) and type(value) is int
    if type(value) is not type(spec.default) and not whole_for_float:
        raise UsageError(
            noted(
                BackendCode.OPTION_TYPE,
                flow=flow.name,
                option=spec.name,
                wanted=type(spec.default).__name__,
                value=repr(value),
                default=repr(spec.default),
            )
        )


def positive(options: dict[str, Option], name: str, flow: Flow) -> int:
    """That option as a whole number of at least 1. Raises UsageError."""
    value = options[name]
    if not isinstance(value, int) or value < 1:
        raise UsageError(noted(BackendCode.OPTION_AT_LEAST, flow=flow.name, option=name, least=1, value=repr(value)))
    return value
