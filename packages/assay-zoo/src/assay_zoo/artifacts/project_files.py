"""Packages that pyproject.toml and an environment of conda ask for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from assay_zoo.artifacts.install_commands import asked_of_conda

_BUILDING = re.compile(
    r"(?:setuptools|wheel|hatchling|flit[-_]core|poetry[-_]core|pdm[-_]backend)\s*(?:[<>=!~][^;@]*)?"
)
_OWN_WAYS = ("poetry", "pdm", "uv", "pixi", "rye", "hatch", "flit")
"""Tools with lists, and places from which packages are taken, of their own."""
_OF_CONDA = ("name", "channels", "dependencies", "prefix")


def requirements_of(name: str, text: str) -> list[str] | None:
    """As pip is told them; None for what is not looked into. Raises ValueError for what is no such file."""
    if name.lower() == "pyproject.toml":
        return _of_project(tomllib.loads(text))
    return _of_environment(text) if re.fullmatch(r"environment[^/]*\.ya?ml", name, re.IGNORECASE) else None


def _of_project(table: Mapping[str, Any]) -> list[str] | None:
    project, build = table.get("project", {}), table.get("build-system", {})
    if set(_OWN_WAYS) & set(table.get("tool", {})) or project.get("dynamic") or "backend-path" in build:
        return None
    groups = (*project.get("optional-dependencies", {}).values(), *table.get("dependency-groups", {}).values())
    asked = [*project.get("dependencies", ()), *(each for group in groups for each in group if isinstance(each, str))]
    return [*asked, *(each for each in build.get("requires", ()) if not _BUILDING.fullmatch(each))]


def _of_environment(text: str) -> list[str] | None:
    import yaml  # type: ignore[import-untyped]

    try:
        table = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    if not isinstance(table, dict) or set(table) - set(_OF_CONDA):
        return None
    return list(_of_conda(table))


def _of_conda(table: Mapping[str, Any]) -> Iterator[str]:
    channels = [word for channel in table.get("channels") or () for word in ("--channel", str(channel))]
    yield from asked_of_conda(channels)
    for each in table.get("dependencies") or ():
        if isinstance(each, dict):
            yield from (str(asked) for asked in each.get("pip") or ())
        else:
            yield from asked_of_conda([str(each)])
