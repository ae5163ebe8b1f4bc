"""Where a key stands in a TOML file, and one sentence for each thing that is wrong with it."""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import BadPolicy
from assay.models.files import nearest_file

if TYPE_CHECKING:
    from pydantic import BaseModel

    Schema = TypeVar("Schema", bound=BaseModel)

Place = tuple[str | int, ...]
"""A dotted key with the indices of arrays: ("policy", "goal", 0, "max")."""

_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"^\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_KEY = re.compile(rf"^\s*({_DOTTED})\s*=")

_TYPES = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "int_parsing": "a whole number",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "finite_number": "a finite number",
}


class TomlFile:
    """A file that is valid TOML: its text, its data, and the line of each key."""

    def __init__(self, path: Path, text: str, data: dict[str, Any]) -> None:
        self.path = path
        self.data = data
        self._lines = _lines_of_keys(text)

    def sentence(self, place: Place, what: str) -> str:
        """`file, line 3: 'policy.goal[0].max' what.`; the line is that of the nearest enclosing key that has one."""
        line = next((self._lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in self._lines), None)
        where = f"{self.path}, line {line}" if line else str(self.path)
        key = _dotted(place)
        return f"{where}: {f'{key!r} ' if key else ''}{what}"

    def mistakes(self, schema: type[BaseModel]) -> list[tuple[int, str]]:
        """Line (0: none) and sentence, without the file, of everything that is wrong; empty where the data fit."""
        from pydantic import ValidationError

        try:
            schema.model_validate(self.data)
        except ValidationError as error:
            mistakes = [(self._line(place), f"{_dotted(place)!r} {what}") for place, what in _mistakes(error, schema)]
            return sorted(dict.fromkeys(mistakes))
        return []

    def line(self, *place: str | int) -> int:
        """The line of a key, or of the nearest enclosing one that has a line; 0 for none."""
        return self._line(place)

    def validate(self, schema: type[Schema]) -> Schema:
        """The data as the schema's values. Raises BadPolicy with one line for each error, in the order of the file."""
        from pydantic import ValidationError

        try:
            return schema.model_validate(self.data)
        except ValidationError as error:
            mistakes = [(self._line(place), self.sentence(place, what)) for place, what in _mistakes(error, schema)]
            ordered = sorted(mistakes, key=lambda pair: pair[0])
            raise BadPolicy("\n".join(dict.fromkeys(sentence for _, sentence in ordered))) from None

    def _line(self, place: Place) -> int:
        return next((self._lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in self._lines), 0)


MOST_BYTES = 16 * 2**20
"""Of one file: what a person reviews. Devices have no end, and would fill the memory."""


class BadToml(BadPolicy):
    """A file that cannot be read as TOML: `about` makes the sentence with another name for it; `line` is 0 for none."""

    def __init__(self, path: Path, trouble: str, line: int = 0) -> None:
        super().__init__(f"{path}, line {line}: {trouble}" if line else _about(str(path), trouble))
        self.line, self._trouble = line, trouble

    def about(self, name: str) -> str:
        """Without the line."""
        return _about(name, self._trouble)


def _about(name: str, trouble: str) -> str:
    """ "NAME is larger than ...", or "NAME: byte 3 is not UTF-8"."""
    return f"{name} {trouble}" if trouble.startswith(("is ", "cannot ")) else f"{name}: {trouble}"


