"""Commands of other distributions beside our own."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import pytest
import typer
from typer.testing import CliRunner

from assay.cli.plugin_commands import GROUP, add_plugin_commands
from assay.errors import HarnessError

group = typer.Typer(no_args_is_help=True)


@group.command("greet")
def greet() -> None:
    print("hello")


@group.command("leave")
def leave() -> None:
    print("goodbye")


def single(name: str) -> None:
    print(f"one command, {name}")


not_a_command = 3


def _app(*points: tuple[str, str]) -> typer.Typer:
    app = typer.Typer()

    @app.command("own")
    def own() -> None:
        print("ours")

    @app.command("other")
    def other() -> None:
        print("also ours")

    add_plugin_commands(app, [EntryPoint(name, value, GROUP) for name, value in points])
    return app


def test_a_group_and_a_function_are_commands() -> None:
    app = _app(("people", f"{__name__}:group"), ("say", f"{__name__}:single"))
    run = CliRunner().invoke
    assert run(app, ["people", "greet"]).output == "hello\n"
    assert run(app, ["say", "Ada"]).output == "one command, Ada\n"
    assert run(app, ["own"]).output == "ours\n"


@pytest.mark.parametrize("value", ["no_such_module_anywhere:app", f"{__name__}:missing", f"{__name__}:not_a_command"])
def test_one_that_cannot_be_loaded_says_so_when_it_is_called_and_hurts_no_other(value: str) -> None:
    app = _app(("broken", value))
    assert CliRunner().invoke(app, ["own"]).output == "ours\n"
    ended = CliRunner().invoke(app, ["broken", "--with", "options"])
    assert isinstance(ended.exception, HarnessError)
    assert "command 'broken' of " in str(ended.exception)
    assert "reinstall or remove" in str(ended.exception)


def test_a_command_of_ours_is_not_replaced() -> None:
    app = _app(("own", f"{__name__}:single"))
    assert CliRunner().invoke(app, ["own"]).output == "ours\n"


def test_the_zoo_brings_its_command_by_an_entry_point() -> None:
    assert "zoo" in {point.name for point in entry_points(group=GROUP)}
