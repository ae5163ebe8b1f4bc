"""From the words of a command line, or of assay.toml, to a request."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

import msgspec

from assay import plugins
from assay.core.flow import Flow, Option
from assay.errors import UsageError
from assay.ports import Backend

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def parse_bytes(text: str) -> int:
    """`4GB`, `512MiB`, `1000000`. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if not match or match[2].lower() not in _UNITS:
        raise UsageError(f"{text!r} is no amount of memory; write for example 4GB or 512MiB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def parse_dims(texts: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """`batch=1:4:16` each: the least, the usual and the largest size. Raises UsageError."""
    dims = {}
    for text in texts:
        found = re.fullmatch(r"([^=]+)=(\d+):(\d+):(\d+)", text)
        if not found:
            raise UsageError(f"--dim {text!r} is not NAME=LEAST:USUAL:LARGEST; write for example --dim batch=1:4:16")
        dims[found[1]] = (int(found[2]), int(found[3]), int(found[4]))
    return dims


def parse_options(pairs: Sequence[str]) -> dict[str, str]:
    """`key=value` each. Raises UsageError."""
    options = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise UsageError(f"--option {pair!r} is not NAME=VALUE; write for example --option threads=2")
        options[key] = value
    return options


def with_options(flow: Flow, options: Mapping[str, str]) -> Flow:
    """The flow with options spelled by a user, converted to the type the backend declares. Raises UsageError."""
    if not options:
        return flow
    backend: Backend = plugins.load(plugins.BACKENDS, flow.backend)()
    known = {spec.name: spec for spec in backend.options}
    typed: dict[str, Option] = dict(flow.options)
    for key, text in options.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"perhaps you mean {near[0]!r}" if near else f"it has {', '.join(sorted(known)) or 'none'}"
            raise UsageError(f"backend {flow.backend!r} has no option {key!r}; {hint}")
        typed[key] = _typed(flow.backend, key, text, known[key].default, known[key].choices)
    forbidden = {spec.allowance for name, spec in known.items() if typed.get(name, spec.default) is False}
    return msgspec.structs.replace(
        flow,
        options=typed,
        # A backend with such an option says by it where it runs: who lends GPUs looks at the flow's device.
        device=str(typed.get("device", flow.device)),
        allowances=tuple(one for one in flow.allowances if one not in forbidden),
    )


def _typed(backend: str, key: str, text: str, default: Option, choices: Sequence[Option]) -> Option:
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
