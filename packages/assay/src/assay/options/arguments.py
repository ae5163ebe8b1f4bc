"""Values and the arguments of a command line that say the same: one reader and one writer for each kind of option."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from assay.core.data import Picture
from assay.core.flow import Option as Value
from assay.errors import UsageError
from assay.options.amounts import bytes_of, seconds_of
from assay.options.declaration import Option, rows
from assay.options.input_values import range_of, read_range, read_values, values_of, write_range, write_values
from assay.options.pictures import read_picture, write_picture
from assay.options.sizes import read_sizes, sizes_of, write_sizes
from assay.options.task_metric import MetricChoice, read_metric, value_text, write_metric


class Kind(NamedTuple):
    """`read` takes the flag and what stood behind it: one word, or all of them where it may be repeated. It raises UsageError.
    `write` gives one word for each time that the flag stands there. `accept` makes the value of what a call in Python said."""

    read: Callable[[str, Any], Any]
    write: Callable[[Any], list[str]]
    accept: Callable[[Any], Any] = lambda value: value


def values_from_arguments(options: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The values of what a command line gave, by name; what was not given is left out. Raises UsageError."""
    return {
        row.name: _chosen(row, kind_of(row).read(row.flag, arguments[row.name]))
        for row in rows(options)
        if arguments.get(row.name) not in (None, [], "")
    }


def arguments_of(options: type, values: Mapping[str, object]) -> list[str]:
    """The arguments that say these values, in the order of the rows. `values` that are None, empty or False need none."""
    unknown = values.keys() - {row.name for row in rows(options)}
    if unknown:
        raise ValueError(f"{options.__name__} has no option {min(unknown)!r}")
    arguments = []
    for row in rows(options):
        value = values.get(row.name)
        if value is None or value is False or value in ("", (), {}):
            continue
        if value is True:
            arguments.append(row.flag)
            continue
        for word in kind_of(row).write(value):
            arguments += [row.flag, word] if row.flag else [word]
    return arguments


