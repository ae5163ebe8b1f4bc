"""`assay mutate`: would the golden inputs notice a miscompilation? The kill rate, the survivors and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.faces.cli.check import _command
from assay.faces.cli.common import History, Reports, progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.pipeline.mutate import Mutated
    from assay.pipeline.survivors import Survivor


def mutate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The ONNX file.")],
    golden: Annotated[
        list[Path] | None,
        typer.Option(help="Its golden folder; repeatable. Without it: seeded inputs and the float64 reference."),
    ] = None,
    flow: Annotated[str, typer.Option(help="The flow whose gate is tried.")] = "onnxruntime",
    limit: Annotated[int, typer.Option(min=0, help="Mutants at most, spread over the operators. 0: all.")] = 120,
    sites: Annotated[int, typer.Option(min=1, help="Places of each operator: first, last, middle, then any.")] = 3,
    seed: Annotated[int, typer.Option(help="Draws mutants, and the inputs of the search.")] = 0,
    samples: Annotated[int, typer.Option(min=1, help="How many inputs, where there is no golden.")] = 4,
    batch: Annotated[int, typer.Option(min=1, help="Their batch size, where there is no golden.")] = 1,
    policy: Annotated[Path | None, typer.Option(help="Limits, a TOML file: a goal over mutation.kill_rate.")] = None,
    config: Annotated[Path | None, typer.Option(help="An assay.toml that defines flows and limits.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Option of the backend. Repeatable.")
    ] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance for all outputs.")] = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance for all outputs.")] = None,
    report: Reports = None,
    add_inputs: Annotated[
        str, typer.Option(metavar="REASON", help="Add inputs that kill survivors to the golden set.")
    ] = "",
    local: Annotated[
        bool, typer.Option("--local", help="Judge every node on the engine's own inputs instead.")
    ] = False,
    killed: Annotated[bool, typer.Option("--killed", help="List the killed mutants, too.")] = False,
    timeout: Annotated[float | None, typer.Option(min=0.1, help="Seconds per job [300].")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Workers at once. 0: one per core.")] = 0,
    only: Annotated[str, typer.Option(metavar="JOB", help="One mutant, CASE|FLOW|TASK: what repro lines use.")] = "",
    history: History = "",
) -> None:
    """Inject known miscompilations into a model, one at a time, and count how many its golden inputs reveal."""
    import tempfile

    from assay.errors import UsageError
    from assay.faces.api import CheckOptions, prepared
    from assay.faces.reporting import destinations
    from assay.pipeline.extend_golden import extend
    from assay.pipeline.mutate import MutateRequest, with_goldens
    from assay.pipeline.mutate import mutate as run_pipeline

    if add_inputs and not golden:
        raise UsageError("--add-inputs needs a golden set to add them to: give --golden")
    wanted = destinations(report or [])
    asked = CheckOptions(
        models=(model,), flows=(flow,), golden=golden[0] if golden else None, policy=policy, config=config, options=tuple(option or ()),
        rtol=rtol, atol=atol, seed=seed, samples=samples, batch=batch, timeout_s=timeout, history=history,
        task="verify", jobs=jobs,
    )  # fmt: skip
    with (
        progress_bar() as progress,
        prepared(asked, progress) as (request, house),
        tempfile.TemporaryDirectory(dir=house.folder, prefix="mutants-") as scratch,
    ):
        workspace = Path(scratch).absolute()
        wish = MutateRequest(
            model=with_goldens(request.models[0], golden or [], workspace), policy=request.policy,
            limits=request.limits, most=limit, sites=sites, seed=seed, command=_command(sys.argv[1:]), only=only,
            local=local,
        )  # fmt: skip
        told = run_pipeline(wish, house, workspace)
        killers = [one.killer for one in told.survivors if one.killer is not None]
        advice = [f"inputs were found that kill {len(killers)} of the survivors"] if killers else []
        if golden and killers and not add_inputs:
            advice = [f"{advice[0]}: --add-inputs REASON adds them to {golden[0]}"]
        if golden and killers and add_inputs:
            model_ = told.checked.run.jobs[0].case.model
            place, lock = extend(model_, golden, killers, add_inputs, house, limits=request.limits, workspace=workspace)
            advice = [f"{place} has {lock.samples} samples now"]
    for destination in wanted:
        destination.write(told.checked)
    print("\n".join([*lines(told, killed), *advice]))
    for destination in wanted:
        print(f"report: {destination.path}")
    verdict = told.checked.judgement.run
    print(f"run {told.checked.run.id}")
    print(verdict.reason)
    raise typer.Exit(told.checked.judgement.exit_code)


def lines(told: Mutated, killed: bool = False) -> list[str]:
    """What the terminal shows above the verdict."""
    if told.unsound:
        return ["the flow fails without any mutant, so no mutant was run: a gate that is always red catches nothing"]
    kinds = {
        "unexercised": "survived: the golden inputs do not exercise it",
        "below_noise": "survived: below the noise",
        "untold": "survived, and it is not known why",
        "equivalent": "equivalent, not counted",
    }
    text = [f"killed: {len(told.killed)}"]
    if killed:
        text += [f"  {name}: {result.detail or result.outcome.value}" for name, result in told.killed.items()]
    for kind, title in kinds.items():
        found = [one for one in told.survivors if one.kind == kind]
        if found:
            text += [f"{title}: {len(found)}", *_reasons(found)]
    if told.unbuilt:
        text.append(f"not built by the backend: {len(told.unbuilt)}")
        text += [f"  {name}: {result.detail}" for name, result in told.unbuilt.items()]
    return [*text, _rate(told)]


def _reasons(found: Sequence[Survivor]) -> list[str]:
    return [f"  {one.mutant}: {one.why}" for one in found]


def _rate(told: Mutated) -> str:
    if not told.counted:
        return "no kill rate: no mutant applies to this model and is not equivalent to it"
    low, high = told.interval
    rate = len(told.killed) / told.counted
    return (
        f"kill rate: {100 * rate:.1f} % of {told.counted} mutants "
        f"(95 % interval {100 * low:.1f} to {100 * high:.1f} %, Wilson)"
    )