def read(path: Path) -> TomlFile:
    """The file, if it is TOML at all. Raises BadToml."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadToml(path, f"is larger than {MOST_BYTES // 2**20} MiB; name the right file, or divide it")
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        toml_file = TomlFile(path, text, tomllib.loads(text))
        for place in _with_nul(toml_file.data, ()):
            what = "must not hold the character U+0000, which no file's name can have"
            raise BadToml(path, f"{_dotted(place)!r} {what}", toml_file.line(*place))
        return toml_file
    except FileNotFoundError:
        near = nearest_file(path, (".toml",))
        hint = f"perhaps you mean {near}" if near else "write one with `assay init`"
        raise BadToml(path, f"there is no such file; {hint}") from None
    except IsADirectoryError:
        raise BadToml(path, f"is a folder; name the file in it, such as {path / 'assay.toml'}") from None
    except UnicodeDecodeError as error:
        raise BadToml(path, f"byte {error.start} is not UTF-8; TOML must be saved as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise _syntax(path, str(error)) from None
    except RecursionError:
        raise BadToml(path, "is nested too deeply to be read; flatten it") from None
    except ValueError as error:  # tomllib lets some of int() and datetime() through
        raise _value(path, text, str(error)) from None
    except OSError as error:
        raise BadToml(path, f"cannot be read ({error.strerror}); check its permissions") from None


def _with_nul(value: object, place: Place) -> Iterator[Place]:
    """Where a text is that the operating system would not take."""
    if isinstance(value, str):
        if "\0" in value:
            yield place
    elif isinstance(value, dict):
        for key, item in value.items():
            if "\0" in key:
                yield place
            yield from _with_nul(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _with_nul(item, (*place, index))


def nearest(name: str, names: Iterable[str]) -> str:
    """`; the nearest is 'x'`, or "" where nothing is near."""
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.5)
    return f"; the nearest is '{near[0]}'" if near else ""


def _syntax(path: Path, text: str) -> BadToml:
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", text, re.DOTALL)
    if match is None or match[2] is None:
        return BadToml(path, f"is not valid TOML: {text}; correct the syntax")
    trouble = f"this is not valid TOML at column {match[3]}: {match[1]}; correct the syntax"
    return BadToml(path, trouble, int(match[2]))


def _value(path: Path, text: str, place: str) -> BadToml:
    """Python reads no number of more digits than this; which of them it was, it does not say."""
    most = sys.get_int_max_str_digits()
    match = re.search(rf"[0-9][0-9_]{{{most},}}", text) if most else None
    if match is None:
        return BadToml(path, f"is not valid TOML: {place}; correct the value")
    line, digits = text.count("\n", 0, match.start()) + 1, len(match[0].replace("_", ""))
    return BadToml(path, f"a number has {digits} digits, and no more than {most} are read; correct the value", line)


def _mistakes(error: Any, schema: type[BaseModel]) -> list[tuple[Place, str]]:
    return [(tuple(detail["loc"]), _described(detail, schema)) for detail in error.errors(include_url=False)]


def _described(problem: Mapping[str, Any], schema: type[BaseModel]) -> str:
    kind, value, context = problem["type"], problem["input"], problem.get("ctx", {})
    if kind == "extra_forbidden":
        names = _names_at(schema, problem["loc"][:-1])
        near = nearest(str(problem["loc"][-1]), names)
        return f"is no known key{near}" if near else f"is no known key; known here are {', '.join(names)}"
    if kind == "missing":
        return "is missing: it has no default"
    if kind in _TYPES:
        return f"must be {_TYPES[kind]}, not {_shown(value)}"
    if kind in ("greater_than", "greater_than_equal"):
        bound = context.get("gt", context.get("ge"))
        return f"must be {'more than' if kind == 'greater_than' else 'at least'} {bound:g}, not {_shown(value)}"
    if kind in ("string_too_short", "too_short"):
        return "must not be empty"
    if kind == "string_pattern_mismatch" and "flow:" not in context["pattern"]:
        return f"must match {context['pattern']}, not {_shown(value)}"
    if kind == "string_pattern_mismatch":
        return f'must be "run" or "flow:NAME", not {_shown(value)}'
    if kind == "literal_error":
        return f"must be one of {context['expected']}, not {_shown(value)}"
    if kind == "value_error":
        return str(context["error"])
    return f"{problem['msg'][0].lower()}{problem['msg'][1:]}, not {_shown(value)}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return repr(value)


def _names_at(schema: type[BaseModel], place: Sequence[str | int]) -> list[str]:
    """The keys of the table at `place`, found by walking the schema's fields."""
    from pydantic import BaseModel

    def tables(annotation: Any) -> list[type[BaseModel]]:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return [annotation]
        return [table for part in getattr(annotation, "__args__", ()) for table in tables(part)]

    here = schema
    for part in place:
        by_alias = {field.alias or name: field for name, field in here.model_fields.items()}
        if part in by_alias:
            here = next(iter(tables(by_alias[str(part)].annotation)), here)
    return [field.alias or name for name, field in here.model_fields.items()]


def _dotted(place: Place) -> str:
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part != "[key]":
            quoted = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"'
            text += f".{quoted}" if text else quoted
    return text


def _lines_of_keys(text: str) -> dict[Place, int]:
    """The line (from 1) of each header and each key. Keys of inline tables are found by their parent's line."""
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _place(_parts(header[2]), counts)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                lines.setdefault(table, number)
                table = (*table, counts[table])
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            place = table
            for part in _parts(key[1]):
                place = (*place, part)
                lines.setdefault(place, number)
    return lines


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, dotted)]


def _place(parts: Sequence[str], counts: Mapping[Place, int]) -> Place:
    """A header's dotted key with the index of the newest element put after each array of tables on the way."""
    place: Place = ()
    for position, part in enumerate(parts):
        place = (*place, part)
        if position < len(parts) - 1 and place in counts:
            place = (*place, counts[place])
    return place
