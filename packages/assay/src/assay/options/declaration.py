"""A row of the options: a field of a class, with its type and default, and what else is said of it."""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import get_annotations
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
ROW = "option"


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One row. `name` is the keyword of the Python API, `type` the text of its annotation in the class.

    `flag` is its name on the command line; `metavar` what stands for its value in the help; `least` the smallest value; `choices`
    are all values of a text that has few. `kind` names what its argument is (`options/arguments.py`), where the type alone does
    not tell. `toml` is its key in assay.toml, dotted, "" where it has none. `argument`: it stands on the command line without a
    flag; `needed`: a command line must have it. `of_model`: assay.toml says it for each model, so that a command line cannot say
    it of all of them. `once`: a command that is to be repeated leaves it out.
    """

    name: str
    type: str
    default: Any
    help: str
    flag: str
    metavar: str | None
    least: float | None
    kind: str
    choices: tuple[str, ...]
    toml: str
    argument: bool
    needed: bool
    of_model: bool
    once: bool

    @property
    def repeatable(self) -> bool:
        """Whether it may be given several times."""
        return self.type.startswith(("tuple[", "Mapping["))


@dataclass_transform(kw_only_default=True, frozen_default=True)
def option_group(options: type[T]) -> type[T]:
    """Options that others inherit. It is never made a value of, and has no methods: making them is what a data class costs."""
    return dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)(options)


def option(
    default: T,
    help: str,
    *,
    flag: str | None = None,
    metavar: str | None = None,
    least: float | None = None,
    kind: str = "",
    choices: tuple[str, ...] = (),
    toml: str = "",
    argument: bool = False,
    needed: bool = False,
    of_model: bool = False,
    once: bool = False,
) -> T:
    """The value of a field that is an option. `flag` None: its name with hyphens behind two of them."""
    row = {
        "help": help,
        "flag": flag,
        "metavar": metavar,
        "least": least,
        "kind": kind,
        "choices": choices,
        "toml": toml,
    }
    row |= {"argument": argument, "needed": needed, "of_model": of_model, "once": once}
    made: Any = (
        field(default_factory=lambda: default, metadata={ROW: row})
        if isinstance(default, dict)
        else field(default=default, metadata={ROW: row})
    )
    return made  # type: ignore[no-any-return]


def rows(options: type[Any]) -> tuple[Option, ...]:
    """The rows of a class of options: arguments first, then those of its bases in their order, then its own; one that is declared
    again stands where it was declared last."""
    if options not in _ROWS:
        own = {option_field.name: option_field for option_field in fields(options)}
        order = dict.fromkeys(_declared(options))
        listed = [_row(own[name]) for name in order if ROW in own[name].metadata]
        _ROWS[options] = tuple(sorted(listed, key=lambda row: not row.argument))
    return _ROWS[options]


_ROWS: dict[type, tuple[Option, ...]] = {}


def _declared(options: type) -> list[str]:
    own = list(get_annotations(options))
    inherited = [name for base in options.__bases__ for name in _declared(base) if name not in own]
    return [*inherited, *own]


def _row(option_field: Field[Any]) -> Option:
    row = option_field.metadata[ROW]
    default = (
        option_field.default
        if option_field.default is not MISSING
        else option_field.default_factory()
        if callable(option_field.default_factory)
        else None
    )
    flag = row["flag"] if row["flag"] is not None else f"--{option_field.name.replace('_', '-')}"
    flag = "" if row["argument"] else flag
    return Option(
        **{**row, "name": option_field.name, "type": str(option_field.type), "default": default, "flag": flag}
    )
