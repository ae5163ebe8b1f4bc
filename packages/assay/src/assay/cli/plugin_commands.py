"""Commands of other distributions: entry points of the group `assay.commands`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata

import typer

from assay.errors import HarnessError

GROUP = "assay.commands"


def add_plugin_commands(
    app: typer.Typer, points: Iterable[metadata.EntryPoint] | None = None, taken: Iterable[str] = ()
) -> None:
    """Each is a `typer.Typer` with commands of its own, or a function that is one command.

    One that cannot be imported, or has the name of a command that is there or `taken`, leaves all others as they are: calling it says why.
    """
    known = {
        *taken,
        *(command.name for command in app.registered_commands),
        *(group.name for group in app.registered_groups),
    }
    for point in sorted(
        metadata.entry_points(group=GROUP) if points is None else points, key=lambda entry_point: entry_point.name
    ):
        if point.name in known:
            continue
        known.add(point.name)
        try:
            command = point.load()
        except Exception as error:  # noqa: BLE001  a third party's module may raise anything on import
            _add_broken(app, point, f"{type(error).__name__}: {error}")
            continue
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=point.name)
        elif callable(command):
            app.command(point.name)(command)
        else:
            _add_broken(app, point, f"{point.value} is no typer.Typer and no function")


def _add_broken(app: typer.Typer, point: metadata.EntryPoint, why: str) -> None:
    source = point.dist.name if point.dist else point.value

    @app.command(
        point.name,
        help=f"Cannot be loaded; reinstall or remove {source}.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def broken() -> None:
        raise HarnessError(f"command {point.name!r} of {source} cannot be loaded ({why}); reinstall or remove {source}")
