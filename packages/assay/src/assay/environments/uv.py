"""uv: resolves in a second, installs by links from its cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.environments.installer import INSTALL_UV, find_uv, run
from assay.environments.pip_config import client_variables, pip_settings, uv_arguments
from assay.errors import EnvironmentFailed


class Uv:
    """See `Installer`."""

    name = "uv"

    def __init__(self, program: str) -> None:
        self._program = program

    def resolve(self, requirements: Sequence[str], python: str) -> str:
        """For this interpreter and platform; hashes of every file of a version, so that another platform can use it."""
        settings = pip_settings()
        command = [self._program, "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate", "--generate-hashes"]
        command += ["--python", python, "--no-python-downloads", "--no-emit-index-url", "--no-emit-find-links"]
        return run(
            [*command, *uv_arguments(settings, resolving=True)],
            stdin="\n".join(requirements),
            variables=client_variables(settings),
        )

    def install(self, folder: Path, python: str, pins: Path) -> None:
        """Relocatable: the folder is built under another name and renamed."""
        settings = pip_settings()
        variables = client_variables(settings)
        create = [self._program, "venv", "--quiet", "--relocatable", "--no-python-downloads", "--python", python]
        run([*create, str(folder)], what="the environment cannot be made", variables=variables)
        command = [self._program, "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        command += ["--python", str(folder / "bin" / "python"), "-r", str(pins)]
        run(
            [*command, *uv_arguments(settings, resolving=False)],
            what="the environment cannot be installed",
            variables=variables,
        )


def find_installer() -> Uv:
    """Raises EnvironmentFailed where uv is not here."""
    program = find_uv()
    if not program:
        raise EnvironmentFailed(f"environments are built by uv, which is not installed; run `{INSTALL_UV}`")
    return Uv(program)
