"""The flows that a command line or assay.toml asks for, by name, with the options and transforms that were added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay import plugins
from assay.commands.backend_options import with_options
from assay.commands.environments import check_environment, known_environments
from assay.config.assay_toml import Config
from assay.core.environment import split_flow
from assay.core.flow import Flow
from assay.errors import UnknownName, UsageError
from assay.options.check import CheckOptions
from assay.plugins import with_transforms


def flows_of(names: Sequence[str], options: CheckOptions, config: Config | None) -> tuple[Flow, ...]:
    own = {flow.name: flow for flow in config.flows} if config else {}
    if not names:
        raise UsageError("no flow to check on: give --flow, or list some in [flows] use")
    optioned = with_options([_flow(name, own) for name in names], options.options)
    flows = tuple(with_transforms(flow, options.transforms) for flow in optioned)
    if named := {flow.environment for flow in flows} - {""}:
        known = known_environments(config)
        for environment in sorted(named):
            check_environment(environment, known)
    return flows


def _flow(name: str, own: Mapping[str, Flow]) -> Flow:
    """One of assay.toml, also in another environment (`mine@ort130`) or transformed (`mine+fp16`); else one that a backend offers."""
    base, environment = split_flow(name)
    plain, *more = base.split("+")
    if name not in own and plain not in own:
        return plugins.find_flow(name)
    _check_backend(own[name if name in own else plain])
    if name in own:
        return own[name]
    flow = with_transforms(msgspec.structs.replace(own[plain], name=plain), more)
    return msgspec.structs.replace(flow, name=name, environment=environment or flow.environment)


def _check_backend(flow: Flow) -> None:
    """A mistyped backend would be unavailable, which a policy may skip in silence. Another environment may have its own."""
    known = plugins.names(plugins.BACKENDS)
    if not flow.environment and flow.backend not in known:
        raise UnknownName(f"flow {flow.name!r} of assay.toml: {plugins.unknown('backend', flow.backend, known)}")
