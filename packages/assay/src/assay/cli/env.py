"""`assay env`: the environments of flows: list, build, lock, remove."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.common import History
from assay.options.groups import DEFAULT_HISTORY

if TYPE_CHECKING:
    from assay.environments.environments import Environments

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Environments of assay.toml or of a backend. None: all of assay.toml."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with [environments] [assay.toml].")]


@app.command("list")
def list_all(config: ConfigFile = None, history: History = DEFAULT_HISTORY) -> None:
    """Every environment that is known here: what is in it, whether it is built, how large it is."""
    from assay.commands.known_environments import describe_environment

    environments = _open(config, history)
    states = [environments.state(name) for name in environments.names]
    width = max((len(state.spec.name) for state in states), default=0)
    for state in states:
        print(f"{state.spec.name:<{width}}  {describe_environment(state)}")
    if not states:
        print("no environment is known; write [environments.NAME] requires = [...] in assay.toml")


@app.command("build")
def build(
    names: Names = None,
    again: Annotated[bool, typer.Option("--again", help="Build again, even if it is built and complete.")] = False,
    config: ConfigFile = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Resolve, unless it is locked, and build, unless it is built."""
    from assay.commands.known_environments import describe_environment
    from assay.errors import EnvironmentFailed

    environments = _open(config, history)
    failed = []
    for name in _chosen(names, environments):
        if again:
            environments.remove(name)
        try:
            print(f"{name}  {describe_environment(environments.build(name))}")
        except EnvironmentFailed as error:
            failed.append(str(error))
    if failed:
        raise EnvironmentFailed("\n".join(failed))


@app.command("lock")
def lock(names: Names = None, config: ConfigFile = None, history: History = DEFAULT_HISTORY) -> None:
    """Resolve again: the newest versions that the requirements allow."""
    environments = _open(config, history)
    for name in _chosen(names, environments):
        print(f"{name}  {environments.lock(name)}")


@app.command("remove")
def remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Environments to remove.")],
    config: ConfigFile = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Delete what was built; the lock stays, so that the next build gives the same versions."""
    environments = _open(config, history)
    for name in _chosen(names, environments):
        freed = environments.remove(name)
        print(f"{name}  {f'{freed / 1e6:.0f} MB removed' if freed else 'was not built'}")


def _open(config: Path | None, history: str) -> Environments:
    from assay.commands.known_environments import open_environments
    from assay.config.assay_toml import load_config

    folder = Path(DEFAULT_HISTORY if "://" in history else history)
    return open_environments(folder, load_config(config) if config else None)


def _chosen(names: list[str] | None, environments: Environments) -> list[str]:
    from assay.commands.known_environments import check_environment
    from assay.errors import UsageError

    known = {name: environments.spec(name) for name in environments.names}
    for name in names or ():
        check_environment(name, known)
    chosen = names or [name for name, spec in known.items() if not spec.shipped_by]
    if not chosen:
        raise UsageError("assay.toml names no environment; name one, or write [environments.NAME] in it")
    return chosen
