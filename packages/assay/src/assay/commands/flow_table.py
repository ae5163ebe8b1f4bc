"""The table of `assay flows`: by backend, each flow with its precision and place, and why one cannot run here."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay import plugins
from assay.commands.trials import Trial, Trials, trial_key, try_flows
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.errors import HarnessError, UnknownName
from assay.judge.outcome_table import OUTCOMES, outcome_words
from assay.judge.words.note_text import note_text
from assay.pipeline.progress import Progress
from assay.ports import Availability

LONGEST = 140
"""Characters of a reason, which is two lines at 80 columns; `assay doctor FLOW` shows all of it."""
OTHER_MODELS = "a flow that has no use for the tiny model may run another one: assay check MODEL.onnx --flow FLOW"
LOWERED = "compiles, cannot run here"

_REMARK = re.compile(r" \([^()]{30,}\)")
_CLAUSE = re.compile(r"[;.](?= )")


@dataclass(frozen=True)
class FlowLine:
    """One flow, whether what it needs is here, and how a tiny model ended on it (None: nobody tried)."""

    flow: Flow
    state: Availability
    trial: Trial | None = None

    @property
    def mark(self) -> str:
        if not self.state.available:
            return "-  "
        if self.trial is None:
            return "?  "
        return "ok " if self.trial.passed else "x  "


@dataclass(frozen=True)
class Group:
    """The flows of one backend; `broken` says why there are none."""

    backend: str
    lines: tuple[FlowLine, ...]
    broken: str = ""


def flow_groups(history: Path, trials: Trials | None = None, *, glance: bool = False) -> list[Group]:
    """Asked of this interpreter, and of the environments of flows that have one; nothing is tried: what is known of earlier trials is
    told. With `glance` no environment is built either, and not every file of one is looked for."""
    from assay.commands.known_environments import open_environments

    catalogue = plugins.catalogue()
    environments = open_environments(history)
    known = trials or Trials()
    ask = environments.at_a_glance if glance else environments.availability
    groups = []
    for backend in sorted(catalogue.backends.keys() - set(plugins.UNLISTED)):
        own = [flow for flow in catalogue.flows.values() if flow.backend == backend]
        groups.append(Group(backend, tuple(_line(flow, state_of(flow, ask(flow)), known) for flow in own)))
    return [*groups, *(Group(name, (), reason) for name, reason in sorted(catalogue.broken.items()))]


def tried(
    groups: Sequence[Group], locks: Path, trials: Trials, progress: Progress, *, again: bool = False
) -> list[Group]:
    """The same after a trial of every flow whose needs are met and that was not tried with these versions; of all of them, `again`."""
    missing = [
        line for group in groups for line in group.lines if line.state.available and (again or line.trial is None)
    ]
    tried_flows = try_flows([line.flow for line in missing], locks, progress) if missing else {}
    trials.keep(
        {
            trial_key(line.flow, line.state): tried_flows[line.flow.name]
            for line in missing
            if line.flow.name in tried_flows
        }
    )
    return [
        replace(
            group, lines=tuple(replace(line, trial=tried_flows.get(line.flow.name, line.trial)) for line in group.lines)
        )
        for group in groups
    ]


def _line(flow: Flow, state: Availability, trials: Trials) -> FlowLine:
    return FlowLine(flow, state, trials.find(trial_key(flow, state)) if state.available else None)


def state_of(flow: Flow, backend: Availability) -> Availability:
    """Of the backend, and of the transforms where they run in this interpreter."""
    try:
        parts = [backend, *([] if flow.environment else plugins.transforms_available(flow))]
    except (HarnessError, UnknownName) as error:
        return Availability(available=False, reason=error.reason)
    return next((part for part in parts if not part.available), backend)


def flow_table(groups: Sequence[Group], width: int) -> str:
    """No line is wider than `width`, as far as names and commands allow: those are never broken."""
    names = max((len(line.flow.name) for group in groups for line in group.lines), default=0)
    lines: list[str] = []
    for group in groups:
        lines += _group(group, names, width)
    every = [line for group in groups for line in group.lines]
    for line in (_summary(every), *_advice(every)):
        lines += _wrapped(line, width, "")
    return "\n".join(lines) + "\n"


def _summary(lines: Sequence[FlowLine]) -> str:
    marks = Counter(line.mark.strip() for line in lines)
    fixed = sum(line.trial is not None and line.trial.fixed for line in lines if line.state.available)
    some = f", {fixed} of them with fixed sizes only" if fixed else ""
    parts = [f"{marks['ok']} of {len(lines)} flows run here (a tiny model passed{some})"]
    if marks["x"]:
        parts.append(f"{marks['x']} do not, though installed (x)")
    if marks["?"]:
        parts.append(f"{marks['?']} were not tried (?)")
    return "; ".join(parts) + "; assay doctor FLOW explains one"


def _advice(lines: Sequence[FlowLine]) -> list[str]:
    """What to do about the outcomes of the table, each once."""
    outcomes = {line.trial.outcome for line in lines if line.state.available and line.trial is not None}
    steps = {Outcome.OTHER_PRECISION: OUTCOMES[Outcome.OTHER_PRECISION].advice, Outcome.UNSUPPORTED: OTHER_MODELS}
    return [f"{outcome_words(outcome.value)}: {step}" for outcome, step in steps.items() if outcome.value in outcomes]


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
        lines.append(f"  {line.mark}{line.flow.name:<{names}}  {_about(line)}".rstrip())
        if not line.state.available and not shared:
            lines += _wrapped(_reason(line.state), width)
        if line.trial is not None and line.state.available:
            lines += _wrapped(_ended(line.trial), width)
    return [*lines, ""]


def _ended(trial: Trial) -> str:
    """ "" for a flow that is simply ok."""
    if trial.fixed:
        return f"with a free batch: {shortened(trial.detail)}"
    if trial.passed:
        return ""
    if trial.outcome == Outcome.LOWERED.value:
        return f"{LOWERED}: {shortened(trial.detail)}"
    return f"{outcome_words(trial.outcome)}: {shortened(trial.detail)}".rstrip(": ")


def shortened(text: str, longest: int = LONGEST) -> str:
    """Of a text above `longest` characters: without long remarks in brackets, then as many whole clauses as fit, or as many whole
    words."""
    text = text.rstrip(". ")
    if len(text) <= longest:
        return text
    text = _REMARK.sub("", text)
    if len(text) <= longest:
        return text
    ends = [match.start() for match in _CLAUSE.finditer(text) if longest // 3 <= match.start() <= longest]
    return text[: ends[-1]] if ends else textwrap.shorten(text, longest, placeholder=" ...", break_on_hyphens=False)


def _about(line: FlowLine) -> str:
    flow = line.flow
    where = flow.device if flow.device != "cpu" else ""
    inside = f"in {flow.environment}" if flow.environment else ""
    sizes = "fixed sizes only" if line.state.available and line.trial is not None and line.trial.fixed else ""
    return "  ".join(part for part in (flow.precision, where, inside, sizes) if part)


def _reason(state: Availability) -> str:
    return f"not here: {shortened(note_text(state.reason))}" + (f"; {state.install}" if state.install else "")


def _wrapped(text: str, width: int, indent: str = " " * 5) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
