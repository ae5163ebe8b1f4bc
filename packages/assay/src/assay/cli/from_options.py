"""A command of typer, made from the rows of its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from assay.options.declaration import Option, rows

Options = TypeVar("Options")
_ITEMS = {"tuple[int, ...]": int, "tuple[Path, ...]": Path}
_TYPES: dict[str, Any] = {
    "bool": bool, "int": int, "int | None": int | None, "float": float, "float | None": float | None, "str": str,
    "Path": Path, "Path | None": Path | None,
}  # fmt: skip


def from_options(options: type) -> Callable[[Callable[[Mapping[str, Any]], None]], Callable[..., None]]:
    """Of a function that takes what was given (see `read_options`), and whose docstring is the help: a command with the options
    that the class declares."""

    def made(function: Callable[[Mapping[str, Any]], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(values)

        parameters = [_parameter(row) for row in rows(options)]
        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return command

    return made


def read_options(options: type[Options], values: Mapping[str, Any], **more: object) -> Options:
    """The typed values of what was given, with `more` that no option says. Raises UsageError."""
    from assay.options.arguments import values_from_arguments  # what reads a value is not needed to show the help

    return options(**values_from_arguments(options, values), **more)


def shown(options: type, name: str) -> Any:
    """How one option stands in the help, for a command that names its parameters itself."""
    return _info(next(row for row in rows(options) if row.name == name))


def _parameter(row: Option) -> Parameter:
    several = row.repeatable
    listed: Any = list[_ITEMS.get(row.type, str)]  # type: ignore[misc]
    plain = (listed if row.needed else listed | None) if several else str if row.kind else _TYPES[row.type]
    default = Parameter.empty if row.needed else None if several else "" if row.kind else row.default
    return Parameter(
        row.name,
        Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[plain, _info(row)],
    )


def _info(row: Option) -> Any:
    if row.argument:
        return typer.Argument(metavar=row.metavar, help=row.help)
    return typer.Option(row.flag, metavar=row.metavar, min=row.least, help=row.help)