def values_from_python(options: type, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The values of what a call in Python said, by name: paths may be texts, lists any sequence; what is None or empty is left
    out. Raises UsageError."""
    return {
        row.name: _chosen(
            row, (kind_of(row).accept if row.kind else _BY_TYPE.get(row.type, _as_it_is))(keywords[row.name])
        )
        for row in rows(options)
        if keywords.get(row.name) not in (None, "", (), {})
    }


def _chosen(row: Option, value: Any) -> Any:
    if row.choices and value not in row.choices:
        raise UsageError(f"{row.flag} {value!r} is not one of {', '.join(row.choices)}")
    return value


def given_arguments(options: type[Any], arguments: Sequence[str]) -> dict[str, list[str]]:
    """What stands on a command line by the name of the option, as texts: a flag without a value has none, arguments go by their
    own name. A flag that is not of these options is left out, and is taken for one without a value."""
    flags = {row.flag: row for row in rows(options) if row.flag}
    argument = next((row.name for row in rows(options) if row.argument), "")
    given: dict[str, list[str]] = {}
    left = iter(arguments)
    for word in left:
        flag, separator, value = word.partition("=")
        if word == "--":
            given.setdefault(argument, []).extend(left)
        elif not word.startswith("-") or word == "-":
            given.setdefault(argument, []).append(word)
        elif flag in flags:
            row = flags[flag]
            texts = given.setdefault(row.name, [])
            if row.type != "bool":
                texts += [value] if separator else [word for word in [next(left, None)] if word is not None]
    return given


def behind_flags(options: type[Any], arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Each flag that takes no value, with the argument behind it."""
    flags = {row.flag for row in rows(options) if row.type == "bool"}
    return [(flag, word) for flag, word in pairwise(arguments) if flag in flags and not word.startswith("-")]


def without(options: type[Any], arguments: Sequence[str], names: Collection[str]) -> list[str]:
    """The arguments of a command line that are not these options."""
    dropped = {row.flag: row for row in rows(options) if row.name in names and row.flag}
    kept: list[str] = []
    left = iter(arguments)
    for argument in left:
        flag, separator, _ = argument.partition("=")
        if flag not in dropped:
            kept.append(argument)
        elif not separator and dropped[flag].type != "bool":
            next(left, None)
    return kept


def kind_of(row: Option) -> Kind:
    """How it is read and written: by its kind where it has one, else by its type."""
    if row.kind:
        return KINDS[row.kind]
    return REPEATED if row.repeatable else PLAIN


def _as_it_is(value: Any) -> Any:
    return value


def _number_or_text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


PLAIN = Kind(lambda flag, value: value, lambda value: [_number_or_text(value)])
REPEATED = Kind(lambda flag, values: tuple(values), lambda values: [_number_or_text(value) for value in values])


def _read_pairs(flag: str, texts: Sequence[str], form: str, example: str, *, once: bool = False) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name or not value:
            raise UsageError(f"{flag} {text!r} is not {form}; write for example {flag} {example}")
        if once and name in pairs:
            raise UsageError(f"{flag} names {name!r} twice: give each name once")
        pairs[name] = value
    return pairs


def _read_backend_options(flag: str, texts: Sequence[str]) -> dict[str, str]:
    options = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise UsageError(f"{flag} {text!r} is not NAME=VALUE; write for example {flag} threads=2")
        options[key] = value
    return options


def _write_pairs(pairs: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in pairs.items()]


def _write_backend_options(options: Mapping[str, Value]) -> list[str]:
    return [f"{name}={value_text(value)}" for name, value in options.items()]


def _named(
    example: str, read: Callable[[str, str], Any], write: Callable[[Any], str], accept: Callable[[str, Any], Any]
) -> Kind:
    """NAME=TEXT each; a name may hold an equals sign in brackets only."""

    def read_all(flag: str, texts: Sequence[str]) -> dict[str, Any]:
        values = {}
        for text in texts:
            name, separator, said = text.rpartition("=")
            if not separator or not name or not said:
                raise UsageError(f"{flag} {text!r} is not NAME=...; write for example {flag} {example}")
            values[name] = read(name, said)
        return values

    return Kind(
        read_all,
        lambda values: [f"{name}={write(value)}" for name, value in values.items()],
        lambda mapping: {name: accept(name, value) for name, value in mapping.items()},
    )


def _read_bytes(_flag: str, text: str) -> int:
    try:
        return bytes_of(text)
    except ValueError:
        raise UsageError(f"{text!r} is no amount of memory; write for example 4GB or 512MiB") from None


def _read_seconds(flag: str, text: str) -> float:
    try:
        return seconds_of(text)
    except ValueError:
        raise UsageError(
            f"{flag} {text!r} is no time of at least a second; write for example {flag} 90s, 30m or 8h"
        ) from None


def _read_reports(flag: str, texts: Sequence[str]) -> tuple[tuple[str, Path], ...]:
    reports = []
    for text in texts:
        name, separator, target = text.partition("=")
        if not separator:
            raise UsageError(f"{flag} {text!r} is not NAME=FILE; write for example {flag} html=out.html")
        reports.append((name, Path(target)))
    return tuple(reports)


def _read_map(flag: str, texts: Sequence[str]) -> dict[str, str]:
    return _read_pairs(flag, texts, "NEW=OLD", "ids=input_ids", once=True)


def _read_state(flag: str, texts: Sequence[str]) -> dict[str, str]:
    return _read_pairs(flag, texts, "OUTPUT=INPUT", "stateN=state")


def _picture_of(picture: str | Picture) -> Picture:
    return picture if isinstance(picture, Picture) else read_picture(picture)


def _metric_of(metric: str | tuple[str, Mapping[str, Value]]) -> MetricChoice | None:
    return read_metric(metric) if isinstance(metric, str) else MetricChoice(metric[0], dict(metric[1]))


KINDS = {
    "backend option": Kind(_read_backend_options, _write_backend_options, dict),
    "map": Kind(_read_map, _write_pairs, dict),
    "state": Kind(_read_state, _write_pairs, dict),
    "sizes": _named("height=64:96:160", read_sizes, write_sizes, sizes_of),
    "range": _named("mask=0:1", read_range, write_range, range_of),
    "values": _named("rate=16000", read_values, write_values, values_of),
    "image": Kind(lambda flag, text: read_picture(text), lambda picture: [write_picture(picture)], _picture_of),
    "task metric": Kind(lambda flag, text: read_metric(text), lambda choice: [write_metric(choice)], _metric_of),
    "bytes": Kind(_read_bytes, lambda value: [str(value)]),
    "time": Kind(_read_seconds, lambda value: [f"{value:g}s"], seconds_of),
    "report": Kind(
        _read_reports,
        lambda reports: [f"{name}={path}" for name, path in reports],
        lambda paths: tuple((name, Path(path)) for name, path in paths.items()),
    ),
}
"""By the `kind` of a row."""
_BY_TYPE: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "Path | None": Path,
    "tuple[str, ...]": lambda texts: (texts,) if isinstance(texts, str) else tuple(texts),
    "tuple[int, ...]": tuple,
    "tuple[Path, ...]": lambda paths: tuple(map(Path, paths)),
}
