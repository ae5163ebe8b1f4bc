"""`assay doctor`: why a flow does not run here, or that it does."""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.common import History
from assay.judge.words.note_text import note_text
from assay.options.groups import DEFAULT_HISTORY

if TYPE_CHECKING:
    from assay.commands.doctor import Diagnosis
    from assay.core.result import Result


def doctor(
    flow: Annotated[str, typer.Argument(metavar="[FLOW]", help="None: the machine, the history, all flows.")] = "",
    history: History = DEFAULT_HISTORY,
) -> None:
    folder = Path(DEFAULT_HISTORY if "://" in history else history)
    if not flow:
        _everything(history, folder)
        return
    from assay.commands.doctor import diagnose

    diagnosis = diagnose(flow, folder)
    for name, text in _explained(diagnosis):
        print(_row(name, text))
    if not diagnosis.healthy:
        raise typer.Exit(1)


def _row(name: str, text: str) -> str:
    """On a screen in lines of its width, all but the first set in; else one line."""
    sentence = f"{name:<12} {text}"
    if not sys.stdout.isatty():
        return sentence
    width = shutil.get_terminal_size().columns
    return textwrap.fill(sentence, width, subsequent_indent=" " * 13, break_long_words=False, break_on_hyphens=False)


def _explained(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    flow, state = diagnosis.flow, diagnosis.state
    parts = [f"backend {flow.backend}", f"precision {flow.precision}", f"device {flow.device}"]
    rows = [("flow", f"{flow.name}: {', '.join(parts)}")]
    if flow.options:
        rows.append(("options", ", ".join(f"{name}={value}" for name, value in flow.options.items())))
    if flow.transforms:
        rows.append(("transforms", ", ".join(flow.transforms)))
    if flow.environment:
        rows.append(("environment", f"{flow.environment}: {diagnosis.environment}"))
    if state.version:
        rows.append(("installed", f"{flow.backend} {state.version}"))
    if diagnosis.asked:
        rows.append(("tested with", ", ".join(diagnosis.asked)))
    if not state.available:
        return [*rows, ("missing", note_text(state.reason)), *([("to do", state.install)] if state.install else [])]
    return [*rows, *_trial(diagnosis.trial)]


def _trial(result: Result | None) -> list[tuple[str, str]]:
    if result is None:
        return []
    from assay.core.result_parts import facts_of

    taken: dict[str, float] = {}  # a stage may be entered more than once
    for time in result.stage_times:
        taken[time.stage.value] = taken.get(time.stage.value, 0.0) + time.seconds
    stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in taken.items())
    text = f" ({result.detail})" if result.detail else ""
    rows = [("tiny model", f"{result.outcome.value} in {result.stage.value}{text}"), ("stages", stages)]
    facts = facts_of(result)
    if facts.precision:
        rows.append(("precision", facts.precision))
    places: dict[str, int] = {}
    for placement in facts.placements:
        places[placement.device] = places.get(placement.device, 0) + placement.count
    if places:
        rows.append(("operators", ", ".join(f"{count} on {device}" for device, count in sorted(places.items()))))
    if facts.undelegated:
        rows.append(("undelegated", ", ".join(sorted(set(facts.undelegated)))))
    if result.versions:
        rows.append(("versions", ", ".join(f"{name} {version}" for name, version in sorted(result.versions.items()))))
    if result.outcome.value != "ok" and result.log:
        rows.append(("log", " ".join(result.log.split()[-60:])))
    return rows


def _everything(history: str, folder: Path) -> None:
    from assay.commands.composition import open_services
    from assay.commands.flow_table import flow_groups, flow_table
    from assay.commands.known_environments import describe_environment, open_environments
    from assay.environments.installer import INSTALL_UV, find_uv
    from assay.launch.gpus import gpus
    from assay.pipeline.provenance import this_machine

    machine = this_machine()
    print(
        f"machine      {machine.cpu}, {machine.cores} cores, {machine.memory_bytes / 2**30:.0f} GiB, {machine.system}"
    )
    print(f"python       {machine.python} ({sys.executable})")
    print(f"GPUs         {'; '.join(map(str, gpus())) or 'none'}")
    with open_services(history) as services:
        print(f"history      {history}: {len(services.store.runs(1_000_000))} runs")
    environments = open_environments(folder)
    print(f"environments built by {find_uv() or 'uv, which is not installed: ' + INSTALL_UV}")
    for name in environments.names:
        print(f"  {name}: {describe_environment(environments.state(name))}")
    print()
    print(flow_table(flow_groups(folder), shutil.get_terminal_size((100, 24)).columns), end="")
