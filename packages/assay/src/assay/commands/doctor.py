"""What `assay doctor` finds out of one flow: what is installed, what is missing, and whether a tiny model passes."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from assay import plugins
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.ports import Availability, Backend, has_integers, required_packages


@dataclass(frozen=True)
class Diagnosis:
    """`trial` is None where the flow is not available; `asked` what assay asks of the libraries, with its bounds."""

    flow: Flow
    state: Availability
    asked: tuple[str, ...]
    environment: str
    trial: Result | None

    @property
    def healthy(self) -> bool:
        """Whether the tiny model was lowered, run, and gave the right answers."""
        return self.trial is not None and self.trial.outcome is Outcome.OK


def diagnose(name: str, history: Path) -> Diagnosis:
    """Raises UnknownName for a flow or an environment that nobody knows. Takes as long as the import of the backend."""
    from assay.commands.flow_table import state_of
    from assay.commands.known_environments import (
        check_environment,
        describe_environment,
        known_environments,
        open_environments,
    )

    flow = find(name)
    check_environment(flow.environment, known_environments())
    environments = open_environments(history)
    state = state_of(flow, environments.availability(flow))
    text = describe_environment(environments.state(flow.environment)) if flow.environment else ""
    return Diagnosis(flow, state, asked(flow), text, _try(flow, history) if state.available else None)


def find(name: str) -> Flow:
    """One that assay.toml names in [flow], else one that a backend offers."""
    from assay.commands.known_environments import CONFIG
    from assay.config.assay_toml import load_config

    own = {flow.name: flow for flow in load_config(CONFIG).flows} if CONFIG.is_file() else {}
    return own[name] if name in own else plugins.find_flow(name)


def asked(flow: Flow) -> tuple[str, ...]:
    """Of the environment that the backend ships, or of the extra of that name: the versions it is tested with."""
    backend: Backend = plugins.load(plugins.BACKENDS, flow.backend)()
    if flow.environment:
        return required_packages(backend)
    lines = metadata.requires("assay") or []
    return tuple(
        line.partition(";")[0].strip() for line in lines if re.search(rf"""extra == ['"]{flow.backend}['"]""", line)
    )


def _try(flow: Flow, history: Path) -> Result:
    """A convolution, a relu, a pool and a matrix product against the float64 reference, in a history that is forgotten."""
    from assay.commands.composition import open_services
    from assay.pipeline.check import check
    from assay.pipeline.request import ModelRequest, Request
    from assay.testing.tiny_models import tiny_model

    backend: Backend = plugins.load(plugins.BACKENDS, flow.backend)()
    with tempfile.TemporaryDirectory(prefix="assay-doctor-", ignore_cleanup_errors=True) as name:
        model = tiny_model(Path(name) / "tiny.onnx", integers=has_integers(backend))
        with open_services(str(Path(name) / "history"), locks=history) as services:
            request = Request(
                models=(ModelRequest(path=model, flows=(flow,)),), measuring=None, command=f"assay doctor {flow.name}"
            )
            return check(request, services).results[0]
