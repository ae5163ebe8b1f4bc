"""`assay mutate`: would the inputs of a model, or of a suite, notice a miscompilation? The kill rate, the survivors and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options as opt
from assay.cli.common import History, Reports, command_line, progress_bar

Targets = Annotated[
    list[Path], typer.Argument(metavar="MODEL|SUITE...", help="One ONNX file or exported program, or suites.")
]
Goldens = Annotated[
    list[Path] | None,
    typer.Option(
        "--golden", help="Golden folder of the model. Repeatable. Without it: random inputs and the float64 reference."
    ),
]
Limit = Annotated[
    int, typer.Option(min=0, help="Largest number of mutants per flow, spread over the operators. 0: all.")
]
Sites = Annotated[
    int, typer.Option(min=1, help="Number of nodes to mutate for each operator: first, last, middle, then any.")
]
Seed = Annotated[int, typer.Option(help="Random seed of the mutants, of the inputs of the search and of a suite.")]
AddInputs = Annotated[
    str, typer.Option(metavar="REASON", help="Add inputs that kill survivors to the golden set, for this reason.")
]
PerNode = Annotated[bool, typer.Option("--per-node", help="Judge every node on the engine's own inputs instead.")]
Killed = Annotated[bool, typer.Option("--killed", help="Also list the killed mutants.")]


def mutate(
    targets: Targets,
    golden: Goldens = None,
    flow: opt.Flows = None,
    filter: opt.Filters = None,
    shard: opt.Shard = "1/1",
    limit: Limit = 120,
    sites: Sites = 3,
    seed: Seed = 0,
    samples: opt.Samples = None,
    batch: opt.Batch = None,
    dim: opt.Dims = None,
    input_range: opt.InputRanges = None,
    input_value: opt.InputValues = None,
    policy: opt.Policy = None,
    config: opt.Config = None,
    option: opt.BackendOptions = None,
    rtol: opt.Rtol = None,
    atol: opt.Atol = None,
    report: Reports = None,
    add_inputs: AddInputs = "",
    per_node: PerNode = False,
    killed: Killed = False,
    timeout: opt.Timeout = None,
    workers: opt.Workers = 0,
    only: opt.Only = "",
    history: History = "",
) -> None:
    """Inject known miscompilations into a model or a suite, one at a time, and count how many its inputs reveal."""
    from assay.commands.check import CheckOptions
    from assay.commands.mutate import MutateOptions, run_mutate
    from assay.commands.mutate_text import lines, verdict

    shared = CheckOptions(
        models=tuple(targets), flows=tuple(flow or ()), golden=golden[0] if golden else None, policy=policy,
        config=config, options=tuple(option or ()), rtol=rtol, atol=atol, seed=seed, samples=samples, batch=batch,
        dims=tuple(dim or ()), input_ranges=tuple(input_range or ()), input_values=tuple(input_value or ()),
        timeout_s=timeout, reports=tuple(report or ()), only_kind="verify", workers=workers, history=history, only=only,
        command=command_line(sys.argv[1:]),
    )  # fmt: skip
    options = MutateOptions(
        shared=shared, goldens=tuple(golden or ()), filters=tuple(filter or ()), shard=shard, most=limit, sites=sites,
        per_node=per_node, add_inputs=add_inputs,
    )  # fmt: skip
    with progress_bar() as progress:
        told, advice = run_mutate(options, progress)
    print("\n".join([*lines(told, killed), *advice]))
    for text in shared.reports:
        print(f"report: {text.partition('=')[2]}")
    print(f"run {told.checked.run.id}")
    print(verdict(told))
    raise typer.Exit(told.checked.judgement.exit_code)
