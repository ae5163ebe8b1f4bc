"""Tables in JSON, YAML and TOML that may give a program orders: how an image is built, what is installed, which command is run.

Nobody knows every program that reads one by its name, and tables in tables are in many that only describe. So what they say counts:
commands, names of what is to be run or installed, images of containers. Such a file a script of the submission reads, or a person looks.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from assay_zoo.artifacts.page_commands import asked_in_page

SUFFIXES = (".json", ".yaml", ".yml", ".toml")
_LONGEST_YAML = 1 << 20
_ANCHOR = re.compile(r"[:\[,-]\s*&\w")
"""Of a part that stands for itself elsewhere again: few lines may make much of it. In a text it is only a sign."""
_ORDERS = re.compile(
    r"(?:.*[\d_. -])?(?i:command|cmd|exec|hook|script)s?|.*[a-z](?:Command|Cmd|Exec|Hook|Script)s?|(?i:entrypoint|run|shell|image)"
    r"|(?i:(?:pre|post)[-_]?(?:install|commit|push|build|create|start|publish|pack))"
)
"""The name of a command, of a container or of what is done before or after something."""
_ALWAYS = re.compile(
    r"\w*dependencies|requires?|uses|extends|plugins|imports|auto_map|trust_remote_code|_target_", re.IGNORECASE
)
"""What such a key has is installed, called or loaded."""
_SEVERAL = re.compile(r"[\s/:=]|^-")
_PICTURE = re.compile(r".*\.\w{2,5}|\d+")
_SHELL = r"(?:ba|z|da|k)?sh"
_PROGRAMS = (
    rf"(?:{_SHELL}|cmd|pwsh|powershell|python[\d.]*|perl|ruby|node|deno|bun|php|source|eval|exec|sudo|env|npx?|yarn|pnpm"
    r"|curl|wget|aria2c|iwr|irm|git|make|docker|podman|chmod|rm|cp|mv|pip[\d.]*|uvx?|conda|cargo|go|java)(?:\.exe)?"
)
_COMMAND = re.compile(
    rf"(?:^|[;|&(])\s*(?:\S{{0,200}}/)?{_PROGRAMS}\s+(?:[^\n;|&(]{{0,200}}\s)?(?:-{{1,2}}[A-Za-z]|[^\s;|&(]{{0,200}}(?:[/$=]|\.[A-Za-z]))"
    r"|^(?:git\+|https?:)\S+\.(?:sh|ps1|bat|exe|whl)$|^git\+|^(?:os|subprocess|builtins|runpy|pty)\.\w+$",
    re.MULTILINE,
)
"""A program with an option or a file behind it, as in no sentence; what runs from an address; what starts a process."""
_BY_SHELL = re.compile(rf"(?:\S*/)?(?:{_SHELL}|eval|exec)\s+\S+")
_OF_RIGHTS = re.compile(r"[\w ./:-]{0,40}(?:licen[cs]e|spdx)|terms|rights|usage", re.IGNORECASE)
_TELLING = (str, bool, dict, list)


class _Entry(NamedTuple):
    """A value, the last key above it, and whether a list holds its table, or itself."""

    key: str
    value: object
    listed: bool = False


def holds_values(suffix: str, text: str, packages: Sequence[str] = ()) -> bool:
    """Whether it describes something, and orders nothing to be run. What cannot be read may order it."""
    texts: list[str] = []
    try:
        for entry in _entries(_parsed(suffix, text)):
            if _is_order(entry):
                return False
            if isinstance(entry.value, str):
                texts.append(entry.value)
    except (ValueError, RecursionError):
        return False
    return next(asked_in_page("\n\n".join(texts), packages, plain=False), None) is None


def words_of(suffix: str, text: str) -> str:
    """What it says, as a page that people read: texts of a list in lines, others apart, a licence behind its name. Where it cannot be
    read, the text itself."""
    try:
        documents = _parsed(suffix, text)
        tables = [_Entry("", documents), *_entries(documents)]
        return "\n\n".join(part for entry in tables for part in _said_in(entry))
    except (ValueError, RecursionError):
        return text


def words_of_records(text: str) -> str:
    """Of JSON in lines, each a record of data, as `words_of`; lines of anything else as they are."""

    def said(line: str) -> str:
        try:
            return " ".join(_said_in(_Entry("", json.loads(line), listed=True)))
        except (ValueError, RecursionError):
            return line

    return "\n".join(map(said, text.splitlines()))


def _said_in(entry: _Entry) -> Iterator[str]:
    """Of a record in a list only what it calls rights: its other texts are data, as the licence of a picture is."""
    key, value = entry.key, entry.value
    if isinstance(value, list):
        yield "\n".join(_behind(key, each) for each in value if isinstance(each, str))
    elif isinstance(value, dict) and entry.listed:
        yield from (
            _behind(str(own), text) for own, text in value.items() if isinstance(text, str) and is_of_rights(own)
        )
    elif isinstance(value, dict):
        yield from (str(own) for own in value if " " in str(own))
        yield from (_behind(key, _behind(str(own), each)) for own, each in value.items() if isinstance(each, str))


def _behind(key: str, text: str) -> str:
    return f"{key}: {text}" if is_of_rights(key) else text


def is_of_rights(key: object) -> bool:
    return _OF_RIGHTS.match(str(key)) is not None


def _parsed(suffix: str, text: str) -> list[Any]:
    """All documents in it. Raises ValueError."""
    if suffix == ".json":
        return [json.loads(text)]
    if suffix == ".toml":
        return [tomllib.loads(text)]
    import yaml  # type: ignore[import-untyped]

    if len(text) >= _LONGEST_YAML:
        raise ValueError("too long")
    quick = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if _ANCHOR.search(text) and any(isinstance(token, yaml.AnchorToken) for token in yaml.scan(text, Loader=quick)):
            raise ValueError("a part that stands for itself elsewhere")
        return list(yaml.load_all(text, Loader=quick))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _entries(documents: list[Any]) -> Iterator[_Entry]:
    """Every value in it, tables and lists too, and no numbers."""
    waiting = [_Entry("", document) for document in documents]
    while waiting:
        entry = waiting.pop()
        yield entry
        if isinstance(entry.value, dict):
            waiting += [
                _Entry(str(key), value, entry.listed)
                for key, value in entry.value.items()
                if isinstance(value, _TELLING)
            ]
        elif isinstance(entry.value, list):
            waiting += [
                entry._replace(value=value, listed=True) for value in entry.value if isinstance(value, _TELLING)
            ]


def _is_order(entry: _Entry) -> bool:
    """One word in a record is a label, and one behind `run` the name of a run: what a command is, has more, or stands alone."""
    key, value = entry.key, entry.value
    if _ALWAYS.fullmatch(key):
        return bool(value)
    if not isinstance(value, str) or not value:
        return False
    if _ORDERS.fullmatch(key) and not _PICTURE.fullmatch(value):
        named = entry.listed or key.lower() in ("run", "shell", "script")
        return not named or _SEVERAL.search(value) is not None
    return bool(_COMMAND.search(value)) or (not entry.listed and _BY_SHELL.fullmatch(value) is not None)
