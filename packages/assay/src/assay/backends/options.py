"""The options of a flow, filled up with a backend's defaults and checked, before anything expensive happens."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from assay.core.flow import VARIABLE, Flow, Option
from assay.errors import UsageError
from assay.ports import OptionSpec


def resolve_options(specs: Sequence[OptionSpec], flow: Flow) -> dict[str, Option]:
    """Every option of the backend by name: the flow's value, or the default; variables of the process only where they are set.

    Raises UsageError, with what is allowed, for a name the backend does not have or a value it does not take.
    """
    known = {spec.name: spec for spec in specs}
    for name in flow.options:
        if name not in known:
            raise UsageError(_unknown(name, flow, list(known)))
    resolved = {name: flow.options.get(name, spec.default) for name, spec in known.items()}
    for name, value in resolved.items():
        _check(known[name], value, flow)
    return {name: value for name, value in resolved.items() if value != "" or not name.startswith(VARIABLE)}


def _unknown(name: str, flow: Flow, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else f"; it has {', '.join(known) or 'none'}."
    return f'Flow "{flow.name}": backend "{flow.backend}" has no option "{name}"{hint}'


def _check(spec: OptionSpec, value: Option, flow: Flow) -> None:
    if spec.choices and value not in spec.choices:
        allowed = ", ".join(str(choice) for choice in spec.choices)
        raise UsageError(f'Flow "{flow.name}": option "{spec.name}" cannot be {value!r}; use one of: {allowed}.')
    # bool is an int to Python, and threads=true is a slip of the pen.
    whole_for_float = isinstance(spec.default, float) and type(value) is int
    if type(value) is not type(spec.default) and not whole_for_float:
        wanted = type(spec.default).__name__
        raise UsageError(
            f'Flow "{flow.name}": option "{spec.name}" takes {wanted}, not {value!r}; its default is {spec.default!r}.'
        )


def positive(options: dict[str, Option], name: str, flow: Flow) -> int:
    """That option as a whole number of at least 1. Raises UsageError."""
    value = options[name]
    if not isinstance(value, int) or value < 1:
        raise UsageError(f'Flow "{flow.name}": option "{name}" must be at least 1, not {value!r}.')
    return value
