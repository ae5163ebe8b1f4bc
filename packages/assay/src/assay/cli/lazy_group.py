"""A group of commands of which each is imported when it is called, so that `assay --help` waits for none of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from assay.cli.command_table import COMMANDS, Command


class LazyGroup(TyperGroup):
    """The commands of the table, and behind them those of plug-ins."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": None})
        self._lazy = LazyCommands()
        self.commands = self._lazy

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Of our own the help is in the table."""
        names = [name for name in self._lazy if not self._lazy.is_hidden(name)]
        limit = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._lazy.short_help(name, limit)) for name in names])


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name."""

    def __init__(self) -> None:
        self._rows = {row.name: row for row in COMMANDS}
        self._loaded: dict[str, Any] = {}
        self._plugins_known = False

    def __getitem__(self, name: str) -> Any:
        if name in self._rows and name not in self._loaded:
            self._loaded[name] = _load(self._rows[name])
        if name not in self._loaded:
            self._find_plugins()
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        self._find_plugins()
        return iter([*self._rows, *(name for name in self._loaded if name not in self._rows)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def short_help(self, name: str, limit: int) -> str:
        """What the list of commands says of one, in at most so many characters."""
        command = TyperCommand(name, help=self._rows[name].help) if name in self._rows else self[name]
        return str(command.get_short_help_str(limit))

    def is_hidden(self, name: str) -> bool:
        return name not in self._rows and bool(self[name].hidden)

    def _find_plugins(self) -> None:
        if self._plugins_known:
            return
        self._plugins_known = True
        from assay.cli.plugin_commands import add_plugin_commands

        group = _group()
        add_plugin_commands(group, taken=self._rows)
        self._loaded |= typer.main.get_command(group).commands  # type: ignore[attr-defined]


def _load(row: Command) -> Any:
    module, _, name = row.target.partition(":")
    target = getattr(importlib.import_module(module), name)
    group = _group()
    if isinstance(target, typer.Typer):
        group.add_typer(target, name=row.name, help=row.help)
    else:
        group.command(row.name, help=row.help)(target)
    return typer.main.get_command(group).commands[row.name]  # type: ignore[attr-defined]


def _group() -> typer.Typer:
    """One that stays a group with a single command in it."""
    group = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    group.callback()(lambda: None)
    return group
