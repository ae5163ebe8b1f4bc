"""The command reference as Markdown, from the declarations of the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VALUES = {"Path": "PATH", "str": "TEXT", "int": "INTEGER", "float": "NUMBER"}
"""What stands for a value whose option names none, by its type."""

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def cli_reference() -> str:
    """One section for each command, in the order of `assay --help`: usage, what it does, arguments, options, defaults."""
    import typer

    from assay.cli.main import app

    root = typer.main.get_command(app)
    commands = list(_commands(root, "assay"))
    summary = ["| command | what it does |", "|---|---|"]
    summary += [f"| [`{name}`](#{name.replace(' ', '-')}) | {plain(_first(command))} |" for name, command in commands]
    parts = [
        "# Commands\n\nEvery command and every option. This page is made from the program when the site is built. "
        "`assay COMMAND --help` shows the same in a terminal.",
        "\n".join(summary),
        plain(root.epilog or ""),
        *(_section(name, command) for name, command in commands),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The commands that do something: a group of commands is only their common name."""
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
        return
    for child_name, child in children.items():
        if not child.hidden:
            yield from _commands(child, f"{name} {child_name}")


def _section(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [
        parameter for parameter in command.params if parameter.param_type_name == "option" and not parameter.hidden
    ]
    usage = " ".join([name, *(_argument(parameter) for parameter in arguments), *(["[OPTIONS]"] if options else [])])
    parts = [f"## {name}", f"```\n{usage}\n```", _paragraphs(command.help or "")]
    if arguments:
        rows = [f"| `{_value(parameter)}` | {_meaning(parameter)} |" for parameter in arguments]
        parts.append("\n".join(["| argument | meaning |", "|---|---|", *rows]))
    if options:
        rows = [f"| {_names(parameter)} | {_meaning(parameter)} |" for parameter in options]
        parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(part for part in parts if part)


def _argument(parameter: Any) -> str:
    value = _value(parameter)
    return value if parameter.required else f"[{value}]"


def _names(option: Any) -> str:
    value = "" if option.is_flag else f" {_value(option)}"
    names = [f"`{name}{value}`" for name in option.opts]
    return ", ".join([*names, *(f"`{name}`" for name in option.secondary_opts)])


def _value(parameter: Any) -> str:
    """What stands for the value: the declared name, or one for its type."""
    if parameter.metavar:
        return str(parameter.metavar)
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper() + ("..." if parameter.nargs == -1 else "")
    annotation = parameter.type_descriptor.annotation
    inner = (getattr(annotation, "__args__", None) or (annotation,))[0]
    return VALUES.get(getattr(inner, "__name__", ""), "VALUE")


def _meaning(parameter: Any) -> str:
    default = _default(parameter)
    return plain(parameter.help or "") + (
        f" Default: `{default}`." if default else " Required." if parameter.required else ""
    )


def _default(parameter: Any) -> str:
    if parameter.default is None or isinstance(parameter.default, bool) or parameter.default in ("", (), []):
        return ""
    return parameter.default.as_posix() if isinstance(parameter.default, Path) else str(parameter.default)


def _first(command: Any) -> str:
    return inspect.cleandoc(command.help or "").split("\n\n")[0].replace("\n", " ")


def _paragraphs(text: str) -> str:
    return "\n\n".join(plain(" ".join(part.split())) for part in inspect.cleandoc(text).split("\n\n"))


def plain(text: str) -> str:
    """Text of the terminal in a Markdown table: `code` stays code, options become it, anything else means itself."""
    text = OPTION.sub(r"`\g<0>`", text) if text.count("`") == 0 else text
    pieces = text.split("`")
    if len(pieces) % 2 == 0:  # a backtick of its own
        return _escaped(text)
    return "".join(
        f"`{piece}`".replace("|", "\\|") if index % 2 else _escaped(piece) for index, piece in enumerate(pieces)
    )


def _escaped(text: str) -> str:
    for character in "\\`*_[]<>|#$":
        text = text.replace(character, f"\\{character}")
    return text
