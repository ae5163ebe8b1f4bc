"""Tables in JSON, YAML and TOML that may tell a program what to do: how an image is built, what is installed, which command is run.

Nobody knows every program that reads one by its name. So it counts as values alone where it is as flat as those are: labels, sizes,
records; what has tables in tables tells somebody something, and a script of the submission reads it, or a person looks.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

SUFFIXES = (".json", ".yaml", ".yml", ".toml")
_LONGEST_YAML = 1 << 20
_ANCHOR = re.compile(r"[:\[,-]\s*&\w")
"""Of a part that stands for itself elsewhere again: few lines may make much of it."""


def holds_values(suffix: str, text: str) -> bool:
    """Whether it is plain values, or lists of them, or records. What cannot be read is not."""
    try:
        value = _parsed(suffix, text)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, list):
        return all(_is_record(each) if isinstance(each, dict) else _is_plain(each) for each in value)
    return all(map(_is_value, value.values())) if isinstance(value, dict) else _is_plain(value)


def _parsed(suffix: str, text: str) -> Any:
    """Raises ValueError."""
    if suffix == ".json":
        return json.loads(text)
    if suffix == ".toml":
        return tomllib.loads(text)
    import yaml  # type: ignore[import-untyped]

    try:
        return yaml.safe_load(text) if len(text) < _LONGEST_YAML and not _ANCHOR.search(text) else {"": {"": ""}}
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _is_value(value: object) -> bool:
    """Of a table: numbers by their names, as sizes are, and names by their numbers, as labels are, too."""
    if not isinstance(value, dict):
        return _is_plain(value)
    numbers = all(isinstance(each, int | float) for each in value.values())
    return numbers or all(str(key).lstrip("-").isdecimal() and _is_plain(each) for key, each in value.items())


def _is_record(value: dict[str, object]) -> bool:
    return all(map(_is_value, value.values()))


def _is_plain(value: object) -> bool:
    return all(map(_is_plain, value)) if isinstance(value, list) else not isinstance(value, dict)
