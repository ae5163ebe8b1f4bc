"""Packages that pyproject.toml and an environment of conda ask for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay_zoo.artifacts.installs.install_commands import asked_of_conda

_BUILDING = re.compile(
    r"(?:setuptools|wheel|hatchling|flit[-_]core|poetry[-_]core|pdm[-_]backend)(?:[\s,]*(?:===?|[<>!~]=|[<>])\s*[\w.*+]+)*[\s,]*"
)
_BACKENDS = ("setuptools.build_meta", "hatchling.build", "flit_core.buildapi", "poetry.core.masonry.api", "pdm.backend")
_LOOKING = ("black", "ruff", "isort", "mypy", "pyright", "coverage")
"""Tools that only look at code, unless they are told of plugins."""
_TOLD_MORE = ("plugins", "formatter", "formatting_function")
_VALUES = {
    "setuptools": (
        *(
            "packages",
            "py_modules",
            "package_dir",
            "package_data",
            "exclude_package_data",
            "include_package_data",
            "zip_safe",
        ),
        *(
            "packages.find",
            "packages.find.where",
            "packages.find.include",
            "packages.find.exclude",
            "packages.find.namespaces",
        ),
    ),
    "pytest": (
        *(
            "ini_options",
            "ini_options.testpaths",
            "ini_options.addopts",
            "ini_options.minversion",
            "ini_options.markers",
        ),
        *("ini_options.python_files", "ini_options.norecursedirs", "ini_options.xfail_strict"),
    ),
}
"""What these tools are told that is no code: their other values may load some."""
_LOADS = re.compile(r"(?:^|\s)(?:-\w*[pco]|--(?:override-ini|config-file|rootdir|confcutdir|pyargs))")
"""Options of pytest that load a plugin, or another list of options."""
_OF_CONDA = ("name", "channels", "dependencies", "prefix")


def requirements_of(name: str, text: str) -> list[str] | str:
    """As pip is told them; the table that is not looked into, "" for a whole file. Raises ValueError for what is no such file."""
    if name.lower() == "pyproject.toml":
        return _of_project(tomllib.loads(text))
    return _of_environment(text) if re.fullmatch(r"environment[^/]*\.ya?ml", name, re.IGNORECASE) else ""


def _of_project(table: Mapping[str, Any]) -> list[str] | str:
    project, build = table.get("project", {}), table.get("build-system", {})
    if build.get("build-backend", _BACKENDS[0]) not in _BACKENDS or "backend-path" in build:
        return "[build-system]"
    if project.get("dynamic"):
        return "dynamic in [project]"
    if unread := next(
        (tool for tool, settings in table.get("tool", {}).items() if not _is_harmless(tool, settings)), ""
    ):
        return f"[tool.{unread}]"
    groups = (*project.get("optional-dependencies", {}).values(), *table.get("dependency-groups", {}).values())
    asked = [*project.get("dependencies", ()), *(each for group in groups for each in group if isinstance(each, str))]
    requirements = [*asked, *(each for each in build.get("requires", ()) if not _BUILDING.fullmatch(each))]
    return requirements if all(isinstance(each, str) for each in requirements) else ""


def _is_harmless(tool: str, settings: Mapping[str, Any]) -> bool:
    """Whether the tool only looks at code, or is told of no code."""
    if tool in _VALUES:
        known = _VALUES[tool]
        return all(path in known and not _loads(value) for path, value in _paths(settings, known))
    return tool in _LOOKING and not any(key in _TOLD_MORE for key in _keys(settings))


def _paths(settings: Mapping[str, Any], known: Sequence[str], above: str = "") -> Iterator[tuple[str, object]]:
    """Each value by its keys; a table as a whole where nothing below it is known by its key."""
    for key, value in settings.items():
        path = above + key.replace("-", "_")
        yield path, value
        if isinstance(value, dict) and any(each.startswith(f"{path}.") for each in known):
            yield from _paths(value, known, f"{path}.")


def _loads(value: object) -> bool:
    words = value if isinstance(value, list) else [value]
    return any(isinstance(word, str) and _LOADS.search(word) for word in words)


def _keys(value: object) -> Iterator[str]:
    """Of a table and of all that is in it."""
    if isinstance(value, dict):
        yield from (key.replace("-", "_") for key in value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    yield from (key for part in parts for key in _keys(part))


def _of_environment(text: str) -> list[str] | str:
    import yaml  # type: ignore[import-untyped]

    try:
        again = _is_given_again(yaml.compose(text, Loader=yaml.SafeLoader))
        table = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    if again or not isinstance(table, dict) or set(table) - set(_OF_CONDA):
        return ""
    return list(_of_conda(table))


def _is_given_again(tree: Any) -> bool:
    """Whether a table has a name twice: of which one is taken, each reader decides for itself."""
    waiting, seen = [tree], set[int]()
    while waiting:
        node = waiting.pop()
        value = getattr(node, "value", None)
        if id(node) in seen or not isinstance(value, list):
            continue
        seen.add(id(node))
        pairs = [pair for pair in value if isinstance(pair, tuple)]
        names = [str(key.value) for key, _ in pairs]
        if len(set(names)) < len(names):
            return True
        waiting += [each for pair in pairs for each in pair] if pairs else value
    return False


def _of_conda(table: Mapping[str, Any]) -> Iterator[str]:
    channels = [word for channel in table.get("channels") or () for word in ("--channel", str(channel))]
    yield from asked_of_conda(channels)
    for each in table.get("dependencies") or ():
        if isinstance(each, dict):
            yield from (str(asked) for asked in each.get("pip") or ())
        else:
            yield from asked_of_conda([str(each)])
