"""The package client's settings, given to uv, which does not read pip's: indexes, folders of wheels, constraints."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache

Settings = Mapping[str, tuple[str, ...]]
"""Option of pip by name (`find-links`), each with its values."""

_SECTIONS = ("global", "install", ":env:")
"""The later wins, as in pip."""
_OWN = ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_CONFIG_FILE")


def pip_settings() -> Settings:
    """What `pip config list` tells; empty without pip. Read from the machine, written nowhere: they belong to it."""
    return _listed(tuple(sorted(item for item in os.environ.items() if item[0].startswith("PIP_"))))


@cache
def _listed(variables: tuple[tuple[str, str], ...]) -> Settings:  # noqa: ARG001  what pip itself reads
    """Asked once for the same variables: it takes half a second."""
    command = [sys.executable, "-P", "-m", "pip", "config", "list"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_settings(done.stdout) if done.returncode == 0 else {}


def parse_settings(text: str) -> dict[str, tuple[str, ...]]:
    """From lines such as `global.find-links='/wheels'`; what a line says that is no such thing is left out."""
    settings: dict[str, tuple[int, tuple[str, ...]]] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if not equals or section not in _SECTIONS:
            continue
        try:
            words = tuple(str(ast.literal_eval(value)).split())
        except (SyntaxError, ValueError):
            continue
        rank = _SECTIONS.index(section)
        if option not in settings or rank >= settings[option][0]:
            settings[option] = (rank, words)
    return {option: words for option, (_, words) in settings.items()}


def uv_arguments(settings: Settings, *, resolving: bool) -> list[str]:
    """The same places for uv. Where uv has settings of its own, those are the user's word and pip's are left out."""
    if any(name in os.environ for name in _OWN):
        return []
    arguments: list[str] = []
    for option, flag in (("index-url", "--default-index"), ("extra-index-url", "--extra-index-url")):
        arguments += [word for value in settings.get(option, ()) for word in (flag, value)]
    arguments += [word for value in settings.get("find-links", ()) for word in ("--find-links", value)]
    if settings.get("extra-index-url"):
        # As pip does: the best version of all indexes, not all versions of the first index that knows the name.
        arguments += ["--index-strategy", "unsafe-best-match"]
    if settings.get("no-index", ("0",))[0].lower() in ("1", "true", "yes", "on"):
        arguments.append("--no-index")
    if resolving:
        arguments += [word for value in settings.get("constraint", ()) for word in ("--constraint", value)]
    return arguments


def client_variables(settings: Settings) -> dict[str, str]:
    """The environment for uv: the certificate file that pip was told of, where no other is named."""
    certificate = settings.get("cert", ())
    if certificate and "SSL_CERT_FILE" not in os.environ:
        return {**os.environ, "SSL_CERT_FILE": certificate[0]}
    return dict(os.environ)
