"""Commands for the first five minutes: demo, init, flows."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.common import History, finish, progress_bar
from assay.options.groups import DEFAULT_HISTORY


def demo(
    folder: Annotated[Path, typer.Argument(help="Folder of the example, with an assay.toml.")] = Path(
        "examples/digits"
    ),
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML report to write.")] = Path("build/demo.html"),
) -> None:
    from assay.commands.check import run_check
    from assay.errors import UsageError
    from assay.options.check import CheckOptions

    config = folder / "assay.toml"
    if not config.is_file():
        raise UsageError(
            f"{config} is not there: run `assay demo` in a checkout of assay, or give the example's folder"
        )
    output.parent.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    command = f"assay check --config {config}"
    with progress_bar() as progress:
        options = CheckOptions(config=config, reports=(("html", output),), command=command)
        checked = run_check(options, progress)
    finish(checked, [f"took {time.perf_counter() - begin:.1f} s", f"report: {output.absolute()}"])


def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("assay.toml"),
    untried: Annotated[
        bool, typer.Option("--untried", help="Only list the models: use onnxruntime, and try no flow.")
    ] = False,
    schema: Annotated[
        bool,
        typer.Option("--schema", help="Only print the JSON schema of assay.toml, by which editors explain its keys."),
    ] = False,
) -> None:
    if schema:
        from assay.config.toml_schema import config_schema

        print(json.dumps(config_schema(), indent=2))
        return
    from assay.commands.first_config import candidates, config_text, find_models, propose
    from assay.config.assay_toml import TEMPLATE
    from assay.errors import NotWritable

    if path.exists():
        raise NotWritable(f"{path} exists already; change it by hand, or give another name")
    folder, locks = path.absolute().parent, Path(DEFAULT_HISTORY)
    with progress_bar() as progress:
        flows = candidates(locks) if not untried and find_models(folder) else []
        proposal = propose(folder, flows, locks, progress)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(config_text(TEMPLATE, proposal))
    except FileExistsError:
        raise NotWritable(f"{path} exists already; change it by hand, or give another name") from None
    except OSError as error:
        raise NotWritable(f"{path} cannot be written ({error.strerror}); give another name") from None
    if not proposal.models:
        print(f"wrote {path}: list your models in it, then run `assay check`")
        return
    for model, why in proposal.refused.items():
        print(f"no flow ran {model}: {why}")
    print(f"wrote {path}: {listed(len(proposal.models), len(proposal.refused), proposal.common)}")


def listed(models: int, refused: int, flows: Sequence[str]) -> str:
    """What the written file lists, and what to do next; a model that no flow ran stands in it as a comment."""
    if models == refused:
        return "no model that a flow runs; the reasons stand in it"
    count = f"{models - refused} model{'s' if models - refused > 1 else ''}"
    return f"{count} on {', '.join(flows)}; look at it, then run `assay check`"


def flows(
    history: History = DEFAULT_HISTORY,
    installed: Annotated[
        bool,
        typer.Option("--installed", help="Try nothing: show what is installed, and the results of earlier trials."),
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Try all flows again, even with unchanged versions.")] = False,
) -> None:
    import shutil

    from assay.commands.flow_table import flow_groups, flow_table, tried
    from assay.commands.trials import Trials

    trials, folder = Trials(), Path(history)
    groups = flow_groups(folder, trials, glance=installed)
    if not installed:
        with progress_bar() as progress:
            groups = tried(groups, folder, trials, progress, again=again)
    print(flow_table(groups, shutil.get_terminal_size((100, 24)).columns), end="")
