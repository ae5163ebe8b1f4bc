"""The environments that a command knows: those of assay.toml, and those that backends ship for themselves."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.core.environment import EnvironmentSpec
from assay.errors import UnknownName
from assay.ports import required_packages

if TYPE_CHECKING:
    from assay.config.assay_toml import Config
    from assay.environments.environments import Environments, State

CONFIG = Path("assay.toml")


def known_environments(config: Config | None = None) -> dict[str, EnvironmentSpec]:
    """By name. Without a config that was given, ./assay.toml is asked, where there is one; it may change what a backend ships."""
    from assay.config.assay_toml import load_config

    if config is None and CONFIG.is_file():
        config = load_config(CONFIG)
    own = {spec.name: spec for spec in config.environments} if config else {}
    return {**shipped_environments(), **own}


def shipped_environments() -> dict[str, EnvironmentSpec]:
    """For each flow that names an environment of its own: what its backend requires in it."""
    catalogue = plugins.catalogue()
    return {
        flow.environment: EnvironmentSpec(
            flow.environment, required_packages(catalogue.backends[flow.backend]), shipped_by=flow.backend
        )
        for flow in catalogue.flows.values()
        if flow.environment
    }


def check_environment(name: str, known: dict[str, EnvironmentSpec]) -> None:
    """Raises UnknownName with the nearest."""
    if name and name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = (
            f"perhaps you mean {near[0]!r}" if near else f"write [environments.{name}] requires = [...] in assay.toml"
        )
        raise UnknownName(f"there is no environment {name!r}; {hint}")


def open_environments(history: Path, config: Config | None = None) -> Environments:
    """Their locks lie in the history's folder; what is built is told on standard error."""
    from assay.environments.environments import Environments

    return Environments(
        history / "environments",
        lambda: known_environments(config),
        tell=lambda text: print(f"assay: {text}", file=sys.stderr, flush=True),
    )


def describe_environment(state: State) -> str:
    """One line: what it is for, whether it is there, and the command where it is not."""
    requirements = ", ".join(state.spec.requires)
    whose = f" (of {state.spec.shipped_by})" if state.spec.shipped_by else ""
    if state.missing:
        return f"not built: {requirements}{whose}; assay env build {state.spec.name}"
    if state.trouble:
        return f"{state.trouble}: {requirements}{whose}"
    return f"Python {state.python}, {state.bytes / 1e6:.0f} MB: {requirements}{whose}"
