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

from assay_zoo.artifacts.code.known_modules import module_meaning
from assay_zoo.artifacts.code.known_names import reached_by
from assay_zoo.artifacts.installs.page_commands import asked_in_page

SUFFIXES = (".json", ".yaml", ".yml", ".toml")
_LONGEST_YAML = 1 << 20
_ANCHOR = re.compile(r"[:\[,-]\s*&\w")
"""Of a part that stands for itself elsewhere again: few lines may make much of it. In a text it is only a sign."""
_COMMANDS = re.compile(
    r"(?:(?:.*[\d_. -])?|.*[a-z](?=[A-Z]))(?i:command|cmd|exec|hook)s?|(?i:entrypoint)"
    r"|(?i:(?:pre|post)[-_]?(?:install|commit|push|build|create|start|publish|pack))"
)
"""The name of a command, or of what is done before or after something."""
_ORDERS = re.compile(rf"{_COMMANDS.pattern}|(?:(?:.*[\d_. -])?|.*[a-z](?=[A-Z]))(?i:script)s?|(?i:run|shell)")
"""And what a run, or the letters of a language, have for a name, too: what is one word is none."""
_ALWAYS = re.compile(r"\w*dependencies|requires?|uses|extends|plugins|imports|auto_map", re.IGNORECASE)
"""What the table or list of such a key has is installed, called or loaded."""
_LOADED = re.compile(r"auto_map|_target_|trust_remote_code", re.IGNORECASE)
_ELSEWHERE = re.compile(r"\S*[/@]\S*")
_SEVERAL = re.compile(r"[\s/:=$]|^-|\.[A-Za-z]")
_PICTURE = re.compile(r"(?:.*[/\\])?[^/:]*\.[A-Za-z]\w{1,4}|\d+")
_SHELL = r"(?:ba|z|da|k)?sh"
_PROGRAMS = (
    rf"(?:{_SHELL}|cmd|pwsh|powershell|python[\d.]*|perl|ruby|node|deno|bun|php|source|eval|exec|sudo|env|npx?|yarn|pnpm"
    r"|curl|wget|aria2c|iwr|irm|git|make|docker|podman|chmod|rm|cp|mv|pip[\d.]*|uvx?|conda|cargo|go|java)(?:\.exe)?"
)
_COMMAND = re.compile(
    rf"(?:^|[;|&(])[ \t]*+[\"']?(?:\S{{0,200}}/)?{_PROGRAMS}[\"']?\s+"
    r"(?:[^\n;|&(]{0,200}\s)?(?:-{1,2}[A-Za-z]|[^\s;|&(]{0,200}(?:[/$=]|\.[A-Za-z]))"
    r"|^(?:git\+|https?:)\S+\.(?i:sh|ps1|bat|exe|whl)$|^git\+|^(?:os|subprocess|builtins|runpy|pty)\.\w+$",
    re.MULTILINE,
)
"""A program with an option or a file behind it, as in no sentence; what runs from an address; what starts a process."""
_BY_SHELL = re.compile(rf"(?:^|&&|[;|(])\s*(?:[^\s;|&(]{{0,200}}/)?(?:{_SHELL}|eval|exec)\s+[^\s;|&()]+\s*(?:$|[;|&)])")
_OF_RIGHTS = re.compile(r"[\w ./:-]{0,40}(?:licen[cs]e|spdx)|terms|rights|usage", re.IGNORECASE)
_TELLING = (str, bool, dict, list)


class _Entry(NamedTuple):
    """A value, the last key above it, whether a list holds its table, or itself, and whether a key above names commands."""

    key: str
    value: object
    listed: bool = False
    ordered: bool = False


def holds_values(suffix: str, text: str, packages: Sequence[str] = ()) -> bool:
    """Whether it describes something, and orders nothing to be run. What cannot be read may order it."""
    texts: list[str] = []
    try:
        for entry in _entries(_parsed(suffix, text)):
            if _is_order(entry, packages):
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
                _Entry(str(key), value, entry.listed, entry.ordered or _ORDERS.fullmatch(str(key)) is not None)
                for key, value in entry.value.items()
                if isinstance(value, _TELLING)
            ]
        elif isinstance(entry.value, list):
            waiting += [
                entry._replace(value=value, listed=True) for value in entry.value if isinstance(value, _TELLING)
            ]


def _is_order(entry: _Entry, packages: Sequence[str]) -> bool:
    key, value = entry.key, entry.value
    if not isinstance(value, str):
        is_part = isinstance(value, dict | list) and _ALWAYS.fullmatch(key)
        return bool(value and (is_part or key.lower() == "trust_remote_code"))
    if _LOADED.fullmatch(key):
        return bool(value) and not (key == "_target_" and _only_computes(value, packages))
    if key.lower() == "uses" and _ELSEWHERE.fullmatch(value):
        return True
    if key.lower() == "image" and not _PICTURE.fullmatch(value):
        return bool(value) and (not entry.listed or _SEVERAL.search(value) is not None)
    return _is_run(entry, value) or bool(_COMMAND.search(value)) or bool(not entry.listed and _BY_SHELL.search(value))


def _is_run(entry: _Entry, value: str) -> bool:
    """One word in a record is a label, and one behind `run` the name of a run: what a command is, has more, or stands alone."""
    if not entry.listed and _COMMANDS.fullmatch(entry.key):
        return bool(value)
    return entry.ordered and _SEVERAL.search(value) is not None


def _only_computes(path: str, packages: Sequence[str]) -> bool:
    """Whether a name in code is one of an allowed package, and leads to nothing else."""
    module, _, name = path.rpartition(".")
    known = path.partition(".")[0] in packages
    return known and not module_meaning(path)[1] and not any(reached_by(module, name))
