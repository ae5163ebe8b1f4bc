"""The table of `assay flows`: by backend, each flow with its precision and place, and why one cannot run here."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay import plugins
from assay.core.flow import Flow
from assay.errors import HarnessError, UnknownName
from assay.ports import Availability

HIDDEN = ("faulty",)
"""For tests: no way to deploy a model."""


@dataclass(frozen=True)
class FlowLine:
    """One flow and whether it can run here."""

    flow: Flow
    state: Availability


@dataclass(frozen=True)
class Group:
    """The flows of one backend; `broken` says why there are none."""

    backend: str
    lines: tuple[FlowLine, ...]
    broken: str = ""


def flow_groups(history: Path) -> list[Group]:
    """Asked of this interpreter, and of the environments of flows that have one; nothing is built."""
    from assay.faces.environments import open_environments

    found = plugins.catalogue()
    environments = open_environments(history)
    groups = []
    for backend in sorted(found.backends.keys() - set(HIDDEN)):
        own = [flow for flow in found.flows.values() if flow.backend == backend]
        groups.append(
            Group(backend, tuple(FlowLine(flow, state_of(flow, environments.availability(flow))) for flow in own))
        )
    return [*groups, *(Group(name, (), reason) for name, reason in sorted(found.broken.items()))]


def state_of(flow: Flow, backend: Availability) -> Availability:
    """Of the backend, and of the transforms where they run in this interpreter."""
    try:
        parts = [backend, *([] if flow.environment else plugins.transforms_available(flow))]
    except (HarnessError, UnknownName) as error:
        return Availability(available=False, reason=str(error))
    return next((one for one in parts if not one.available), backend)


def flow_table(groups: Sequence[Group], width: int) -> str:
    """No line is wider than `width`, as far as names and commands allow: those are never broken."""
    names = max((len(line.flow.name) for group in groups for line in group.lines), default=0)
    told: list[str] = []
    for group in groups:
        told += _group(group, names, width)
    every = [line for group in groups for line in group.lines]
    here = sum(line.state.available for line in every)
    told += _wrapped(
        f"{here} of {len(every)} flows have what they need installed; assay doctor FLOW tries one", width, ""
    )
    return "\n".join(told) + "\n"


def _group(group: Group, names: int, width: int) -> list[str]:
    if group.broken:
        return [group.backend, *_wrapped(f"broken: {group.broken}", width), ""]
    versions = {line.state.version for line in group.lines if line.state.available and line.state.version}
    reasons = {_reason(line.state) for line in group.lines if not line.state.available}
    shared = len(reasons) == 1 and not versions
    lines = [" ".join([group.backend, *sorted(versions)])]
    if shared:
        lines += _wrapped(next(iter(reasons)), width)
    for line in group.lines:
        mark = "ok " if line.state.available else "-  "
        lines.append(f"  {mark}{line.flow.name:<{names}}  {_about(line.flow)}".rstrip())
        if not line.state.available and not shared:
            lines += _wrapped(_reason(line.state), width)
    return [*lines, ""]


def _about(flow: Flow) -> str:
    where = flow.device if flow.device != "cpu" else ""
    return "  ".join(
        part for part in (flow.precision, where, f"in {flow.environment}" if flow.environment else "") if part
    )


def _reason(state: Availability) -> str:
    return f"not here: {state.reason.rstrip('.')}" + (f"; {state.install}" if state.install else "")


def _wrapped(text: str, width: int, indent: str = " " * 5) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
