"""How exact `assay triage --since` is: the first bad release that it names, beside a plain scan of every release that installs here, and
the first bad build that `--build-command` names, beside planted histories that come and go. One JSON line each, then the figures of
docs/benchmarks.md.

    python benchmarks/first_bad.py [--flow FLOW ...] [--filter GLOB] [--findings N] [--builds N] [--seed SEED] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from msgspec.structs import replace
from onnx import helper, numpy_helper

from assay import plugins
from assay.commands.composition import open_services
from assay.commands.run import run_suites
from assay.commands.triage import run_triage
from assay.core.job import VerifyJob
from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.environments.releases import release_key
from assay.options.run import RunOptions
from assay.options.triage import TriageOptions
from assay.pipeline.references.ensure_references import ensure_references
from assay.plugins import find_flow
from assay.triage.builds import Builds
from assay.triage.cause import Cause, Where
from assay.triage.context import Context, end_error, end_of, failing_sample
from assay.triage.graph import Graph
from assay.triage.other_releases import OtherReleases, with_builds
from assay.triage.script import run_script, state_in, write_script
from assay.triage.since import History, State

FLOWS = ("onnxruntime", "openvino-f32", "ncnn-f32", "mnn-f32")
EACH_S = 60.0
"""For one script."""


def of_findings(flow: str, pattern: str, most: int, folder: Path) -> Iterator[Cause]:
    """A cause of each regression of a finding that the flow shows, with a script that fails."""
    history = str(folder / "history")
    filters = (pattern,) if pattern else ()
    checked = run_suites(RunOptions(suites=("regressions",), flows=(flow,), filters=filters, history=history))
    red = {
        verdict.job_key
        for verdict in checked.judgement.verdicts
        if verdict.word in (VerdictStatus.FAIL, VerdictStatus.XFAIL)
    }
    results = {answer.job_key: answer for answer in checked.results}
    number = 0
    with open_services(history) as services:
        for job in checked.run.jobs:
            if number == most:
                break
            if not isinstance(job, VerifyJob) or job.key not in red:
                continue
            result = results[job.key]
            place = (folder / flow / str(number)).absolute()
            context = Context(job, end_of(result), failing_sample(result), services, place, time.monotonic() + EACH_S)
            cause = services.jobs.complete(_whole(context))
            if cause is not None and cause.script:
                number += 1
                yield cause


async def _whole(context: Context) -> Cause | None:
    """Of a model of a few nodes, as it is: what is asked here is since when."""
    await ensure_references([context.job], context.services)
    values = await context.values()
    if values.outcome is not Outcome.OK:
        return None
    graph, prober = Graph(values.graph), context.prober()
    asked = [frozenset(range(len(graph.nodes)))]
    result = await prober.ask(asked, outputs=graph.outputs, save_dir=str(context.folder / "smallest"))
    symptom = prober.symptom_of(result)
    if symptom is None:
        return None
    job = context.job
    cause = Cause(
        job.key, job.case.name, job.flow.name, job.flow.backend, result.versions, Where.WHOLE, context.end, symptom,
        small_error=end_error(result), folder=str(context.folder),
    )  # fmt: skip
    cause = replace(cause, script=write_script(cause, context.backend, job.flow, "first bad"))
    if not cause.script:
        return None
    run = run_script(cause.script, context.services.interpreter(""), "fails")
    return cause if state_in(run, symptom) is State.WRONG else None


def compared(cause: Cause) -> dict[str, object]:
    """What `--since` says of the cause, and what a scan of all releases says."""
    packages = plugins.load("assay.backends", cause.backend)().plain_packages
    others = OtherReleases.of(cause, packages, lambda text: None)
    begin = time.monotonic()
    named = others.history(math.inf)
    seconds, tried = time.monotonic() - begin, len(others.states)
    every = sorted({*others.names, *others.pythons}, key=release_key)
    plain = History({release: others.probe(release) for release in every}, complete=True)
    return {
        "cause": f"{cause.job_key.partition('|')[0]} on {cause.flow}",
        **_beside(named, plain),
        "asked": tried,
        "of": len(every),
        "seconds": seconds,
        "states": _letters(plain.states),
    }


def _beside(named: History, plain: History) -> dict[str, object]:
    return {
        "first_bad": named.first_bad,
        "exact": (named.first_bad, named.begins_wrong) == (plain.first_bad, plain.begins_wrong),
        "again": named.good_again == plain.good_again,
        "begins_wrong": plain.begins_wrong,
        "monotone": plain.is_monotone,
        "plain": plain.first_bad,
    }


def _letters(states: Mapping[str, State]) -> str:
    """r, w, u: oldest first."""
    return "".join(state.value[0] for state in states.values())


def planted(count: int, seed: int) -> Iterator[tuple[tuple[str, ...], dict[str, State]]]:
    """Histories of builds: right at first, wrong at last, in between a defect that may have been there before, and builds that fail."""
    random = np.random.default_rng(seed)
    for number in range(count):
        names = tuple(f"b{index:02}" for index in range(int(random.integers(6, 40))))
        first = int(random.integers(1, len(names)))
        states = {name: State.WRONG if at >= first else State.RIGHT for at, name in enumerate(names)}
        if number % 2 and first > 2:  # it was there before, for a while
            before = int(random.integers(1, first - 1))
            for name in names[before : int(random.integers(before + 1, first))]:
                states[name] = State.WRONG
        for at in range(len(names)):
            if random.uniform() < 0.1:
                states[names[at]] = State.UNTESTABLE
        if len(set(states.values()) - {State.UNTESTABLE}) == 2:
            yield names, states


def of_builds(cause: Cause, names: Sequence[str], states: Mapping[str, State], folder: Path) -> dict[str, object]:
    """What `--build-command` says of that history, where a build is right because it leaves a pass out."""
    asked: list[str] = []
    history = with_builds(cause, Builds(_command(states, folder), tuple(names)), math.inf, asked.append).since
    tested = [name for name in names if states[name] is not State.UNTESTABLE]
    at = tested.index(history.first_bad) if history.first_bad in tested else 0
    begins = at > 0 and states[tested[at]] is State.WRONG and states[tested[at - 1]] is State.RIGHT
    plain = History(dict(states))
    return {
        "cause": f"{len(names)} builds",
        "first_bad": history.first_bad,
        "exact": begins or history.begins_wrong,
        "first": (history.first_bad, history.begins_wrong) == (plain.first_bad, plain.begins_wrong),
        "monotone": plain.is_monotone and plain.good_again == "",
        "plain": plain.first_bad,
        "asked": len(asked),
        "of": len(names),
        "states": _letters(states),
    }


def _command(states: Mapping[str, State], folder: Path) -> str:
    """Prints a Python whose ONNX Runtime is right or wrong in that build; fails where there is none."""
    pythons = {}
    for state in (State.RIGHT, State.WRONG):
        home = folder / state.value
        home.mkdir(exist_ok=True)
        left_out = ["Pad_Fusion"] if state is State.RIGHT else []
        (home / "sitecustomize.py").write_text(
            textwrap.dedent(f"""
            import onnxruntime
            made = onnxruntime.InferenceSession
            onnxruntime.InferenceSession = lambda *said, **more: made(*said, **{{**more, "disabled_optimizers": {left_out}}})
            """)
        )
        pythons[state] = home / "python"
        pythons[state].write_text(f'#!/bin/sh\nPYTHONPATH={home} exec {sys.executable} "$@"\n')
        pythons[state].chmod(0o755)
    cases = [
        f"{name}) {'exit 1' if state is State.UNTESTABLE else f'echo {pythons[state]}'};;"
        for name, state in states.items()
    ]
    return f"case {{build}} in {' '.join(cases)} esac"


def padded() -> onnx.ModelProto:
    """A pattern of docs/findings/onnxruntime-pad-before-max-pool.py."""
    weights = [
        numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1]), "pads"),
        numpy_helper.from_array(np.array(0, np.float32), "value"),
        numpy_helper.from_array(np.array(3, np.float32), "three"),
    ]
    nodes = [
        helper.make_node("Sub", ["x", "three"], ["s"]),
        helper.make_node("Pad", ["s", "pads", "value"], ["p"]),
        helper.make_node("MaxPool", ["p"], ["y"], kernel_shape=[2, 2]),
    ]
    ends = [helper.make_tensor_value_info("x", 1, [1, 4, 8, 8])], [helper.make_tensor_value_info("y", 1, [1, 4, 9, 9])]
    graph = helper.make_graph(nodes, "padded", *ends, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def figures(rows: Sequence[Mapping[str, object]], builds: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """As docs/benchmarks.md has them."""

    def share(name: str, of: Sequence[Mapping[str, object]]) -> str:
        return f"{sum(bool(row[name]) for row in of)} of {len(of)}"

    crooked = [row for row in builds if not row["monotone"]]
    return {
        "first bad release (or that the oldest is wrong) as in a plain scan": share("exact", rows),
        "first good one again": share("again", rows),
        "of these wrong from the oldest on": share("begins_wrong", rows),
        "of these monotone": share("monotone", rows),
        "releases asked": f"{sum(int(str(row['asked'])) for row in rows)} of {sum(int(str(row['of'])) for row in rows)}",
        "builds: a first bad one": share("exact", builds),
        "builds that come and go: a first bad one": share("exact", crooked),
        "builds: the first bad one of all": share("first", builds),
        "builds asked": f"{sum(int(str(row['asked'])) for row in builds)} of {sum(int(str(row['of'])) for row in builds)}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flow", action="append", default=[])
    parser.add_argument("--filter", default="")
    parser.add_argument("--findings", type=int, default=100, help="at most so many of each flow")
    parser.add_argument("--builds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    said = parser.parse_args()
    rows: list[dict[str, object]] = []
    builds: list[dict[str, object]] = []

    def keep(row: dict[str, object], where: list[dict[str, object]]) -> None:
        where.append(row)
        print(json.dumps(row), flush=True)
        if said.out:
            said.out.write_text("\n".join(map(json.dumps, [*rows, *builds])) + "\n")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if said.builds:
            onnx.save(padded(), folder / "net.onnx")
            options = TriageOptions(
                target=str(folder / "net.onnx"),
                flows=("onnxruntime",),
                history=str(folder / "planted"),
                output=folder / "t",
            )
            (cause,) = run_triage(options).causes
            for names, states in planted(said.builds, said.seed):
                keep(of_builds(cause, names, states, folder), builds)
        for flow in said.flow or FLOWS:
            for cause in of_findings(flow, said.filter, said.findings, folder / find_flow(flow).backend):
                keep(compared(cause), rows)
    for name, text in figures(rows, builds).items():
        print(f"{name}: {text}")


if __name__ == "__main__":
    main()
