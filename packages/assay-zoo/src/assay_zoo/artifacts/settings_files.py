"""Tables in JSON, YAML and TOML that may give a program orders: how an image is built, what is installed, which command is run.

Nobody knows every program that reads one by its name, and tables in tables are in many that only describe. So what they say counts:
commands, names of what is to be run or installed, images of containers. Such a file a script of the submission reads, or a person looks.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from assay_zoo.artifacts.install_commands import shell_commands
from assay_zoo.artifacts.known_modules import module_meaning
from assay_zoo.artifacts.known_names import reached_by
from assay_zoo.artifacts.page_commands import asked_in_page

SUFFIXES = (".json", ".yaml", ".yml", ".toml")
_LONGEST_YAML = 1 << 20
_ANCHOR = re.compile(r"[:\[,-]\s*&\w")
"""Of a part that stands for itself elsewhere again: few lines may make much of it. In a text it is only a sign."""
_WORDS_OF_KEY = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_COMMAND = re.compile(
    r"(?:command|cmd|exec|hook)s?|entrypoint|(?:pre|post)(?:install|commit|push|build|create|start|publish|pack)"
)
"""How the name of a command ends."""
_SCRIPT = re.compile(r"scripts?")
_RUNS = ("run", "shell")
"""Names that a command has, and that others have, too: what is one word is none."""
_INSTALLS = re.compile(r"\w*dependencies|requires?|uses|extends|plugins|imports|auto_map", re.IGNORECASE)
_ALLOWS = ("trust_remote_code",)
_MADE = ("_target_",)
"""The name of what is called with the rest of the table."""
_SHELL = re.compile(r"(?:\S*/)?(?:ba|z|da|k)?sh|eval|exec")
_PROGRAMS = (
    r"(?:(?:ba|z|da|k)?sh|cmd|pwsh|powershell|python[\d.]*|perl|ruby|node|deno|bun|php|source|eval|exec|sudo|env|npx?|yarn|pnpm"
    r"|curl|wget|aria2c|iwr|irm|git|make|docker|podman|chmod|rm|cp|mv|pip[\d.]*|uvx?|conda|cargo|go|java)(?:\.exe)?"
)
_PROGRAM = re.compile(rf"(?:\S*/)?{_PROGRAMS}")
_BEGINS = re.compile(rf"(?:^|[;|&(])\s*[\"']?(?:\S{{0,200}}/)?{_PROGRAMS}[\"']?\s", re.MULTILINE)
"""What runs, fetches or installs what stands behind it."""
_ARGUMENT = re.compile(r"-{1,2}[A-Za-z].*|.*[/$=].*|.*\.[A-Za-z]\w*")
"""An option, or a file, as in no sentence."""
_IN_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_RUNNING = ("os", "subprocess", "builtins", "runpy", "pty")
_RUN_FROM = re.compile(r"(?:git\+|https?:)\S+\.(?:sh|ps1|bat|exe|whl)|git\+\S+", re.IGNORECASE)
_OF_RIGHTS = re.compile(r"[\w ./:-]{0,40}(?:licen[cs]e|spdx)|terms|rights|usage", re.IGNORECASE)
_TELLING = (str, bool, dict, list)
_PICTURE = re.compile(r".*\.\w{2,5}")


class _Entry(NamedTuple):
    """A value, the last key above it, whether a list holds its table, or itself, and whether a key above names commands."""

    key: str
    value: object
    listed: bool = False
    runs: bool = False


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
                _Entry(str(key), value, entry.listed, entry.runs or _names_commands(str(key)))
                for key, value in entry.value.items()
                if isinstance(value, _TELLING)
            ]
        elif isinstance(entry.value, list):
            waiting += [
                entry._replace(value=value, listed=True) for value in entry.value if isinstance(value, _TELLING)
            ]


@lru_cache(maxsize=1024)
def _names_commands(key: str) -> bool:
    words = _WORDS_OF_KEY.findall(key)
    last = words[-1].lower() if words else ""
    whole = "".join(words).lower()
    return (
        bool(_COMMAND.fullmatch(last) or _COMMAND.fullmatch(whole) or _SCRIPT.fullmatch(last)) or key.lower() in _RUNS
    )


def _is_order(entry: _Entry, packages: Sequence[str]) -> bool:
    key, value = entry.key, entry.value
    if key in _ALLOWS:
        return value is True
    if _INSTALLS.fullmatch(key) and isinstance(value, dict | list) and value:
        return True
    if not isinstance(value, str) or not value:
        return False
    if entry.runs and _is_run(entry, value):
        return True
    if key.lower() == "image" and _is_container(value, listed=entry.listed):
        return True
    if _IN_CODE.fullmatch(value) and _is_made(value, packages, asked=key in _MADE):
        return True
    return _RUN_FROM.fullmatch(value) is not None or _is_command(value, listed=entry.listed)


def _is_run(entry: _Entry, value: str) -> bool:
    """Of a text below such a key: one word is a label in records, and the name of a run or a script."""
    words = _WORDS_OF_KEY.findall(entry.key)
    certain = bool(words) and not entry.listed and _COMMAND.fullmatch(words[-1].lower()) is not None
    return certain or len(value.split()) > 1 or _ARGUMENT.fullmatch(value) is not None


def _is_container(value: str, *, listed: bool) -> bool:
    """A picture has a suffix, or a number; records name theirs without one, too."""
    if _PICTURE.fullmatch(value) or value.isdecimal():
        return False
    return not listed or "/" in value or ":" in value


def _is_made(path: str, packages: Sequence[str], *, asked: bool) -> bool:
    """Whether a name in code leads to what does more than compute; `asked` where it is certain to be one."""
    module, _, name = path.rpartition(".")
    if module in _RUNNING:
        return True
    known = path.partition(".")[0] in packages
    return asked and (not known or bool(module_meaning(path)[1]) or any(reached_by(module, name)))


def _is_command(value: str, *, listed: bool) -> bool:
    """Whether one of the words that could begin a command is a program, and what follows is for it. A list may hold any letters."""
    for words in shell_commands(value) if _BEGINS.search(value) else ():
        if len(words) < 2 or not _PROGRAM.fullmatch(words[0]):
            continue
        if any(map(_ARGUMENT.fullmatch, words[1:])) or (not listed and _SHELL.fullmatch(words[0]) and len(words) == 2):
            return True
    return False
