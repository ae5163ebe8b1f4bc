"""An interpreter of its own for the workers of a flow."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

SEPARATOR = "@"
"""`onnxruntime@ort130`: the flow `onnxruntime` in the environment `ort130`."""


class EnvironmentSpec(msgspec.Struct, frozen=True):
    """What an environment must hold. `requires` are requirements as pip reads them; `python` a minor version ("3.12"),
    the path of an interpreter, or "" for the driver's own version; `lock` the file that keeps the resolved versions, or
    "" for one in the history; `shipped_by` the backend that asks for it, "" where a user does."""

    name: str
    requires: tuple[str, ...]
    python: str = ""
    lock: str = ""
    shipped_by: str = ""


class Interpreter(msgspec.Struct, frozen=True):
    """How a worker is started: the program, and variables beside those of the driver (None: taken away). `lock` is the text of the lock by
    which another machine builds the same environment, "" where there is none."""

    program: str
    variables: dict[str, str | None] = {}
    lock: str = ""

    def environ(self, base: Mapping[str, str]) -> dict[str, str]:
        """All variables of such a process, started where `base` are those of the driver."""
        return {name: value for name, value in {**base, **self.variables}.items() if value is not None}


def split_flow(name: str) -> tuple[str, str]:
    """The flow and the environment of `flow@environment`; the environment is "" without one."""
    flow, _, environment = name.rpartition(SEPARATOR) if SEPARATOR in name else (name, "", "")
    return flow, environment
