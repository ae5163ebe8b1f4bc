"""`assay suite`: which suites there are, and what is in one."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Suites: what there is to run.")


@app.command("list")
def list_suites() -> None:
    """Every suite here, one line each."""
    from assay import plugins
    from assay.faces.suites import GROUP

    for name in plugins.names(GROUP):
        print(f"{name:<12} {plugins.load(GROUP, name)().about}")


@app.command("mine")
def mine(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="ONNX files, or folders of them.")],
) -> None:
    """The unique operators of your own models, the most used first: what `assay run mined:MODEL,...` runs."""
    from assay.suites.mined import Mined

    suite = Mined(",".join(models))
    cases = list(suite.cases(seed=0))
    for case in cases:
        inputs = ", ".join(f"{one.dtype}{list(one.shape)}" for one in case.model.inputs)
        print(f"{case.uses:6}  {case.model.name}  {inputs}")
    for line in suite.left_out():
        print(f"left out: {line}")
    print(f"{len(cases)} operators, used {sum(case.uses for case in cases)} times")


@app.command("show")
def show(
    suite: Annotated[str, typer.Argument(metavar="SUITE")],
    filter: Annotated[list[str] | None, typer.Option("--filter", metavar="GLOB")] = None,
    dtype: Annotated[list[str] | None, typer.Option()] = None,
    shard: Annotated[str, typer.Option(metavar="I/N")] = "1/1",
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """The cases of a suite with their inputs, and how many they are."""
    from assay.faces.suites import find_suites
    from assay.pipeline.suite_select import Selection, parse_shard, select

    (found,) = find_suites([suite])
    selection = Selection(filters=tuple(filter or ()), dtypes=tuple(dtype or ()), shard=parse_shard(shard))
    cases = select(list(found.cases(seed=seed)), selection)
    for case in cases:
        inputs = ", ".join(f"{one.dtype}{list(one.shape)}" for one in case.model.inputs)
        print(f"{case.name}  {inputs}")
    print(f"{len(cases)} cases")
